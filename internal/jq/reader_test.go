package jq

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"math/big"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// readAll reads all documents of a body.
func readAll(body string, lines bool) (docs []any, err *brokenError, order *keyOrder) {
	order = newKeyOrder()
	r := newReader(body, lines, order)
	for v, ok := r.Next(); ok; v, ok = r.Next() {
		if r.err != nil {
			return docs, r.err, order
		}
		docs = append(docs, v)
	}
	return docs, nil, order
}

func TestJSONIsReadAsItIsWritten(t *testing.T) {
	for body, want := range map[string][]any{
		"":                                      nil,
		" \n\t\r":                               nil,
		"1":                                     {1},
		"-0 0 -1 123456789":                     {json.Number("-0"), 0, -1, 123456789},
		"0.10 1e400 1E+2 -1.5e-3":               {json.Number("0.10"), json.Number("1e400"), json.Number("1E+2"), json.Number("-1.5e-3")},
		"9007199254740993":                      {9007199254740993},
		"999999999999999999":                    {999999999999999999},
		"9999999999999999999":                   {json.Number("9999999999999999999")},
		"12345678901234567890":                  {json.Number("12345678901234567890")},
		"3.14159265358979323846264338327950288": {json.Number("3.14159265358979323846264338327950288")},
		"true false null":                       {true, false, nil},
		`"" "a" "a\nb"`:                         {"", "a", "a\nb"},
		`"\"\\\/\b\f\n\r\t\u0041\u00e9\ud83d\ude00"`:             {"\"\\/\b\f\n\r\tAé😀"},
		`"\ud83d" "\ude00x" "\ud83d\u0041" "\ud83d\ud83d\ude00"`: {"\uFFFD", "\uFFFDx", "\uFFFDA", "\uFFFD😀"},
		"\"a\xffb\" \"\xe4\xb8\"":                                {"a\uFFFDb", "\uFFFD\uFFFD"},
		`[] {} [[]] [{}]`:                                        {[]any{}, map[string]any{}, []any{[]any{}}, []any{map[string]any{}}},
		`[1, "a" ,null]`:                                         {[]any{1, "a", nil}},
		`{"a":1,"b":{"c":[2]}}`:                                  {map[string]any{"a": 1, "b": map[string]any{"c": []any{2}}}},
		`{"a":1,"a":2,"b":0,"a":3}`:                              {map[string]any{"a": 3, "b": 0}},
		"\uFEFF{\"a\":1}":                                        {map[string]any{"a": 1}},
		"\x1e{\"a\":1}\n\x1e2\n":                                 {map[string]any{"a": 1}, 2},
		"{\"a\":1}\n{\"a\":2}":                                   {map[string]any{"a": 1}, map[string]any{"a": 2}},
		"{\"a\":1}{\"a\":2}[]1\"x\"":                             {map[string]any{"a": 1}, map[string]any{"a": 2}, []any{}, 1, "x"},
		"[Infinity,-Infinity]":                                   {[]any{math.Inf(1), math.Inf(-1)}},
	} {
		for _, lines := range []bool{false, true} {
			got, err, _ := readAll(body, lines)
			if d := cmp.Diff(want, got); d != "" || err != nil {
				t.Errorf("%q: %v (-want +got)\n%s", body, err, d)
			}
		}
	}
	if got, err, _ := readAll("NaN", false); err != nil || len(got) != 1 || !math.IsNaN(got[0].(float64)) {
		t.Errorf("NaN: %v, %v", got, err)
	}
}

