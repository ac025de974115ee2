package pipeline

import (
	"net/http"
	"strings"
	"testing"

	"sift.build/sift/internal/sift"
)

const api = `{"items":[{"id":12345678901234567890,"name":"tern","n":1},{"id":2,"name":"auk","n":2}],"next":"http://a.example/?page=2"}`

func typed(contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		_, _ = w.Write([]byte(body))
	}
}

func TestJQRunsOnTheBodyAndItsOutputIsTheContent(t *testing.T) {
	s := newSite(t, typed("application/json", api))
	r := newRig(t, s, rigOptions{})
	const url = "http://a.example/"
	whole := r.get(t, sift.Target{URL: url})
	env := r.get(t, sift.Target{URL: url, JQ: ".items[] | {id, name}"})
	const lines = `{"id":12345678901234567890,"name":"tern"}` + "\n" + `{"id":2,"name":"auk"}`
	if env.Content != lines || env.TotalChars != len(lines) || env.Snapshot != whole.Snapshot || env.Coverage <= 0 || env.Coverage >= 1 {
		t.Errorf("%q, coverage %v", env.Content, env.Coverage)
	}
	if env := r.get(t, sift.Target{URL: url, JQ: "empty"}); env.Content != "" || env.TotalChars != 0 {
		t.Errorf("no output is %q", env.Content)
	}
	// What follows works on the output: a window, grep, a question.
	first := r.get(t, sift.Target{URL: url, JQ: ".items[] | {id, name}", MaxChars: 50})
	if !first.Truncated || first.NextOffset == nil {
		t.Fatalf("%+v", first.Answer)
	}
	rest := r.get(t, sift.Target{URL: url, JQ: ".items[] | {id, name}", Offset: *first.NextOffset, Snapshot: first.Snapshot})
	if first.Content+rest.Content != lines {
		t.Errorf("%q and %q", first.Content, rest.Content)
	}
	if env := r.get(t, sift.Target{URL: url, JQ: ".items[].name", Grep: "a"}); !strings.HasPrefix(env.Content, "1 matching line\n") || !strings.Contains(env.Content, `2:"auk"`) {
		t.Errorf("grep in it: %q", env.Content)
	}
	if env := r.get(t, sift.Target{URL: url, JQ: ".items[].name", Question: "where is the auk"}); env.Digest == nil || len(env.Digest.Passages) != 1 {
		t.Errorf("a question: %+v", env.Digest)
	}
	if s.hits.Load() != 1 {
		t.Errorf("%d downloads", s.hits.Load())
	}
}

func TestTheFirstToAskForAPageMayAskWithJQ(t *testing.T) {
	s := newSite(t, typed("text/plain", api)) // JSON served as text is JSON
	r := newRig(t, s, rigOptions{})
	env := r.get(t, sift.Target{URL: "http://a.example/", JQ: ".next"})
	if env.Content != `"http://a.example/?page=2"` || env.Cache.Hit || env.Snapshot == "" {
		t.Errorf("%q, %+v", env.Content, env.Cache)
	}
	again := r.get(t, sift.Target{URL: "http://a.example/", JQ: ".next"})
	if again.Content != env.Content || !again.Cache.Hit {
		t.Errorf("%q, %+v", again.Content, again.Cache)
	}
	r = newRig(t, s, rigOptions{noStore: true, noMemory: true})
	if env := r.get(t, sift.Target{URL: "http://a.example/", JQ: ".next"}); env.Content != `"http://a.example/?page=2"` {
		t.Errorf("without a store: %q", env.Content)
	}
}

func TestJQTakesLinesOneByOneAndAllAtOnce(t *testing.T) {
	r := newRig(t, newSite(t, typed("application/x-ndjson", "{\"n\":1}\n{\"n\":2}\n{\"n\":40}\n")), rigOptions{})
	for program, want := range map[string]string{
		".n":               "1\n2\n40",
		"[inputs.n] | add": "43",
	} {
		if env := r.get(t, sift.Target{URL: "http://a.example/", JQ: program}); env.Content != want {
			t.Errorf("%s: %q", program, env.Content)
		}
	}
}

