package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sift.build/sift/internal/sift"
)

// fetcher is a Fetcher that is one function.
type fetcher func(context.Context, sift.Caller, sift.Target) (*sift.Envelope, error)

func (f fetcher) FetchTarget(ctx context.Context, c sift.Caller, t sift.Target) (*sift.Envelope, error) {
	return f(ctx, c, t)
}

// keys is an Authenticator with plain keys; an empty one has no callers.
type keys map[string]sift.Caller

func (k keys) Configured() bool { return len(k) > 0 }

func (k keys) Authenticate(authorization string) (sift.Caller, error) {
	if len(k) == 0 {
		return sift.Caller{Name: "local", Class: "default"}, nil
	}
	key, ok := strings.CutPrefix(authorization, "Bearer ")
	if c, known := k[key]; ok && known {
		return c, nil
	}
	return sift.Caller{}, sift.Fail(sift.CodeUnauthorized, "no key, or not a known one").WithHint(sift.HintAuth)
}

func twoCallers() keys {
	return keys{
		"open-key":   {Name: "research", Class: "default"},
		"closed-key": {Name: "legal", Class: "legal", Restricted: true},
	}
}

func answer(content string) *sift.Envelope {
	return &sift.Envelope{
		Answer: &sift.Answer{
			URL: "https://example.org/a", FinalURL: "https://example.org/b", Status: 200, ContentType: "text/html; charset=utf-8",
			Mode: sift.ModeClean, Title: "T", Content: content, Chars: len(content), TotalChars: len(content), Tokens: 1,
			Coverage: 0.5, Snapshot: "s1", Warnings: []sift.Warning{},
			Receipt: sift.Receipt{FetchedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), SHA256: "ab", Bytes: 7, Charset: "utf-8",
				CharsetFrom: "header", Hops: []sift.Hop{{URL: "https://example.org/a", Status: 301}}, Protocol: "h2", Address: "93.184.216.34"},
		},
		Cache: sift.CacheInfo{Hit: true, Age: 3},
	}
}

func always(e *sift.Envelope, err error) fetcher {
	return func(context.Context, sift.Caller, sift.Target) (*sift.Envelope, error) { return e, err }
}

// do sends one request to a server made of c and gives the answer, which has
// been held against openapi.yaml.
func do(t *testing.T, c Config, r *http.Request) *httptest.ResponseRecorder {
	t.Helper()
	if c.Auth == nil {
		c.Auth = keys{}
	}
	w := httptest.NewRecorder()
	checked(t, New(c).Handler()).ServeHTTP(w, r)
	return w
}

func post(body string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "http://localhost:8642/v1/fetch", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	return r
}

func get(target string) *http.Request {
	return httptest.NewRequest(http.MethodGet, "http://localhost:8642"+target, nil)
}

func with(r *http.Request, headers ...string) *http.Request {
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	return r
}

func failure(t *testing.T, w *httptest.ResponseRecorder) sift.FailureJSON {
	t.Helper()
	var f sift.FailureJSON
	d := json.NewDecoder(w.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		t.Fatalf("status %d, not a failure: %v", w.Code, err)
	}
	return f
}

