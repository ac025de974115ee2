package pdftest

import (
	"bytes"
	"compress/zlib"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"unicode/utf16"
)

// The values of the format (ISO 32000-2, 7.3). Beside these an object may be
// nil, a bool, an int or a float64.
type (
	Name   string       // written with its slash
	Ref    int          // the number of an object; generations are always 0
	String string       // bytes, written as a string; encrypted where the file is
	Array  []any        //
	Dict   map[Name]any // written in the order of its keys
	Raw    string       // written as it stands: for what the format forbids
)

// A Stream is a dictionary with data. Its Length is written unless Dict has
// one; Data is written as it is, so Dict must name the filters it went
// through.
type Stream struct {
	Dict Dict
	Data []byte
}

// Flate is a stream whose data is compressed here.
func Flate(d Dict, data []byte) Stream {
	return new(deflater).stream(d, data)
}

// A deflater compresses one piece after another with one set of tables:
// they are large, and some files here have thousands of pieces.
type deflater struct{ w *zlib.Writer }

func (z *deflater) bytes(data []byte) []byte {
	var b bytes.Buffer
	if z.w == nil {
		z.w = zlib.NewWriter(&b)
	} else {
		z.w.Reset(&b)
	}
	// Writes to a buffer cannot fail.
	_, _ = z.w.Write(data)
	_ = z.w.Close()
	return b.Bytes()
}

func (z *deflater) stream(d Dict, data []byte) Stream {
	d = maps.Clone(d)
	if d == nil {
		d = Dict{}
	}
	d["Filter"] = Name("FlateDecode")
	return Stream{Dict: d, Data: z.bytes(data)}
}

// TextString is a string for people (titles, form values): plain where ASCII
// does, else UTF-16 with its mark (7.9.2.2).
func TextString(s string) String {
	for _, r := range s {
		if r < 0x20 || r > 0x7e {
			return String("\xfe\xff") + String(utf16be(s))
		}
	}
	return String(s)
}

func utf16be(s string) []byte {
	var b []byte
	for _, u := range utf16.Encode([]rune(s)) {
		b = append(b, byte(u>>8), byte(u))
	}
	return b
}

// number writes a number as the format wants it: no exponent, no needless
// digits.
func number(v float64) string {
	s := strconv.FormatFloat(v, 'f', 3, 64)
	for s[len(s)-1] == '0' {
		s = s[:len(s)-1]
	}
	if s[len(s)-1] == '.' {
		s = s[:len(s)-1]
	}
	if s == "-0" {
		return "0"
	}
	return s
}

func writeString(b *bytes.Buffer, s String) {
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c > 0x7e {
			b.WriteByte('<')
			b.WriteString(hex.EncodeToString([]byte(s)))
			b.WriteByte('>')
			return
		}
	}
	b.WriteByte('(')
	for i := range len(s) {
		if c := s[i]; c == '(' || c == ')' || c == '\\' {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	b.WriteByte(')')
}

func writeName(b *bytes.Buffer, n Name) {
	b.WriteByte('/')
	for i := range len(n) {
		c := n[i]
		if c <= 0x20 || c > 0x7e || bytes.IndexByte([]byte("()<>[]{}/%#"), c) >= 0 {
			fmt.Fprintf(b, "#%02x", c)
			continue
		}
		b.WriteByte(c)
	}
}

// write serialises v. crypt, where not nil, encrypts strings and streams for
// the object that v stands in.
func write(b *bytes.Buffer, v any, crypt func([]byte) []byte) {
	switch v := v.(type) {
	case nil:
		b.WriteString("null")
	case bool:
		b.WriteString(strconv.FormatBool(v))
	case int:
		b.WriteString(strconv.Itoa(v))
	case float64:
		b.WriteString(number(v))
	case Name:
		writeName(b, v)
	case Ref:
		fmt.Fprintf(b, "%d 0 R", int(v))
	case String:
		if crypt != nil {
			v = String(crypt([]byte(v)))
		}
		writeString(b, v)
	case Raw:
		b.WriteString(string(v))
	case Array:
		b.WriteByte('[')
		for i, e := range v {
			if i > 0 {
				b.WriteByte(' ')
			}
			write(b, e, crypt)
		}
		b.WriteByte(']')
	case Dict:
		b.WriteString("<<")
		for _, k := range slices.Sorted(maps.Keys(v)) {
			writeName(b, k)
			b.WriteByte(' ')
			write(b, v[k], crypt)
		}
		b.WriteString(">>")
	case Stream:
		data := v.Data
		if crypt != nil {
			data = crypt(data)
		}
		d := maps.Clone(v.Dict)
		if d == nil {
			d = Dict{}
		}
		if _, ok := d["Length"]; !ok {
			d["Length"] = len(data)
		}
		write(b, d, crypt)
		b.WriteString("\nstream\n")
		b.Write(data)
		b.WriteString("\nendstream")
	default:
		panic(fmt.Sprintf("pdftest: %T is no PDF value", v))
	}
}
