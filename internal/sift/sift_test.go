package sift

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The lists of SPEC section 2, written out.
func TestTheClosedListsAreThoseOfTheContract(t *testing.T) {
	check := func(name, want string, got any) {
		t.Helper()
		if s := strings.Trim(fmt.Sprint(got), "[]"); s != want {
			t.Errorf("%s: got %q, want %q", name, s, want)
		}
	}
	check("codes", "invalid unauthorized blocked busy timeout upstream_4xx upstream_5xx unreachable unsupported too_long cap not_found gone cancel internal", Codes())
	check("hints", "browser recover retry pages ocr password fresh auth", Hints())
	check("modes", "clean full text html raw links outline", Modes())
	check("warnings", "hidden_text partial no_text fallback charset_guess deep_markup challenge consent login js_shell soft_404 empty", WarningCodes())
}

func TestAFailureReadsAsCodeAndSentence(t *testing.T) {
	f := Fail(CodeBlocked, "private address %s", "10.0.0.7")
	if f.Error() != "blocked: private address 10.0.0.7" {
		t.Errorf("got %q", f.Error())
	}
}

func TestTheCauseOfAFailureNeverReachesTheCaller(t *testing.T) {
	f := Fail(CodeInternal, "sorry").WithCause(errors.New("secret /var/lib/path"))
	f.URL = "http://example.com/"
	b, err := json.Marshal(f.JSON())
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"success":false,"error":"internal: sorry","code":"internal","url":"http://example.com/"}`; string(b) != want {
		t.Errorf("got %s, want %s", b, want)
	}
	if strings.Contains(f.Error(), "secret") {
		t.Error("the text tells the cause")
	}
}

func TestAFailureIsFoundThroughWrapping(t *testing.T) {
	cause := fs.ErrNotExist
	f := Fail(CodeGone, "gone").WithCause(cause)
	got := AsFailure(fmt.Errorf("outer: %w", f))
	if got != f {
		t.Errorf("got %v", got)
	}
	if !errors.Is(got, cause) {
		t.Error("the cause is not reachable")
	}
}

func TestAnErrorWithoutACodeIsOurFaultAndSaysNoMore(t *testing.T) {
	f := AsFailure(errors.New("pq: password wrong for host db.internal"))
	if f.Code != CodeInternal || strings.Contains(f.Error(), "db.internal") {
		t.Errorf("got %v", f)
	}
}

func TestRetryAfterIsRoundedUpToWholeSeconds(t *testing.T) {
	f := Fail(CodeBusy, "x")
	f.RetryAfter = 1500 * time.Millisecond
	if got := f.JSON().RetryAfter; got != 2 {
		t.Errorf("got %d", got)
	}
}

func TestWithHintAndWithCauseLeaveTheOriginalAlone(t *testing.T) {
	f := Fail(CodeBusy, "x")
	_ = f.WithHint(HintRetry).WithCause(fs.ErrExist)
	if f.Hint != "" || f.Cause != nil {
		t.Errorf("the original changed: %+v", f)
	}
}

// The shape of SPEC section 2, written out.
func TestTheEnvelopeHasTheShapeOfTheContract(t *testing.T) {
	next := 7
	env := &Envelope{
		Answer: &Answer{
			URL: "http://example.com/a?b=1&c", FinalURL: "http://example.com/a", Status: 200, ContentType: "text/html",
			Mode: ModeClean, Title: "T <b>", Content: "# Hé\n</x>", Chars: 9, TotalChars: 20, Tokens: 3,
			Truncated: true, NextOffset: &next, Coverage: 0.83, Snapshot: "s1",
			Receipt: Receipt{
				FetchedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), SHA256: "ab", Bytes: 12, Charset: "utf-8", CharsetFrom: "meta",
				Hops: []Hop{{URL: "http://example.com/", Status: 301}}, Protocol: "h2", Address: "93.184.216.34",
			},
			Warnings: []Warning{{Code: WarnHiddenText, Message: "m"}}, Hint: HintBrowser,
		},
		Cache:  CacheInfo{Hit: true, Age: 12},
		Timing: Timing{QueueMS: 1, FetchMS: 2, RenderMS: 3, TotalMS: 6},
	}
	want := `{"success":true,"url":"http://example.com/a?b=1&c","final_url":"http://example.com/a","status":200,"content_type":"text/html","mode":"clean",` +
		`"title":"T <b>","author":"","site":"","published":"","language":"","description":"","content":"# Hé\n</x>",` +
		`"chars":9,"total_chars":20,"tokens":3,"truncated":true,"next_offset":7,"coverage":0.83,"snapshot":"s1",` +
		`"receipt":{"fetched_at":"2026-01-02T03:04:05Z","sha256":"ab","bytes":12,"charset":"utf-8","charset_from":"meta","hops":[{"url":"http://example.com/","status":301}],"protocol":"h2","address":"93.184.216.34"},` +
		`"warnings":[{"code":"hidden_text","message":"m"}],"hint":"browser",` +
		`"cache":{"hit":true,"age":12,"revalidated":false},"timing":{"queue_ms":1,"fetch_ms":2,"render_ms":3,"total_ms":6}}`
	for range 2 { // the second time from the kept encoding
		if diff := cmp.Diff(want, string(env.AppendJSON(nil))); diff != "" {
			t.Fatal(diff)
		}
	}
}

func TestAnEndedContentHasANullNextOffsetAndEmptyListsStayLists(t *testing.T) {
	env := &Envelope{Answer: &Answer{Mode: ModeLinks, Links: []Link{}, Warnings: []Warning{}, Receipt: Receipt{Hops: []Hop{}}}}
	b := string(env.AppendJSON(nil))
	for _, want := range []string{`"next_offset":null`, `"links":[]`, `"warnings":[]`, `"hops":[]`} {
		if !strings.Contains(b, want) {
			t.Errorf("%s is missing in %s", want, b)
		}
	}
	if strings.Contains(b, `"outline"`) || strings.Contains(b, `"hint"`) {
		t.Errorf("what was not asked for is there: %s", b)
	}
	if !json.Valid([]byte(b)) {
		t.Error("not JSON")
	}
}

func TestTheEnvelopeSurvivesTheStandardEncoder(t *testing.T) {
	env := &Envelope{Answer: &Answer{Content: "a\u2028<"}}
	b, err := json.Marshal(map[string]any{"e": env})
	if err != nil {
		t.Fatal(err)
	}
	var back struct{ E struct{ Content string } }
	if err := json.Unmarshal(b, &back); err != nil || back.E.Content != "a\u2028<" {
		t.Errorf("got %q, %v", back.E.Content, err)
	}
}

// With names every field, so that one that is new must not be forgotten.
func TestAnAnswerWithOneMoreWarningIsTheSameInAllElse(t *testing.T) {
	a := &Answer{}
	v := reflect.ValueOf(a).Elem()
	for i := range v.NumField() {
		f := v.Field(i)
		if !v.Type().Field(i).IsExported() {
			continue
		}
		switch f.Kind() {
		case reflect.String:
			f.SetString(v.Type().Field(i).Name)
		case reflect.Int:
			f.SetInt(int64(i + 1))
		case reflect.Float64:
			f.SetFloat(0.5)
		case reflect.Bool:
			f.SetBool(true)
		case reflect.Slice:
			f.Set(reflect.MakeSlice(f.Type(), 1, 1))
		case reflect.Pointer:
			f.Set(reflect.New(f.Type().Elem()))
		case reflect.Struct:
			if r, ok := reflect.TypeAssert[*Receipt](f.Addr()); ok {
				r.SHA256 = "ab"
				break
			}
			fallthrough
		default:
			t.Fatalf("the test does not know what to put into %s", v.Type().Field(i).Name)
		}
	}
	b := a.With(Warning{Code: WarnPartial, Message: "m"})
	if len(a.Warnings) != 1 || len(b.Warnings) != 2 || b.Warnings[1].Code != WarnPartial {
		t.Errorf("warnings %v and %v", a.Warnings, b.Warnings)
	}
	b.Warnings = b.Warnings[:1]
	if got, want := string((&Envelope{Answer: b}).AppendJSON(nil)), string((&Envelope{Answer: a}).AppendJSON(nil)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
