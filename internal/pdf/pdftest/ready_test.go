package pdftest

import (
	"bytes"
	"regexp"
	"strconv"
	"testing"
)

// ready lists every ready document, so that each test of form walks them all.
func ready() map[string]func() []byte {
	return map[string]func() []byte{
		"Pages":             func() []byte { return Pages("one\ntwo", "three") },
		"Markers":           func() []byte { return Markers(5) },
		"TwoColumns":        TwoColumns,
		"TwoColumnsInOrder": TwoColumnsInOrder,
		"Scan":              func() []byte { return Scan("A page.") },
		"Encrypted":         func() []byte { return Encrypted("geheim") },
		"Encrypted, AES128": func() []byte { return EncryptedWith(AES128, "geheim") },
		"Encrypted, RC4":    func() []byte { return EncryptedWith(RC4, "geheim") },
		"Ligatures":         Ligatures,
		"LigaturesMapped":   LigaturesMapped,
		"KerningSpaces":     KerningSpaces,
		"OCRLayer":          OCRLayer,
		"Form":              Form,
		"Outline":           Outline,
		"Tables":            Tables,
		"Tagged":            Tagged,
		"Hebrew":            Hebrew,
		"Arabic":            Arabic,
		"NonBMP":            NonBMP,
		"CJK":               CJK,
		"HiddenText":        HiddenText,
		"Links":             Links,
		"Rotated":           Rotated,
		"Outlined":          Outlined,
	}
}

func TestTheSameCallWritesTheSameBytes(t *testing.T) {
	for name, build := range ready() {
		if !bytes.Equal(build(), build()) {
			t.Errorf("%s differs from one call to the next", name)
		}
	}
}

// checkTable reads a classic cross-reference table and looks whether each
// object stands where it says.
func checkTable(t *testing.T, name string, file []byte) {
	t.Helper()
	m := regexp.MustCompile(`startxref\n(\d+)\n%%EOF\n$`).FindSubmatch(file)
	if m == nil {
		t.Errorf("%s does not end in startxref", name)
		return
	}
	start, _ := strconv.Atoi(string(m[1]))
	table := regexp.MustCompile(`^xref\n0 (\d+)\n((?:\d{10} \d{5} [nf] \n)+)trailer\n`).FindSubmatch(file[start:])
	if table == nil {
		t.Errorf("%s has no table at %d", name, start)
		return
	}
	entries := bytes.SplitAfter(table[2], []byte("\n"))
	entries = entries[:len(entries)-1]
	if n, _ := strconv.Atoi(string(table[1])); n != len(entries) {
		t.Errorf("%s says %d entries and has %d", name, n, len(entries))
	}
	for i, e := range entries {
		if len(e) != 20 {
			t.Errorf("%s: entry %d has %d bytes", name, i, len(e))
		}
		offset, _ := strconv.Atoi(string(e[:10]))
		if e[17] == 'n' && !bytes.HasPrefix(file[offset:], []byte(strconv.Itoa(i)+" 0 obj\n")) {
			t.Errorf("%s: object %d is not at %d", name, i, offset)
		}
	}
}

func TestEveryObjectStandsWhereTheTableSays(t *testing.T) {
	for name, build := range ready() {
		checkTable(t, name, build())
	}
}

func TestEveryStreamIsAsLongAsItSays(t *testing.T) {
	head := regexp.MustCompile(`/Length (\d+)[^\n]*\nstream\n`)
	for name, build := range ready() {
		file := build()
		for _, m := range head.FindAllSubmatchIndex(file, -1) {
			n, _ := strconv.Atoi(string(file[m[2]:m[3]]))
			if !bytes.HasPrefix(file[m[1]+n:], []byte("\nendstream")) {
				t.Errorf("%s: the stream at %d is not %d bytes long", name, m[0], n)
			}
		}
	}
}