func TestAFetchIsAnsweredWithTheEnvelope(t *testing.T) {
	e := answer("# A <b>\n\u2028 & more")
	next := 9
	e.NextOffset, e.Truncated = &next, true
	e.Links = []sift.Link{{Text: "x", URL: "https://example.org/x"}}
	e.Outline = []sift.Heading{{Level: 1, Text: "A", Anchor: "a", Offset: 0, Chars: 9}}
	e.Warnings = []sift.Warning{{Code: sift.WarnPartial, Message: "cut"}}
	e.Hint = sift.HintBrowser
	w := do(t, Config{Fetcher: always(e, nil)}, post(`{"url":"https://example.org/a"}`))
	if w.Code != 200 || w.Header().Get("Content-Type") != "application/json" {
		t.Fatalf("status %d, type %s", w.Code, w.Header().Get("Content-Type"))
	}
	if got, want := w.Header().Get("Content-Length"), fmt.Sprint(w.Body.Len()); got != want {
		t.Errorf("Content-Length is %s, want %s", got, want)
	}
	if got, want := w.Body.String(), string(e.AppendJSON(nil)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestEveryFieldReachesTheFetcherFromBothDoors(t *testing.T) {
	age, seconds := 60, 2.5
	want := sift.Target{
		URL: "https://example.org/?a=1&b=ü", Mode: sift.ModeOutline, MaxAge: &age, MaxChars: 5000, Offset: 17, Snapshot: "s/1", Timeout: &seconds,
		Pages: "1-3,7", Password: "hünter 2", Section: "A > B", Grep: "a|b", Question: "why?", JQ: ".a", Context: true, Recover: true, MinDate: "2026-03-31",
	}
	for _, r := range []*http.Request{
		post(`{"url":"https://example.org/?a=1&b=\u00fc","mode":"outline","max_age":60,"max_chars":5000,"offset":17,"snapshot":"s\/1","timeout":2.5,"pages":"1-3,7","section":"A > B","grep":"a|b","question":"why?","jq":".a","context":true,"recover":true,"min_date":"2026-03-31","password":"h\u00fcnter 2"}`),
		post(` { "timeout" : 25e-1 , "snapshot":"s/1","offset":1.7E+1,"max_chars":5000.0,"max_age":6e1,"mode":"outline","url":"https://example.org/?a=1&b=ü"
			, "question":"why?","pages":"1-3,7","section":"A > B","grep":"a|b","jq":".a","context":true,"recover":true,"min_date":"2026-03-31","password":"hünter 2" } `),
		post(`{"url":"https://example.org/?a=1&b=ü","mode":"outline","max_age":60,"max_chars":5000,"offset":17,"snapshot":"s/1","timeout":2.5,
			"question":"why?","context":true,"recover":true,"min_date":"2026-03-31","jq":".a","pages":"1-3,7","section":"A > B","grep":"a|b","password":"hünter 2"}`),
		get(`/v1/fetch?url=https://example.org/?a=1%26b=%C3%BC&mode=outline&max_age=60&max_chars=5000&offset=17&snapshot=s/1&timeout=2.5&pages=1-3,7&password=h%C3%BCnter+2&section=A+%3E+B&grep=a|b&question=why%3F&jq=.a&context=true&recover=true&min_date=2026-03-31`),
		get(`/v1/fetch?&&url=https%3A%2F%2Fexample.org%2F%3Fa%3D1%26b%3Dü&mode=outline&max_age=60&max_chars=5000&offset=17&snapshot=s/1&timeout=2.5&section=A%20>%20B&grep=a%7Cb&jq=.a&question=why?&min_date=2026-03-31&context=true&recover=true&pages=1-3%2C7&password=hünter%202&`),
	} {
		var got sift.Target
		var caller sift.Caller
		w := do(t, Config{Fetcher: fetcher(func(_ context.Context, c sift.Caller, target sift.Target) (*sift.Envelope, error) {
			got, caller = target, c
			return answer("x"), nil
		})}, r)
		if diff := cmp.Diff(want, got); diff != "" || w.Code != 200 {
			t.Errorf("%s %s: status %d (-want +got):\n%s%s", r.Method, r.URL, w.Code, diff, w.Body)
		}
		if caller.Name != "local" {
			t.Errorf("the caller is %q", caller.Name)
		}
	}
}

func TestFieldsLeftOutKeepTheirZeroValues(t *testing.T) {
	for _, r := range []*http.Request{
		post(`{"url":"u"}`), get(`/v1/fetch?url=u`),
		post(`{"url":"u","mode":null,"max_age":null,"max_chars":null,"offset":null,"snapshot":null,"timeout":null,"jq":null}`),
	} {
		do(t, Config{Fetcher: fetcher(func(_ context.Context, _ sift.Caller, got sift.Target) (*sift.Envelope, error) {
			if diff := cmp.Diff(sift.Target{URL: "u"}, got); diff != "" {
				t.Error(diff)
			}
			return answer("x"), nil
		})}, r)
	}
}

func TestATimeoutBeyondAnyIsCutAndNotRefused(t *testing.T) {
	for _, text := range []string{"1e300", "1e400", "1000001"} {
		do(t, Config{Fetcher: fetcher(func(_ context.Context, _ sift.Caller, got sift.Target) (*sift.Envelope, error) {
			if *got.Timeout != 1e6 {
				t.Errorf("%s: %v", text, *got.Timeout)
			}
			return answer("x"), nil
		})}, post(`{"url":"u","timeout":`+text+`}`))
	}
}

// The texts are the contract with whoever writes a request by hand: each names
// the field or the position.
func TestAMalformedRequestIsRefusedByName(t *testing.T) {
	const modes = "clean, full, text, html, raw, links, outline"
	long := strings.Repeat("k", 60_000)
	for _, c := range []struct{ body, want string }{
		// fields
		{`{}`, `url is required`},
		{`{"url":null}`, `url is required and may not be null`},
		{`{"url":""}`, `url is required and may not be empty`},
		{`{"mode":"raw"}`, `url is required`},
		{`{"url":"u","ulr":"x"}`, `unknown field "ulr"; did you mean url?`},
		{`{"URL":"u"}`, `unknown field "URL"; did you mean url?`},
		{`{"url":"u","Url":"v"}`, `unknown field "Url"; did you mean url?`},
		{`{"url":"u","maxChars":1}`, `unknown field "maxChars"; did you mean max_chars?`},
		{`{"url":"u","max-age":1}`, `unknown field "max-age"; did you mean max_age?`},
		{`{"url":"u","ofset":1}`, `unknown field "ofset"; did you mean offset?`},
		{`{"url":"u","allow_private":true}`, `unknown field "allow_private"`},
		{`{"url":"u","max_bytes":1e18}`, `unknown field "max_bytes"`},
		{`{"url":"u","__proto__":{}}`, `unknown field "__proto__"`},
		{`{"url":"u","":1}`, `unknown field ""`},
		{`{"url":"u","` + long + `":1}`, `unknown field "` + strings.Repeat("k", 40) + `…"`},
		{`{"url":"u","\u001b[31m\u202e":1}`, `unknown field "\x1b[31m\u202e"`},
		{`{"url":"u","url":"v"}`, `url is given twice`},
		{`{"url":"u","\u0075rl":"v"}`, `url is given twice`},
		{`{"url":"u","grep":null,"grep":""}`, `grep is given twice`},
		{`{"url":"u","mode":"markdown"}`, `mode "markdown" is not one of ` + modes},
		{`{"url":"u","mode":"Clean"}`, `mode "Clean" is not one of ` + modes},
		{`{"url":"u","mode":""}`, `mode "" is not one of ` + modes},
		// types
		{`{"url":1}`, `url must be a string, not a number`},
		{`{"url":["u"]}`, `url must be a string, not a list`},
		{`{"url":` + strings.Repeat(`[`, 60_000), `url must be a string, not a list`},
		{`{"url":` + strings.Repeat(`{"url":`, 9_000), `url must be a string, not an object`},
		{`{"url":true}`, `url must be a string, not true or false`},
		{`{"url":"u","max_chars":"5"}`, `max_chars must be a whole number, not a string`},
		{`{"url":"u","max_chars":1.5}`, `max_chars must be a whole number, without a fraction`},
		{`{"url":"u","timeout":"5"}`, `timeout must be a number, not a string`},
		{`{"url":"u","context":"true"}`, `context must be true or false, not a string`},
		{`{"url":"u","context":0}`, `context must be true or false, not a number`},
		// ranges
		{`{"url":"u","max_chars":0}`, `max_chars must be between 1 and 10000000`},
		{`{"url":"u","max_chars":-1}`, `max_chars must be between 1 and 10000000`},
		{`{"url":"u","max_chars":10000001}`, `max_chars must be between 1 and 10000000`},
		{`{"url":"u","offset":-1}`, `offset must be between 0 and 1000000000`},
		{`{"url":"u","offset":1e18}`, `offset must be between 0 and 1000000000`},
		{`{"url":"u","offset":9223372036854775808}`, `offset must be between 0 and 1000000000`},
		{`{"url":"u","offset":1e999999}`, `offset must be between 0 and 1000000000`},
		{`{"url":"u","offset":` + strings.Repeat("9", 60_000) + `}`, `offset must be between 0 and 1000000000`},
		{`{"url":"u","max_age":-1}`, `max_age must be between 0 and 2000000000`},
		{`{"url":"u","timeout":0}`, `timeout must be at least 0.001`},
		{`{"url":"u","timeout":-5}`, `timeout must be at least 0.001`},
		{`{"url":"u","timeout":1e-300}`, `timeout must be at least 0.001`},
		// options to come
		{`{"url":"u","pages":"4-2"}`, `the page range 4-2 is turned round; write 2-4`},
		{`{"url":"u","pages":3}`, `pages must be a string, not a number`},
		{`{"url":"u","password":"` + strings.Repeat("x", 128) + `"}`, `password is longer than 127 bytes; no PDF has such a one`},
		{`{"url":"u","jq":{"a":1}}`, `jq must be a string, not an object`},
		{`{"url":"u","question":true}`, `question must be a string, not true or false`},
		{`{"url":"u","grep":["a"]}`, `grep must be a string, not a list`},
		{`{"url":"u","context":"yes"}`, `context must be true or false, not a string`},
		{`{"url":"u","recover":1}`, `recover must be true or false, not a number`},
		{`{"url":"u","recover":true,"min_date":"yesterday"}`, `min_date "yesterday" is no date; write it like 2026-03-31, or like 2026-03-31T08:00:00Z`},
		// JSON
		{``, `the body must be one JSON object, such as {"url":"https://example.org/"}`},
		{`null`, `the body must be one JSON object, such as {"url":"https://example.org/"}`},
		{`[{"url":"u"}]`, `the body must be one JSON object, such as {"url":"https://example.org/"}`},
		{`url=https://example.org/`, `the body must be one JSON object, such as {"url":"https://example.org/"}`},
		{"\ufeff{}", `the body must be one JSON object, such as {"url":"https://example.org/"}`},
		{`{"url":"u"}{}`, `the body must be one JSON object: something follows it at position 12`},
		{`{"url":"u"} x`, `the body must be one JSON object: something follows it at position 13`},
		{"{\"url\":\"u\"}\x00", `the body must be one JSON object: something follows it at position 12`},
		{`{"url":"u"`, `the body is not JSON: it ends at position 11, where a comma or a closing brace should be`},
		{`{"url":"u",}`, `the body is not JSON: "}" at position 12, where a field name in quotes should be`},
		{`{'url':"u"}`, `the body is not JSON: "'" at position 2, where a field name in quotes should be`},
		{`{"url" "u"}`, `the body is not JSON: "\"" at position 8, where a colon should be`},
		{`{"url":u}`, `the body is not JSON: "u" at position 8, where the value of url should be`},
		{`{"url":}`, `the body is not JSON: "}" at position 8, where the value of url should be`},
		{`{"url":"u`, `the body is not JSON: it ends at position 10, where a closing quote should be`},
		{"{\"url\":\"a\nb\"}", `the body is not JSON: "\n" at position 10, where an escape instead of a control character should be`},
		{"{\"url\":\"\\u0041\nb\"}", `the body is not JSON: "\n" at position 15, where an escape instead of a control character should be`},
		{`{"url":"\x"}`, `the body is not JSON: "x" at position 10, where one of the escapes of JSON should be`},
		{`{"url":"\u00g0"}`, `the body is not JSON: "g" at position 13, where a hexadecimal digit should be`},
		{`{"url":"\ud800"}`, `the body is not JSON: "u" at position 10, where a whole surrogate pair should be`},
		{`{"url":"\ud800\u0041"}`, `the body is not JSON: "u" at position 10, where a whole surrogate pair should be`},
		{`{"url":"\udc00\ud800"}`, `the body is not JSON: "u" at position 10, where a whole surrogate pair should be`},
		{`{"url":"u","offset":NaN}`, `the body is not JSON: "N" at position 21, where the value of offset should be`},
		{`{"url":"u","offset":-Infinity}`, `the body is not JSON: "I" at position 22, where a digit should be`},
		{`{"url":"u","offset":01}`, `the body is not JSON: "1" at position 22, where a comma or a closing brace should be`},
		{`{"url":"u","offset":1.}`, `the body is not JSON: "}" at position 23, where a digit should be`},
		{`{"url":"u","offset":1e}`, `the body is not JSON: "}" at position 23, where a digit should be`},
		{`{"url":"u","offset":+1}`, `the body is not JSON: "+" at position 21, where the value of offset should be`},
		{`{"url":"u","offset":.5}`, `the body is not JSON: "." at position 21, where the value of offset should be`},
		{`{"url":"u","offset":0x10}`, `the body is not JSON: "x" at position 22, where a comma or a closing brace should be`},
		{`{"url":"u","context":fals}`, `the body is not JSON: "}" at position 26, where false should be`},
		{`{"url":"u","context":True}`, `the body is not JSON: "T" at position 22, where the value of context should be`},
		{`{"url":"u",/**/"offset":1}`, `the body is not JSON: "/" at position 12, where a field name in quotes should be`},
		{"{\"url\":\"u\xff\"}", `the body is not UTF-8: bad byte at position 10`},
		{"{\"url\":\"\xed\xa0\x80\"}", `the body is not UTF-8: bad byte at position 9`},
	} {
		w := do(t, Config{Fetcher: always(nil, errors.New("must not be asked"))}, post(c.body))
		f := failure(t, w)
		if w.Code != 400 || f.Code != sift.CodeInvalid || f.Error != "invalid: "+c.want {
			t.Errorf("%.80q:\ngot  %d %s\nwant 400 invalid: %s", c.body, w.Code, f.Error, c.want)
		}
	}
}

func TestAMalformedQueryIsRefusedByName(t *testing.T) {
	for _, c := range []struct{ query, want string }{
		{``, `url is required`},
		{`?mode=raw`, `url is required`},
		{`?url=`, `url is required and may not be empty`},
		{`?url=u&url=v`, `url is given twice`},
		{`?url=u&url`, `url is given twice`},
		{`?url=u&mode=raw&mode=raw`, `mode is given twice`},
		{`?url=u&max%5Fage=1&max_age=1`, `max_age is given twice`},
		{`?url=u&Mode=raw`, `unknown field "Mode"; did you mean mode?`},
		{`?url=u&key=secret`, `unknown field "key"`},
		{`?url=https://example.org/?a=1&b=2`, `unknown field "b"; an & inside url is written %26`},
		{`?url=https://example.org/?a=1&url=2`, `url is given twice; an & inside url is written %26`},
		{`?url=u&mode=x`, `mode "x" is not one of clean, full, text, html, raw, links, outline`},
		{`?url=u&offset=`, `offset must be a whole number`},
		{`?url=u&offset=1x`, `offset must be a whole number`},
		{`?url=u&offset=+1`, `offset must be a whole number`},
		{`?url=u&offset=0x1`, `offset must be a whole number`},
		{`?url=u&offset=1.5`, `offset must be a whole number, without a fraction`},
		{`?url=u&timeout=Inf`, `timeout must be a number`},
		{`?url=u&timeout=NaN`, `timeout must be a number`},
		{`?url=u&max_chars=0`, `max_chars must be between 1 and 10000000`},
		{`?url=u&context=1`, `context must be true or false`},
		{`?url=u&pages=0`, `pages names page 0; the first page is 1`},
		{`?url=%zz`, `the query has a broken %-escape in "%zz"`},
		{`?url=%ff`, `the query is not UTF-8 in "%ff"`},
	} {
		w := do(t, Config{Fetcher: always(nil, errors.New("must not be asked"))}, get("/v1/fetch"+c.query))
		f := failure(t, w)
		if w.Code != 400 || f.Error != "invalid: "+c.want {
			t.Errorf("%s:\ngot  %d %s\nwant 400 invalid: %s", c.query, w.Code, f.Error, c.want)
		}
	}
}

func TestFieldsInTheWrongPlaceAreRefusedAndNotIgnored(t *testing.T) {
	r := post(`{"url":"u"}`)
	r.URL.RawQuery = "mode=raw"
	if f := failure(t, do(t, Config{}, r)); f.Error != "invalid: a POST takes its fields from the body; the query must be empty" {
		t.Error(f.Error)
	}
	r = httptest.NewRequest(http.MethodGet, "http://localhost/v1/fetch?url=u", strings.NewReader(`{"mode":"raw"}`))
	if f := failure(t, do(t, Config{}, r)); f.Error != "invalid: a GET takes its fields from the query; it must not have a body" {
		t.Error(f.Error)
	}
	if f := failure(t, do(t, Config{}, with(post(`{"url":"u"}`), "Content-Encoding", "gzip"))); f.Error != "invalid: the body must not be compressed (Content-Encoding)" {
		t.Error(f.Error)
	}
}

func TestABodyOver64KiBIsTooLong(t *testing.T) {
	const head, tail = `{"url":"`, `"}`
	fits := head + strings.Repeat("u", 64<<10-len(head)-len(tail)) + tail
	declared, chunked := post(fits+" "), post(fits+" ")
	chunked.ContentLength = -1
	for _, r := range []*http.Request{declared, chunked} {
		w := do(t, Config{}, r)
		if f := failure(t, w); w.Code != 413 || f.Code != sift.CodeTooLong || f.Error != "too_long: the request's body is longer than 65536 bytes" {
			t.Errorf("%d %s", w.Code, f.Error)
		}
	}
	exact := post(fits)
	exact.ContentLength = -1
	for _, r := range []*http.Request{post(fits), exact} {
		if w := do(t, Config{Fetcher: always(answer("x"), nil)}, r); w.Code != 200 {
			t.Errorf("a body of 64 KiB: %d %s", w.Code, w.Body)
		}
	}
}

type broken struct{ io.Reader }

func (b broken) Read(p []byte) (int, error) {
	if n, err := b.Reader.Read(p); err == nil {
		return n, nil
	}
	return 0, io.ErrUnexpectedEOF
}

func TestABodyThatBreaksOffIsInvalid(t *testing.T) {
	r := httptest.NewRequest(http.MethodPost, "http://localhost/v1/fetch", broken{strings.NewReader(`{"url":"u"}`)})
	w := do(t, Config{}, r)
	if f := failure(t, w); w.Code != 400 || f.Error != "invalid: the request's body broke off or did not come in time" {
		t.Errorf("%d %s", w.Code, f.Error)
	}
}

func TestEveryFailureHasItsStatus(t *testing.T) {
	want := map[sift.Code]int{ // SPEC section 2
		"invalid": 400, "unauthorized": 401, "blocked": 422, "busy": 429, "timeout": 504, "upstream_4xx": 502, "upstream_5xx": 502,
		"unreachable": 502, "unsupported": 415, "too_long": 413, "cap": 422, "not_found": 404, "gone": 404, "cancel": 499, "internal": 500,
	}
	for _, code := range sift.Codes() {
		w := do(t, Config{Fetcher: always(nil, sift.Fail(code, "because"))}, post(`{"url":"https://example.org/a"}`))
		f := failure(t, w)
		if w.Code != want[code] || f.Code != code || f.Success {
			t.Errorf("%s: %d %+v, want %d", code, w.Code, f, want[code])
		}
		if f.URL != "https://example.org/a" {
			t.Errorf("%s: url is %q", code, f.URL)
		}
		if got := w.Header().Get("Retry-After"); (got != "") != (code == sift.CodeBusy) {
			t.Errorf("%s: Retry-After is %q", code, got)
		}
	}
	for _, f := range []*sift.Failure{
		{Code: sift.CodeCap, RetryAfter: time.Second}, {Code: sift.CodeCap, Hint: sift.HintRetry},
	} {
		if got := Status(f); got != 429 {
			t.Errorf("a cap that empties by itself: %d", got)
		}
	}
	if got := Status(&sift.Failure{Code: "news"}); got != 500 {
		t.Errorf("a code outside the list: %d", got)
	}
}

func TestAFailureIsToldInFull(t *testing.T) {
	w := do(t, Config{Fetcher: always(nil, fmt.Errorf("pipeline: %w", &sift.Failure{
		Code: sift.CodeUpstream4xx, Message: "the server answered 429", Hint: sift.HintRetry, URL: "https://example.org/<a>",
		Status: 429, RetryAfter: 90*time.Second + 1, UpstreamBody: "slow & steady", Cause: errors.New("secret"),
	}))}, post(`{"url":"other"}`))
	want := `{"success":false,"error":"upstream_4xx: the server answered 429","code":"upstream_4xx","hint":"retry","url":"https://example.org/<a>",` +
		`"status":429,"retry_after":91,"upstream_body":"slow & steady"}`
	if got := w.Body.String(); got != want || w.Code != 502 {
		t.Errorf("%d\ngot  %s\nwant %s", w.Code, got, want)
	}
	// What the target's server asks for is in the body; the header would be about sift.
	if got := w.Header().Get("Retry-After"); got != "" {
		t.Errorf("Retry-After is %q", got)
	}
}

func TestBusySaysWhenToTryAgainAndAtLeastASecond(t *testing.T) {
	for _, c := range []struct {
		after time.Duration
		want  string
	}{{0, "1"}, {time.Millisecond, "1"}, {time.Second, "1"}, {1500 * time.Millisecond, "2"}, {time.Minute, "60"}} {
		w := do(t, Config{Fetcher: always(nil, &sift.Failure{Code: sift.CodeBusy, RetryAfter: c.after})}, post(`{"url":"u"}`))
		if got := w.Header().Get("Retry-After"); got != c.want || w.Code != 429 {
			t.Errorf("%v: %d, Retry-After %q, want %s", c.after, w.Code, got, c.want)
		}
		if f := failure(t, w); fmt.Sprint(f.RetryAfter) != c.want {
			t.Errorf("%v: the body says %d, the header %s", c.after, f.RetryAfter, c.want)
		}
	}
}

func TestAnInternalFailureSaysNoMore(t *testing.T) {
	const want = "internal: something went wrong inside sift; the operator's log has the details"
	for _, err := range []error{
		errors.New("database is locked: /var/lib/sift"),
		sift.Fail(sift.CodeInternal, "database is locked: /var/lib/sift"),
	} {
		if f := failure(t, do(t, Config{Fetcher: always(nil, err)}, post(`{"url":"u"}`))); f.Error != want {
			t.Error(f.Error)
		}
	}
}

func TestTheContentAloneIsGivenToWhoAsksForIt(t *testing.T) {
	e := answer("# ü <script>\n")
	next := 100000
	e.NextOffset = &next
	e.Warnings = []sift.Warning{{Code: sift.WarnChallenge}, {Code: sift.WarnHiddenText}}
	e.Hint = sift.HintBrowser
	e.Recovered = &sift.Recovered{Source: sift.SourceArchive, CapturedAt: time.Date(2025, 11, 2, 8, 0, 0, 0, time.UTC), URL: "http://a.example/\r\nX: y/ü"}
	w := do(t, Config{Fetcher: always(e, nil)}, with(get("/v1/fetch?url=u"), "Accept", "text/markdown"))
	if w.Body.String() != "# ü <script>\n" {
		t.Errorf("body is %q", w.Body)
	}
	got := map[string]string{}
	for name := range w.Header() {
		got[name] = w.Header().Get(name)
	}
	want := map[string]string{
		"Content-Type": "text/markdown; charset=utf-8", "Content-Length": "14", "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store",
		"X-Sift-Next-Offset": "100000", "X-Sift-Snapshot": "s1", "X-Sift-Warnings": "challenge, hidden_text", "X-Sift-Hint": "browser", "X-Sift-Recovered": "archive 2025-11-02T08:00:00Z http://a.example/X: y/",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}

	plain := answer("x")
	plain.Snapshot = ""
	w = do(t, Config{Fetcher: always(plain, nil)}, with(get("/v1/fetch?url=u"), "Accept", "text/plain"))
	for _, name := range []string{"X-Sift-Next-Offset", "X-Sift-Snapshot", "X-Sift-Warnings", "X-Sift-Hint", "X-Sift-Recovered"} {
		if v, there := w.Header()[name]; there {
			t.Errorf("%s is there: %q", name, v)
		}
	}
	if got := w.Header().Get("Content-Type"); got != "text/plain; charset=utf-8" {
		t.Errorf("type is %s", got)
	}

	w = do(t, Config{Fetcher: always(nil, sift.Fail(sift.CodeGone, "no"))}, with(get("/v1/fetch?url=u"), "Accept", "text/markdown"))
	if f := failure(t, w); f.Code != sift.CodeGone {
		t.Error("a failure must be JSON whatever was asked for")
	}
}

func TestAcceptIsNegotiated(t *testing.T) {
	for _, c := range []struct {
		accept []string
		want   form
	}{
		{nil, formJSON},
		{[]string{""}, formJSON},
		{[]string{"*/*"}, formJSON},
		{[]string{"application/json"}, formJSON},
		{[]string{"text/html"}, formJSON},
		{[]string{"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}, formJSON},
		{[]string{"application/json, text/plain, */*"}, formJSON}, // axios says so unasked
		{[]string{"text/markdown"}, formMarkdown},
		{[]string{"TEXT/Markdown ; variant=GFM"}, formMarkdown},
		{[]string{"text/plain"}, formPlain},
		{[]string{"text/*"}, formMarkdown},
		{[]string{"text/markdown, */*"}, formMarkdown},
		{[]string{"text/markdown, text/html, */*"}, formMarkdown},
		{[]string{"*/*, text/plain"}, formPlain},
		{[]string{"text/markdown;q=0.5, application/json"}, formJSON},
		{[]string{"text/markdown;q=0.5, application/json;q=0.4"}, formMarkdown},
		{[]string{"text/plain;q=0.9, text/markdown;q=0.8"}, formPlain},
		{[]string{"text/*;q=0.9, text/markdown;q=0.1"}, formPlain},
		{[]string{"text/markdown;q=0, */*"}, formJSON},
		{[]string{"application/json;q=0, */*;q=0.1"}, formMarkdown},
		{[]string{"text/markdown;q=0"}, formJSON},
		{[]string{"*/*;q=0"}, formJSON},
		{[]string{"text/markdown;q=7, application/json"}, formJSON},   // no number from 0 to 1
		{[]string{"text/markdown;q=NaN, application/json"}, formJSON}, // nor that
		{[]string{"text/html", "text/markdown"}, formMarkdown},
		{[]string{",;,/,text,*"}, formJSON},
		{[]string{strings.Repeat("text/html,", 6000)}, formJSON},
	} {
		if got := negotiate(c.accept); got != c.want {
			t.Errorf("%.80q: %d, want %d", c.accept, got, c.want)
		}
	}
}

func TestWhatIsNotThereIsSaid(t *testing.T) {
	const paths = "POST /v1/fetch, GET /v1/fetch, GET /healthz, GET /readyz, GET /openapi.yaml"
	for _, path := range []string{"/", "/v1", "/v1/fetch/", "//v1/fetch", "/v1/./fetch", "/v1/fetch/../fetch", "/V1/fetch", "/metrics", "/favicon.ico"} {
		r := get("/")
		r.URL.Path = path
		w := do(t, Config{}, r)
		if f := failure(t, w); w.Code != 404 || f.Error != "not_found: there is no such path; there are "+paths {
			t.Errorf("%s: %d %s", path, w.Code, f.Error)
		}
	}
	w := do(t, Config{Auth: twoCallers(), Metrics: http.NotFoundHandler()}, get("/nowhere"))
	if f := failure(t, w); !strings.Contains(f.Error, "GET /metrics, GET /openapi.yaml") || w.Code != 404 {
		t.Errorf("%d %s", w.Code, f.Error)
	}
}

func TestAMethodThatAPathDoesNotHaveIsRefusedWithThoseItHas(t *testing.T) {
	for _, c := range []struct{ method, path, allow string }{
		{"PUT", "/v1/fetch", "POST, GET, HEAD"},
		{"OPTIONS", "/v1/fetch", "POST, GET, HEAD"},
		{"BREW", "/v1/fetch", "POST, GET, HEAD"},
		{"POST", "/healthz", "GET, HEAD"},
		{"DELETE", "/openapi.yaml", "GET, HEAD"},
	} {
		r := httptest.NewRequest(c.method, "http://localhost"+c.path, nil)
		w := do(t, Config{}, r)
		f := failure(t, w)
		if w.Code != 405 || w.Header().Get("Allow") != c.allow || f.Code != sift.CodeInvalid ||
			f.Error != fmt.Sprintf("invalid: this path has no method %q; it has %s", c.method, c.allow) {
			t.Errorf("%s %s: %d, Allow %q, %s", c.method, c.path, w.Code, w.Header().Get("Allow"), f.Error)
		}
	}
}

func TestHeadIsGetWithoutTheBody(t *testing.T) {
	srv := httptest.NewServer(New(Config{Fetcher: always(answer("x"), nil), Auth: keys{}}).Handler())
	defer srv.Close()
	for _, path := range []string{"/v1/fetch?url=u", "/healthz", "/openapi.yaml"} {
		resp, err := http.Head(srv.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != 200 || resp.ContentLength <= 0 {
			t.Errorf("%s: %d, %d bytes", path, resp.StatusCode, resp.ContentLength)
		}
	}
}

func TestHealthAndReadiness(t *testing.T) {
	c := Config{Version: "1.2.3"}
	if w := do(t, c, get("/healthz")); w.Code != 200 || w.Body.String() != `{"status":"ok","version":"1.2.3"}` {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := do(t, c, get("/readyz")); w.Code != 200 || w.Body.String() != `{"status":"ready","version":"1.2.3"}` {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	var log bytes.Buffer
	c.Log = slog.New(slog.NewTextHandler(&log, nil))
	c.Ready = func() error { return errors.New("open /var/lib/sift: permission denied") }
	if w := do(t, c, get("/readyz")); w.Code != 503 || w.Body.String() != `{"status":"not ready","version":"1.2.3"}` {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if !strings.Contains(log.String(), `level=WARN`) || !strings.Contains(log.String(), `cause="open /var/lib/sift: permission denied"`) {
		t.Errorf("the log does not say why: %s", &log)
	}
}

func TestTheDescriptionIsServed(t *testing.T) {
	w := do(t, Config{}, get("/openapi.yaml"))
	if w.Code != 200 || w.Header().Get("Content-Type") != "application/yaml" || !strings.HasPrefix(w.Body.String(), "openapi: 3.1") {
		t.Errorf("%d %s", w.Code, w.Header().Get("Content-Type"))
	}
}

func TestTheCheckOfAnswersFindsWhatIsNotDescribed(t *testing.T) {
	doc := loadDescription(t)
	good := string(answer("x").AppendJSON(nil))
	for name, c := range map[string]struct {
		status    int
		typ, body string
		ok        bool
	}{
		"as described":         {200, "application/json", good, true},
		"another status":       {418, "application/json", good, false},
		"another type":         {200, "text/html", good, false},
		"no JSON":              {200, "application/json", good[1:], false},
		"more than one value":  {200, "application/json", good + "{}", false},
		"success is false":     {200, "application/json", strings.Replace(good, "true", "false", 1), false},
		"a field is missing":   {200, "application/json", strings.Replace(good, `"tokens":1,`, "", 1), false},
		"a field too many":     {200, "application/json", strings.Replace(good, `"tokens":1`, `"tokens":1,"extra":1`, 1), false},
		"a nested one too":     {200, "application/json", strings.Replace(good, `"hit":true`, `"hit":true,"extra":1`, 1), false},
		"a wrong type":         {200, "application/json", strings.Replace(good, `"tokens":1`, `"tokens":"1"`, 1), false},
		"a mode off the list":  {200, "application/json", strings.Replace(good, `"clean"`, `"news"`, 1), false},
		"a missing header":     {429, "application/json", `{"success":false,"error":"busy: x","code":"busy"}`, false},
		"a code off the list":  {400, "application/json", `{"success":false,"error":"news: x","code":"news"}`, false},
		"a failure at its own": {400, "application/json", `{"success":false,"error":"invalid: x","code":"invalid"}`, true},
	} {
		resp := &http.Response{StatusCode: c.status, Header: http.Header{
			"Content-Type": {c.typ}, "X-Content-Type-Options": {"nosniff"}, "Cache-Control": {"no-store"},
		}}
		if err := check(doc, get("/v1/fetch"), resp, []byte(c.body)); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}
