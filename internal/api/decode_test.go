package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"sift.build/sift/internal/sift"
)

// FuzzDecodeJSON holds the decoder against encoding/json: what it takes is
// JSON, with the values that encoding/json finds in it; what it refuses is
// refused in a short, clean sentence.
func FuzzDecodeJSON(f *testing.F) {
	for _, s := range []string{
		`{"url":"https://example.org/","mode":"raw","max_age":0,"max_chars":1e2,"offset":1.0,"snapshot":"s","timeout":0.5}`,
		`{"url":"\ud83d\ude00\u0000\"\\\/\b\f\n\r\t","grep":"","context":false,"jq":null}`,
		`{"url":"u","url":"v"}`, `{"url":"u"`, `{"url":["u"]}`, `{"url":"\ud800"}`, "{\"url\":\"\xff\"}", `{"offset":-0,"url":"u"}`, `{"url":"u","max_age":1E+03}`,
		` {} `, `null`, `{"a":{"b":[]}}`,
	} {
		f.Add([]byte(s))
	}
	table := fields()
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := decodeJSON(table, body)
		if err != nil {
			cleanRefusal(t, err)
			return
		}
		if !utf8.Valid(body) {
			t.Fatal("not UTF-8")
		}
		d := json.NewDecoder(bytes.NewReader(body))
		d.UseNumber()
		var given map[string]any
		if err := d.Decode(&given); err != nil {
			t.Fatalf("encoding/json: %v", err)
		}
		if d.More() {
			t.Fatal("something follows")
		}
		agree(t, got, given)
	})
}

func agree(t *testing.T, got sift.Target, given map[string]any) {
	t.Helper()
	want := sift.Target{}
	want.URL, _ = given["url"].(string)
	mode, _ := given["mode"].(string)
	want.Mode = sift.Mode(mode)
	want.Snapshot, _ = given["snapshot"].(string)
	want.Pages, _ = given["pages"].(string)
	want.Grep, _ = given["grep"].(string)
	want.Question, _ = given["question"].(string)
	want.Section, _ = given["section"].(string)
	want.JQ, _ = given["jq"].(string)
	want.Context, _ = given["context"].(bool)
	want.Recover, _ = given["recover"].(bool)
	want.MinDate, _ = given["min_date"].(string)
	want.Password, _ = given["password"].(string)
	if n, ok := numberIn(t, given["max_age"]); ok {
		age := int(n)
		want.MaxAge = &age
	}
	if n, ok := numberIn(t, given["max_chars"]); ok {
		want.MaxChars = int(n)
	}
	if n, ok := numberIn(t, given["offset"]); ok {
		want.Offset = int(n)
	}
	if n, ok := numberIn(t, given["timeout"]); ok {
		n = math.Min(n, cutTimeout)
		want.Timeout = &n
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("(-encoding/json +ours):\n%s", diff)
	}
	for name := range given {
		known := false
		for _, f := range fields() {
			known = known || f.name == name
		}
		if !known {
			t.Fatalf("%q is no field", name)
		}
	}
}

// numberIn reads a number as the decoder documents it: one too large is infinite.
func numberIn(t *testing.T, v any) (float64, bool) {
	t.Helper()
	text, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	n, err := text.Float64()
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		t.Fatal(err)
	}
	return n, true
}

func cleanRefusal(t *testing.T, err error) {
	t.Helper()
	f := sift.AsFailure(err)
	if f.Code != sift.CodeInvalid {
		t.Fatalf("code %s", f.Code)
	}
	if len(f.Message) > 400 || !utf8.ValidString(f.Message) || strings.ContainsFunc(f.Message, func(r rune) bool { return !unicode.IsGraphic(r) }) {
		t.Fatalf("the refusal is not clean: %q", f.Message)
	}
}

// FuzzDecodeQuery: what the decoder takes is what net/url finds in the query.
func FuzzDecodeQuery(f *testing.F) {
	for _, s := range []string{
		"url=https%3A%2F%2Fexample.org%2F&mode=raw&max_age=0&max_chars=1e2&offset=1.0&snapshot=a+b&timeout=0.5&jq=&context=false",
		"url=u&url=v", "url=%zz", "url=%ff", "&&url=u&", "url=a;b", "=", "url",
	} {
		f.Add(s)
	}
	table := fields()
	f.Fuzz(func(t *testing.T, raw string) {
		got, err := decodeQuery(table, raw)
		if err != nil {
			cleanRefusal(t, err)
			return
		}
		// net/url refuses a semicolon, which the URL standard takes as it is.
		values, err := url.ParseQuery(strings.ReplaceAll(raw, ";", "%3B"))
		if err != nil {
			t.Fatal(err)
		}
		given := map[string]any{}
		for name, v := range values {
			if len(v) != 1 {
				t.Fatalf("%s is there %d times", name, len(v))
			}
			given[name] = v[0]
			for _, f := range table {
				if f.name != name || f.kind == kindText {
					continue
				}
				d := json.NewDecoder(strings.NewReader(v[0]))
				d.UseNumber()
				var typed any
				if err := d.Decode(&typed); err != nil || d.More() {
					t.Fatalf("%s=%q is no JSON: %v", name, v[0], err)
				}
				given[name] = typed
			}
		}
		agree(t, got, given)
	})
}