func TestBrokenJSONIsToldByItsPlace(t *testing.T) {
	type place struct {
		Line, Column, Byte, Doc int
		Found, Expected         string
	}
	for body, want := range map[string]place{
		`{"rows":[{"a":1},{"a":2},{"a":`:   {1, 31, 30, 1, "the end of the body", aValue},
		`{"a":1`:                           {1, 7, 6, 1, "the end of the body", `"," or "}"`},
		"{\n  \"a\": 1,\n}":                {3, 1, 12, 1, `"}"`, "a key in double quotes"},
		`{`:                                {1, 2, 1, 1, "the end of the body", `a key in double quotes or "}"`},
		`{a:1}`:                            {1, 2, 1, 1, `"a"`, `a key in double quotes or "}"`},
		`{'a':1}`:                          {1, 2, 1, 1, `"'"`, `a key in double quotes or "}"`},
		`{"a" 1}`:                          {1, 6, 5, 1, `"1"`, `":"`},
		`{"a":}`:                           {1, 6, 5, 1, `"}"`, aValue},
		`[1,]`:                             {1, 4, 3, 1, `"]"`, aValue},
		`[1 2]`:                            {1, 4, 3, 1, `"2"`, `"," or "]"`},
		`[`:                                {1, 2, 1, 1, "the end of the body", `a JSON value or "]"`},
		`[,1]`:                             {1, 2, 1, 1, `","`, `a JSON value or "]"`},
		`["ä", ü]`:                         {1, 7, 7, 1, `"ü"`, aValue},
		"[\"\u65e5\u672c\",\n x]":          {2, 2, 12, 1, `"x"`, aValue},
		`]`:                                {1, 1, 0, 1, `"]"`, aValue},
		`{"a":1}}`:                         {1, 8, 7, 2, `"}"`, aValue},
		`tru`:                              {1, 1, 0, 1, `"tru"`, aValue},
		`[truefalse]`:                      {1, 2, 1, 1, `"truefalse"`, aValue + ` or "]"`},
		`[undefined]`:                      {1, 2, 1, 1, `"undefined"`, aValue + ` or "]"`},
		`01`:                               {1, 1, 0, 1, "a number that begins with 0", "another digit"},
		`[1.]`:                             {1, 4, 3, 1, `"]"`, "a digit"},
		`[.5]`:                             {1, 2, 1, 1, `".5"`, aValue + ` or "]"`},
		`[1e]`:                             {1, 4, 3, 1, `"]"`, "a digit of the exponent"},
		`[-]`:                              {1, 3, 2, 1, `"]"`, "a digit"},
		`[+1]`:                             {1, 2, 1, 1, `"+1"`, aValue + ` or "]"`},
		`[12abc]`:                          {1, 4, 3, 1, `"abc"`, "the end of the number"},
		`[1.2.3]`:                          {1, 5, 4, 1, `".3"`, "the end of the number"},
		`["a`:                              {1, 4, 3, 1, "the end of the body", "the end of the string that begins at line 1, column 2"},
		"[\n \"a\\":                        {2, 5, 6, 1, "the end of the body", "the end of the string that begins at line 2, column 2"},
		"[\"a\nb\"]":                       {1, 4, 3, 1, "the end of the line", `the end of the string, or \n or the like for a control character,`},
		"[\"a\x01b\"]":                     {1, 4, 3, 1, "the control character U+0001", `the end of the string, or \n or the like for a control character,`},
		"[\"\\x\x01\"]":                    {1, 4, 3, 1, `"x"`, `one of "\/bfnrtu after the backslash`},
		`["\u12"]`:                         {1, 5, 4, 1, `"12"`, `four hexadecimal digits after \u`},
		`["\u+123"]`:                       {1, 5, 4, 1, `"+123"`, `four hexadecimal digits after \u`},
		"\uFEFF[x]":                        {1, 2, 4, 1, `"x"`, aValue + ` or "]"`},
		"\uFEFF\uFEFF[]":                   {1, 1, 3, 1, `"\ufeff"`, aValue},
		"\xfe\xff\x00[":                    {1, 1, 0, 1, "the byte 0xFE", aValue},
		"[1,\x1e2]":                        {1, 4, 3, 1, `"\x1e"`, aValue},
		"{\"a\":1}\n{\"a\":2\n{\"a\":3}":   {3, 1, 15, 2, `"{"`, `"," or "}"`},
		strings.Repeat("[", maxDepth+1):    {1, 10001, 10000, 1, "level 10001 of arrays and objects", "at most 10000 in each other"},
		strings.Repeat(`{"":`, maxDepth+1): {1, 40001, 40000, 1, "level 10001 of arrays and objects", "at most 10000 in each other"},
	} {
		_, err, _ := readAll(body, false)
		if err == nil {
			t.Errorf("%.60q was read", body)
			continue
		}
		if d := cmp.Diff(want, place{err.Line, err.Column, err.Byte, err.Doc, err.Found, err.Expected}); d != "" {
			t.Errorf("%.60q (-want +got)\n%s", body, d)
		}
	}
}