func TestJQSaysWhatTheBodyIsWhenItIsNoJSON(t *testing.T) {
	for _, tt := range []struct {
		name, contentType, body string
		want                    []string
	}{
		{"HTML", "text/html", policy, []string{"HTML", "text/html", "jq"}},
		{"broken", "application/json", "{\"a\": 1,\n \"b\": tru }", []string{"line 2", "column"}},
		{"cut off", "application/json", `{"a": [1, 2`, []string{"ends", "cut off"}},
		{"text", "text/plain", "good morning", []string{"plain text"}},
		{"HTML called JSON", "application/json", policy, []string{"HTML"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, newSite(t, typed(tt.contentType, tt.body)), rigOptions{})
			f := r.fail(t, alice, sift.Target{URL: "http://a.example/", JQ: "."}, sift.CodeUnsupported)
			for _, want := range tt.want {
				if !strings.Contains(f.Message, want) {
					t.Errorf("no %q in: %s", want, f.Message)
				}
			}
		})
	}
	r := newRig(t, pdfSite(t, pdfBody(2)), rigOptions{pdf: &fakePDF{}})
	if f := r.fail(t, alice, sift.Target{URL: "http://a.example/", JQ: "."}, sift.CodeUnsupported); !strings.Contains(f.Message, "PDF") {
		t.Errorf("a PDF: %s", f.Message)
	}
}

func TestWhatCannotBeAskedTogetherIsRefusedBeforeAnythingIsFetched(t *testing.T) {
	s := newSite(t, typed("application/json", api))
	r := newRig(t, s, rigOptions{})
	for _, tt := range []struct {
		target sift.Target
		want   string
	}{
		{sift.Target{JQ: ".items[", URL: "http://a.example/"}, "jq"},
		{sift.Target{JQ: ".", Mode: sift.ModeLinks}, "mode links"},
		{sift.Target{JQ: ".", Mode: sift.ModeOutline}, "mode outline"},
		{sift.Target{JQ: ".", Mode: sift.ModeHTML}, "mode html"},
		{sift.Target{JQ: ".", Section: "a"}, "section"},
		{sift.Target{JQ: ".", Pages: "1"}, "pages"},
		{sift.Target{Question: "the tern", Grep: "a"}, "grep"},
		{sift.Target{Question: "the tern", Mode: sift.ModeHTML}, "mode html"},
		{sift.Target{Question: strings.Repeat("tern ", 300)}, "question"},
		{sift.Target{Question: "  "}, "question"},
		{sift.Target{Section: "a", Mode: sift.ModeRaw}, "mode raw"},
	} {
		tt.target.URL = "http://a.example/"
		f := r.fail(t, alice, tt.target, sift.CodeInvalid)
		if !strings.Contains(f.Message, tt.want) {
			t.Errorf("%+v: %s", tt.target, f.Message)
		}
		if _, err := r.Check(tt.target); err == nil {
			t.Errorf("%+v passes the check", tt.target)
		}
	}
	if s.hits.Load() != 0 {
		t.Errorf("%d downloads", s.hits.Load())
	}
}

func TestAHostileJQProgramCostsNobodyElseAnything(t *testing.T) {
	r := newRig(t, newSite(t, typed("application/json", api)), rigOptions{})
	for _, program := range []string{`"x" * 1000000000`, "[range(1e9)]", "def f: f; f", `[limit(100000000; repeat("x"))] | add`} {
		_, err := r.FetchTarget(t.Context(), alice, sift.Target{URL: "http://a.example/", JQ: program})
		if code := sift.AsFailure(err).Code; err == nil || code != sift.CodeTooLong && code != sift.CodeTimeout {
			t.Errorf("%s: %v", program, err)
		}
		if env := r.get(t, sift.Target{URL: "http://a.example/", JQ: ".items[1].name"}); env.Content != `"auk"` {
			t.Errorf("after %s: %q", program, env.Content)
		}
	}
}
