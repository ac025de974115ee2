package pdftest

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestValuesAreWrittenAsTheFormatWantsThem(t *testing.T) {
	for _, c := range []struct {
		v    any
		want string
	}{
		{nil, "null"},
		{true, "true"},
		{-7, "-7"},
		{1.0, "1"},
		{0.5, "0.5"},
		{-0.0001, "0"},
		{1e9, "1000000000"}, // never with an exponent
		{Name("A B#/é"), "/A#20B#23#2f#c3#a9"},
		{Ref(3), "3 0 R"},
		{String(`a(b)\`), `(a\(b\)\\)`},
		{String("a\nb"), "<610a62>"},
		{TextString("plain"), "(plain)"},
		{TextString("ß😀"), "<feff00dfd83dde00>"},
		{Array{1, Name("X"), nil}, "[1 /X null]"},
		{Dict{"B": 1, "A": Dict{"C": String("x")}}, "<</A <</C (x)>>/B 1>>"},
		{Stream{Data: []byte("abc")}, "<</Length 3>>\nstream\nabc\nendstream"},
		{Stream{Dict: Dict{"Length": 99}, Data: []byte("abc")}, "<</Length 99>>\nstream\nabc\nendstream"},
		{Raw("<oops"), "<oops"},
	} {
		if diff := cmp.Diff(c.want, string(appendValue(nil, c.v, nil))); diff != "" {
			t.Errorf("%#v: %s", c.v, diff)
		}
	}
}

func TestTextIsEncodedByTheFontLongestMatchFirst(t *testing.T) {
	for _, c := range []struct {
		font Font
		text string
		want string
	}{
		{Font{}, "Größe – “x” €", "Gr\xf6\xdfe \x96 \x93x\x94 \x80"},
		{Font{Glyphs: map[byte]string{1: "fi", 2: "ffi", 3: "a"}}, "fi office", "\x01 o\x02ce"},
		{Font{Unicode: map[int]string{5: "𝜋", 6: "𝜋", 7: "r"}}, "r𝜋", "\x07\x05"},
		{Font{Wide: true, Unicode: map[int]string{0x102: "é"}}, "é", "\x01\x02"},
		{Font{CMap: "UniGB-UCS2-H"}, "中", "\x4e\x2d"},
	} {
		if diff := cmp.Diff(c.want, string(c.font.encode(c.text))); diff != "" {
			t.Errorf("%q: %s", c.text, diff)
		}
	}
}

func TestACharacterThatTheFontDoesNotHaveIsAMistakeOfTheTest(t *testing.T) {
	for _, f := range []Font{{}, {Wide: true, Unicode: map[int]string{1: "a"}}, {CMap: "90ms-RKSJ-H"}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%v writes what it does not have", f)
				}
			}()
			New().Page(In(f, Text(72, 72, 12, "שלום"))).Bytes()
		}()
	}
}

// The compact form keeps most objects in streams; its table is a stream too.
func TestInTheCompactFormEveryObjectStandsWhereTheTableSays(t *testing.T) {
	d := New()
	for i := range 150 { // more objects than fit in one stream
		d.Page(Text(72, 720, 12, fmt.Sprint("page ", i)))
	}
	d.Compact = true
	file := d.Bytes()

	m := regexp.MustCompile(`startxref\n(\d+)\n%%EOF\n$`).FindSubmatch(file)
	start, _ := strconv.Atoi(string(m[1]))
	self := regexp.MustCompile(`^(\d+) 0 obj\n.*/Type /XRef/W \[1 4 2\]>>\nstream\n`).FindSubmatch(file[start:])
	if self == nil {
		t.Fatalf("no table at %d", start)
	}
	inflate := func(data []byte) []byte {
		z, err := zlib.NewReader(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		out, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	table := inflate(file[start+len(self[0]):])
	if n, _ := strconv.Atoi(string(self[1])); len(table) != 7*(n+1) {
		t.Fatalf("%d bytes of table for %d objects", len(table), n)
	}
	holders := map[int][]string{} // the numbers of the objects in each stream
	packed := 0
	for i := 1; i < len(table)/7; i++ {
		e := table[7*i : 7*i+7]
		where, index := int(binary.BigEndian.Uint32(e[1:])), int(binary.BigEndian.Uint16(e[5:]))
		switch e[0] {
		case 1:
			if !bytes.HasPrefix(file[where:], []byte(strconv.Itoa(i)+" 0 obj\n")) {
				t.Errorf("object %d is not at %d", i, where)
			}
		case 2:
			packed++
			if holders[where] == nil {
				at := int(binary.BigEndian.Uint32(table[7*where+1:]))
				head := regexp.MustCompile(`^\d+ 0 obj\n<<.*/First (\d+)/.*>>\nstream\n`).FindSubmatch(file[at:])
				if head == nil {
					t.Fatalf("no object stream at %d", at)
				}
				first, _ := strconv.Atoi(string(head[1]))
				holders[where] = strings.Fields(string(inflate(file[at+len(head[0]):])[:first]))
			}
			if got := holders[where][2*index]; got != strconv.Itoa(i) {
				t.Errorf("stream %d has object %s at %d, not %d", where, got, index, i)
			}
		default:
			t.Errorf("object %d is free", i)
		}
	}
	if packed < 150 || len(holders) < 2 {
		t.Errorf("%d objects in %d streams", packed, len(holders))
	}
}

func TestEqualFontsAndPicturesAreWrittenOnce(t *testing.T) {
	img := Photo(30, "")
	d := New()
	for range 3 {
		d.Page(In(Font{Name: TimesRoman}, Text(72, 720, 12, "a")), Picture(0, 0, 10, 10, img))
	}
	file := d.Bytes()
	if fonts, images := bytes.Count(file, []byte("/Type /Font")), bytes.Count(file, []byte("/Subtype /Image")); fonts != 1 || images != 1 {
		t.Errorf("%d fonts and %d images", fonts, images)
	}
}