func TestALineThatStopsShortIsToldByItself(t *testing.T) {
	for body, want := range map[string]brokenError{
		"{\"a\":1}\n{\"a\":2\n{\"a\":3}":        {Line: 2, Column: 7, Byte: 14, Doc: 2, Found: "the end of the line", Expected: `"," or "}"`, Before: `{"a":2`},
		"{\"a\":1}\r\n{\"a\":\r\n{\"a\":3}\r\n": {Line: 2, Column: 6, Byte: 14, Doc: 2, Found: "the end of the line", Expected: aValue, Before: `{"a":`},
		"{\"a\":1}\n{\"a\"\n":                   {Line: 2, Column: 5, Byte: 12, Doc: 2, Found: "the end of the line", Expected: `":"`, Before: `{"a"`, AtEnd: true},
		"{\"a\":1}\n{\"a\":2":                   {Line: 2, Column: 7, Byte: 14, Doc: 2, Found: "the end of the body", Expected: `"," or "}"`, Before: `{"a":2`, AtEnd: true},
		"{\"a\":1}\n{\"a\":x}\n{}":              {Line: 2, Column: 6, Byte: 13, Doc: 2, Found: `"x"`, Expected: aValue, Before: `{"a":`, After: "x}"},
		"{\n\"a\":1}\n{\"a\":2}":                {}, // one of several lines is read all the same
	} {
		_, err, _ := readAll(body, true)
		if err == nil {
			err = &brokenError{}
		}
		if d := cmp.Diff(want, *err); d != "" {
			t.Errorf("%q (-want +got)\n%s", body, d)
		}
	}
}

func encoded(t testing.TB, v any, order *keyOrder) string {
	t.Helper()
	e := encoder{limit: MaxOutput, order: order}
	if err := e.encode(v); err != nil {
		t.Fatal(err)
	}
	return string(e.buf)
}

func TestValuesAreWrittenAsJQWritesThem(t *testing.T) {
	big1, _ := new(big.Int).SetString("123456789012345678901234567890", 10)
	for want, v := range map[string]any{
		"null": nil, "true": true, "-5": -5, "0.10": json.Number("0.10"), "123456789012345678901234567890": big1,
		"1.5": 1.5, "1e+21": 1e21, "1e-7": 1e-7, "1.7976931348623157e+308": math.Inf(1), "[]": []any{}, "{}": map[string]any{},
		`"\"\\\b\f\n\r\t\u0001\u007f/<é😀` + "\u2028" + `"`: "\"\\\b\f\n\r\t\x01\x7f/<é😀\u2028", `"a` + "\uFFFD" + `b"`: "a\xffb",
		`[1,[2,{"b":1,"a":[]}]]`: []any{1, []any{2, map[string]any{"a": []any{}, "b": 1}}},
	} {
		order := newKeyOrder()
		order.object([]string{"b", "a"})
		if got := encoded(t, v, order); got != want {
			t.Errorf("%v is written %s and not %s", v, got, want)
		}
	}
	if got := encoded(t, math.NaN(), newKeyOrder()); got != "null" {
		t.Errorf("NaN is written %s", got)
	}
}

func TestAnOutputIsNotWrittenBeyondItsLimit(t *testing.T) {
	wide := any(1)
	for range 60 {
		wide = []any{wide, wide} // 2^60 ones
	}
	for name, v := range map[string]any{
		"shared": wide, "string": strings.Repeat("x", 1000), "escapes": strings.Repeat("\x01", 200), "number": new(big.Int).Lsh(big.NewInt(1), 1<<20),
		"keys": map[string]any{strings.Repeat("k", 990): 1, "b": strings.Repeat("x", 990)}, "literal": json.Number(strings.Repeat("1", 1001)),
	} {
		e := encoder{limit: 1000, order: newKeyOrder()}
		if err := e.encode(v); err != errTooLong || len(e.buf) > 3000 {
			t.Errorf("%s: %v with %d bytes", name, err, len(e.buf))
		}
	}
}

func TestKeysKeepTheOrderOfTheBodyAndOfTheProgram(t *testing.T) {
	order := newKeyOrder()
	order.object([]string{"name", "id"})
	v, _ := newReader(`{"id":1,"name":"n","tags":{"z":1,"a":2,"z":3,"id":{"id":1,"name":2,"id":3}}}`, false, order).Next()
	m := v.(map[string]any)
	if got, want := encoded(t, m, order), `{"id":1,"name":"n","tags":{"z":3,"a":2,"id":{"name":2,"id":3}}}`; got != want {
		t.Errorf("%s and not %s", got, want)
	}
	// What the body does not have comes in the order in which it has the keys.
	m = map[string]any{"tags": 1, "a": 2, "new": 3, "id": 4, "another": 5}
	if got, want := encoded(t, m, order), `{"id":4,"a":2,"tags":1,"another":5,"new":3}`; got != want {
		t.Errorf("%s and not %s", got, want)
	}
}