func TestTheNearestFieldIsNamedAndAFarOneIsNot(t *testing.T) {
	for name, want := range map[string]string{
		"uri": "url", "lur": "", "ulr": "url", "urls": "url", "modus": "", "moed": "mode", "max_lenght": "", "maxchars": "max_chars", "MAX_AGE": "max_age",
		"tiemout": "timeout", "snapshto": "snapshot", "paswword": "password", "j": "", "q": "", "": "", "mindate": "min_date",
		strings.Repeat("url", 20): "", "ürl": "", "grepp": "grep", "questions": "question",
	} {
		if got := nearest(fields(), name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// FuzzDecodeBatch holds the decoder of a batch against encoding/json, and each
// target against the decoder of a fetch: the same is taken, as the same target,
// but for a password.
func FuzzDecodeBatch(f *testing.F) {
	for _, s := range []string{
		`{"targets":[{"url":"https://example.org/","mode":"raw","max_age":0,"max_chars":1e2},{"url":"u","timeout":0.5}],"fresh":true}`,
		` { "fresh" : null , "targets" : [ {"url":"\ud83d\ude00"} , { "url" : "u" } ] } `,
		`{"targets":[{"url":"u","password":"p"}]}`, `{"targets":[{"url":"u","password":""}]}`, `{"targets":[]}`, `{"targets":null}`, `{"targets":[null]}`,
		`{"targets":[{"url":"u"}],"targets":[]}`, `{"targets":[{"url":"u","url":"v"}]}`, `{"targets":[[{"url":"u"}]]}`, `{"targets":[{"url":"u"},]}`,
		"{\"targets\":[{\"url\":\"\xff\"}]}", `{"targets":[{"url":"u","context":1}]}`, `{"targets":[{"url":"u"}]}x`, `{"targets":{}}`, `{}`, ``,
	} {
		f.Add([]byte(s))
	}
	table, one := batchFields(), fields()
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := decodeBatch(table, body)
		var given struct {
			Targets []json.RawMessage `json:"targets"`
			Fresh   *bool             `json:"fresh"`
		}
		strict := json.NewDecoder(bytes.NewReader(body))
		strict.DisallowUnknownFields()
		if err != nil {
			cleanRefusal(t, err)
			return
		}
		if !utf8.Valid(body) {
			t.Fatal("not UTF-8")
		}
		if err := strict.Decode(&given); err != nil {
			t.Fatalf("encoding/json: %v", err)
		}
		if strict.More() {
			t.Fatal("something follows")
		}
		if fresh := given.Fresh != nil && *given.Fresh; fresh != got.fresh || len(given.Targets) != len(got.targets) || len(got.targets) == 0 {
			t.Fatalf("fresh %v and %d targets, want %v and %d", got.fresh, len(got.targets), fresh, len(given.Targets))
		}
		for i, raw := range given.Targets {
			want, err := decodeJSON(one, raw)
			if err != nil {
				t.Fatalf("target %d is none of a fetch: %v", i, err)
			}
			if diff := cmp.Diff(want, got.targets[i]); diff != "" || want.Password != "" {
				t.Fatalf("target %d (-of a fetch +of a batch):\n%s", i, diff)
			}
		}
	})
}

// What a batch refuses, it refuses because a fetch would: the list adds nothing
// but its own shape.
func TestATargetOfABatchIsDecodedAsThatOfAFetch(t *testing.T) {
	values := []string{`""`, `"x"`, `"raw"`, `"1-3"`, `true`, `false`, `0`, `1`, `-1`, `1.5`, `1e2`, `1e400`, `null`, `[]`, `{}`}
	for _, name := range []string{"url", "mode", "pages", "grep", "max_age", "max_chars", "offset", "snapshot", "timeout", "jq", "context", "nothing"} {
		for _, v := range values {
			target := `{"url":"u","` + name + `":` + v + `}`
			if name == "url" {
				target = `{"url":` + v + `}`
			}
			want, wantErr := decodeJSON(fields(), []byte(target))
			got, err := decodeBatch(batchFields(), []byte(`{"targets":[{"url":"u"},`+target+`]}`))
			if wantErr != nil {
				if text := "targets[1]: " + sift.AsFailure(wantErr).Message; err == nil || sift.AsFailure(err).Message != text {
					t.Errorf("%s: %v, want %s", target, err, text)
				}
				continue
			}
			if err != nil || len(got.targets) != 2 {
				t.Errorf("%s: %v", target, err)
				continue
			}
			if diff := cmp.Diff(want, got.targets[1]); diff != "" {
				t.Errorf("%s:\n%s", target, diff)
			}
		}
	}
}
