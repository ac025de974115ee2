package pdftest

import (
	"bytes"
	"compress/zlib"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// The values of the format (ISO 32000-2, 7.3). Beside these an object may be
// nil, a bool, an int or a float64.
type (
	// Name is written with its slash.
	Name string
	// Ref is the number of an object; generations are always 0.
	Ref int
	// String is a string of bytes; it is encrypted where the file is.
	String string
	// Array is a list of values.
	Array []any
	// Dict is written in the order of its keys.
	Dict map[Name]any
	// Raw is written as it stands: for what the format forbids.
	Raw string
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
		var err error
		if z.w, err = zlib.NewWriterLevel(&b, zlib.BestSpeed); err != nil {
			panic(err) // only for a level that does not exist
		}
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

func appendString(b []byte, s String) []byte {
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c > 0x7e {
			b = append(b, '<')
			b = hex.AppendEncode(b, []byte(s))
			return append(b, '>')
		}
	}
	b = append(b, '(')
	for i := range len(s) {
		if c := s[i]; c == '(' || c == ')' || c == '\\' {
			b = append(b, '\\')
		}
		b = append(b, s[i])
	}
	return append(b, ')')
}

func appendName(b []byte, n Name) []byte {
	b = append(b, '/')
	for i := range len(n) {
		c := n[i]
		if c <= 0x20 || c > 0x7e || strings.IndexByte("()<>[]{}/%#", c) >= 0 {
			b = fmt.Appendf(b, "#%02x", c)
			continue
		}
		b = append(b, c)
	}
	return b
}

// appendValue serialises v. crypt, where not nil, encrypts strings and
// streams for the object that v stands in.
func appendValue(b []byte, v any, crypt func([]byte) []byte) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...)
	case bool:
		return strconv.AppendBool(b, v)
	case int:
		return strconv.AppendInt(b, int64(v), 10)
	case float64:
		return append(b, number(v)...)
	case Name:
		return appendName(b, v)
	case Ref:
		return append(strconv.AppendInt(b, int64(v), 10), " 0 R"...)
	case String:
		if crypt != nil {
			v = String(crypt([]byte(v)))
		}
		return appendString(b, v)
	case Raw:
		return append(b, v...)
	case Array:
		b = append(b, '[')
		for i, e := range v {
			if i > 0 {
				b = append(b, ' ')
			}
			b = appendValue(b, e, crypt)
		}
		return append(b, ']')
	case Dict:
		keys := make([]Name, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		b = append(b, "<<"...)
		for _, k := range keys {
			b = append(appendName(b, k), ' ')
			b = appendValue(b, v[k], crypt)
		}
		return append(b, ">>"...)
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
		b = append(appendValue(b, d, crypt), "\nstream\n"...)
		return append(append(b, data...), "\nendstream"...)
	default:
		panic(fmt.Sprintf("pdftest: %T is no PDF value", v))
	}
}