func FuzzReader(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.50,"x\ud83d\ude00",null,true]}`, "1 2\n3", "\uFEFF[]", `{"a":1,"a":2}`, "[1e400,-0,12345678901234567890]", "\"\\u12", "NaN", "[[[[", "\x1e1", "{\"a\":1}\n{\"b\"", "\"\xff\""} {
		f.Add(s, true)
		f.Add(s, false)
	}
	f.Fuzz(func(t *testing.T, body string, lines bool) {
		docs, err, order := readAll(body, lines)
		want, wantErr := standard(body)
		lenient := strings.ContainsAny(body, "NInf\x1e") || !utf8.ValidString(body)
		switch {
		case err != nil:
			if err.Byte < 0 || err.Byte > len(body) || err.Line < 1 || err.Column < 1 || !strings.HasSuffix(strings.TrimPrefix(body, bom)[:max(err.Byte-bomLen(body), 0)], err.Before) {
				t.Fatalf("%q: %+v is no place in it", body, err)
			}
			// Several documents without anything between them are one word here.
			if wantErr == nil && len(want) == 1 && !lenient {
				t.Fatalf("%q: %v, and encoding/json reads it", body, err)
			}
			return
		case wantErr != nil && !lenient:
			t.Fatalf("%q was read, and not by encoding/json: %v", body, wantErr)
		}
		var out []byte
		for _, d := range docs {
			out = append(append(out, encoded(t, d, order)...), '\n')
		}
		if wantErr == nil && utf8.ValidString(body) {
			got, gotErr := standard(string(out))
			if d := cmp.Diff(want, got); gotErr != nil || d != "" {
				t.Fatalf("%q is written as %q: %v (-want +got)\n%s", body, out, gotErr, d)
			}
		}
		// What is written is read again as the same.
		again, err, order := readAll(string(out), true)
		if err != nil || len(again) != len(docs) {
			t.Fatalf("%q is written as %q, which is not read again: %v", body, out, err)
		}
		for i := range again {
			if a, b := encoded(t, again[i], order), strings.Split(string(out), "\n")[i]; a != b && !strings.Contains(body, "I") && len(order.known) < 2 {
				t.Fatalf("%q is written as %q, and then as %q", body, b, a)
			}
		}
	})
}

func bomLen(body string) int {
	if strings.HasPrefix(body, bom) {
		return len(bom)
	}
	return 0
}

// standard reads documents with the standard library.
func standard(body string) ([]any, error) {
	d := json.NewDecoder(bytes.NewReader([]byte(strings.TrimPrefix(body, bom))))
	d.UseNumber()
	var docs []any
	for {
		var v any
		if err := d.Decode(&v); err == io.EOF {
			return docs, nil
		} else if err != nil {
			return nil, err
		}
		docs = append(docs, v)
	}
}

func FuzzHear(f *testing.F) {
	var b bytes.Buffer
	_ = writeMessage(&b, outputsFollow, []byte("1\n2\n"))
	_ = writeEnd(&b, end{Fault: faultJSON, Broken: &brokenError{Line: 1}})
	f.Add(b.Bytes())
	f.Add([]byte("o\xff\xff\xff\xffx"))
	f.Fuzz(func(t *testing.T, said []byte) {
		var h heard
		err := h.hear(bytes.NewReader(said))
		if h.outputs.Len() > len(said) {
			t.Fatalf("%q became %q", said, h.outputs.String())
		}
		if err == nil && h.end != nil {
			out := &outcome{content: h.outputs.String(), lines: h.lines, end: h.end, limits: New(Config{}).limits}
			_, _ = out.judge(Query{Body: []byte("{}")})
		}
	})
}

func TestAMessageThatIsTooLongOrOfNoKindIsRefused(t *testing.T) {
	for said, want := range map[string]error{
		"o\xff\xff\xff\xff": errLong, "e\xff\xff\xff\xff": errLong, "x\x01\x00\x00\x00x": errGarbled, "e\x01\x00\x00\x00x": errGarbled,
		"e\x02\x00\x00\x00{}o\x00\x00\x00\x00": errGarbled, "o\x05\x00\x00\x00ab": nil, "o": nil, "": nil,
	} {
		var h heard
		if err := h.hear(strings.NewReader(said)); (err == nil) != (want == nil) || want != nil && !errors.Is(err, want) {
			t.Errorf("%q: %v", said, err)
		}
	}
}
