package app

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func readExpectation(t *testing.T, raw string) *expectation {
	t.Helper()
	e := new(expectation)
	d := json.NewDecoder(strings.NewReader(raw))
	d.DisallowUnknownFields()
	d.UseNumber()
	if err := d.Decode(e); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return e
}

// Each word of an expectation with an answer that meets it and one that does not.
func TestAnExpectationThatIsNotMetIsSeen(t *testing.T) {
	const page = `{"success":true,"content":"# Gate\n\nOpen the gate\\.  Then a_b.\u00a0Done, Zoe\u0308, http://127.0.0.1:7/y.\n\n1. one\n2. two","title":"Gate","description":"truncated",` +
		`"final_url":"http://127.0.0.1:7/x?y=1","truncated":false,"next_offset":null,"coverage":0.5,"receipt":{"charset":"utf-8","hops":[{"status":301}]},` +
		`"warnings":[{"code":"charset_guess","message":"guessed"}],"hint":"retry"}`
	const failed = `{"success":false,"error":"upstream_4xx: the server answered 404","code":"upstream_4xx","status":404,"upstream_body":"It moved."}`
	const data = `{"success":true,"content":"{\"n\":9007199254740993,\"a\":[1.50]}"}`
	for _, c := range []struct{ answer, met, not string }{
		{page, `{"outcome":"ok"}`, `{"outcome":"error"}`},
		{failed, `{"outcome":"error"}`, `{"outcome":"ok"}`},
		{failed, `{"outcome":"ok-or-error","contains":["anything"]}`, `{"contains":["anything"]}`},
		{page, `{"contains":["Open the gate. Then a_b. Done, Zoë,"]}`, `{"contains":["open the gate"]}`},
		{page, `{"contains":["{{ORIGIN}}/y","Gate"]}`, `{"contains":["{{ORIGIN}}/z","Gate"]}`},
		{page, `{"not_contains":["Tower"]}`, `{"not_contains":["Zoë"]}`},
		{failed, `{"outcome":"error","not_contains":["Tower"]}`, `{"outcome":"error","not_contains":["\n"],"signal_any":["nothing"]}`},
		{page, `{"contains_any":[["Tower","Gate"],["one"]]}`, `{"contains_any":[["Tower","Gate"],["three"]]}`},
		{page, `{"order":["Gate","one","two"]}`, `{"order":["Gate","two","one"]}`},
		{page, `{"order":["one","two"]}`, `{"order":["two","two"]}`},
		{page, `{"count":{"gate":1}}`, `{"count":{"gate":2}}`},
		{page, `{"matches":["(?m)^2\\. two$"]}`, `{"matches":["(?m)^2\\. two$","(?m)^3\\."]}`},
		{page, `{"matches_any":["x","(?m)^# Gate$"]}`, `{"matches_any":["three","four"]}`},
		{page, `{"not_matches":["(?m)^## "]}`, `{"not_matches":["(?m)^# "]}`},
		{page, `{"min_chars":20,"max_chars":200}`, `{"min_chars":200}`},
		{page, `{"max_chars":200}`, `{"max_chars":20}`},
		{page, `{"max_seconds":4}`, `{"max_seconds":2}`},
		{page, `{"title":" Gate "}`, `{"title":"gate"}`},
		{page, `{"final_path":"/x?y=1"}`, `{"final_path":"/x"}`},
		{page, `{"steps":{"min":1}}`, `{"steps":{"min":2}}`},
		{data, `{"json_equals":{"a":[1.50],"n":9007199254740993}}`, `{"json_equals":{"a":[1.50],"n":9007199254740992}}`},
		{page, `{"contains":["one"]}`, `{"json_equals":{}}`},
		{failed, `{"outcome":"error","error":{"mentions_any":["404"]}}`, `{"outcome":"error","error":{"mentions_any":["403"]}}`},
		{failed, `{"outcome":"error","signal_any":["it moved"]}`, `{"outcome":"error","signal_any":["it stayed"]}`},
		{page, `{"signal_any":["guessed"]}`, `{"signal_any":["Open the gate"]}`},
		{page, `{"signal_any":["Open the gate"],"signal_scope":"any"}`, `{"signal_any":["Shut the gate"],"signal_scope":"any"}`},
		// Neither the name of a member that is not set nor the page's own words are a signal.
		{page, `{"signal_any":["utf-8"]}`, `{"signal_any":["truncated"]}`},
		{page, `{"signal_all":[["guess"],["none","retry"]]}`, `{"signal_all":[["guess"],["none"]]}`},
		{page, `{"signal_re":["charset_\\w+"]}`, `{"signal_re":["soft_\\w+"]}`},
		{page, `{"no_signal":["soft_404","gate"]}`, `{"no_signal":["(charset_guess)"]}`},
		{page, `{"meta":{"receipt.charset":"utf-8","receipt.hops.0.status":301,"next_offset":null,"coverage":{"min":0.4,"max":0.6}}}`, `{"meta":{"receipt.hops.1.status":301}}`},
		{page, `{"meta":{"truncated":false}}`, `{"meta":{"coverage":{"min":0.6}}}`},
		{page, `{"meta":{"title":"Gate"}}`, `{"meta":{"pages":null}}`},
		{page, `{"any_of":[{"outcome":"error"},{"contains":["one"]}]}`, `{"any_of":[{"outcome":"error"},{"contains":["three"]}]}`},
		{page, `{"any_of":[{"contains":["one"]}],"not_contains":["three"]}`, `{"any_of":[{"contains":["one"]}],"not_contains":["two"]}`},
		{`{"success":true,"content":"plain"}`, `{"contains":["plain"]}`, `{"not_contains":["plain"]}`},
	} {
		res := shape([]byte(c.answer))
		if f := readExpectation(t, c.met).judge(res, 3*time.Second, "http://127.0.0.1:7"); len(f) > 0 {
			t.Errorf("%s is not met: %s", c.met, f)
		}
		if f := readExpectation(t, c.not).judge(res, 3*time.Second, "http://127.0.0.1:7"); len(f) == 0 {
			t.Errorf("%s is met", c.not)
		}
	}
	for _, content := range []string{"a\x00b", "a\xffb"} {
		if f := readExpectation(t, `{"contains":["a"]}`).judge(result{ok: true, content: content}, 0, ""); len(f) == 0 {
			t.Errorf("%q passes", content)
		}
	}
	two := result{ok: true, items: []result{{ok: true, content: "alpha"}, {err: "upstream_4xx: 404"}}}
	items := `{"items":[{"outcome":"ok","contains":["%s"]},{"outcome":"error","mentions_any":["%s"]}]}`
	for want, words := range map[string][2]string{"": {"alpha", "404"}, "item 0": {"beta", "404"}, "item 1": {"alpha", "500"}} {
		f := strings.Join(readExpectation(t, fmt.Sprintf(items, words[0], words[1])).judge(two, 0, ""), "; ")
		if (f == "") != (want == "") || !strings.Contains(f, want) {
			t.Errorf("%v: got %q, want %q", words, f, want)
		}
	}
	if f := readExpectation(t, `{"items":[{"outcome":"ok"}]}`).judge(two, 0, ""); len(f) == 0 {
		t.Error("an item too many is not seen")
	}
}

// writeCase makes a case folder with one page in it.
func writeCase(t *testing.T, dir, definition string, files map[string]string) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	files["case.json"] = definition
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestACaseThatSaysNothingIsRefused(t *testing.T) {
	const good = `{"id":"c","kind":"k","why":"w","weight":"must","request":{"path":"/p"},"response":{"status":200,"headers":{}},"body_file":"b","expect":{"contains":["x"]}}`
	for name, change := range map[string][2]string{
		"":                              {},
		"an unknown word":               {`"contains"`, `"contain"`},
		"an unknown word of the answer": {`"headers":{}`, `"header":{}`},
		"another id":                    {`"id":"c"`, `"id":"d"`},
		"no reason":                     {`"why":"w"`, `"why":""`},
		"no weight":                     {`"must"`, `"may"`},
		"no expectation":                {`{"contains":["x"]}`, `{}`},
		"an empty expectation":          {`{"contains":["x"]}`, `{"outcome":"ok"}`},
		"an expectation of anything":    {`{"contains":["x"]}`, `{"outcome":"ok-or-error"}`},
		"an outcome that is none":       {`{"contains":["x"]}`, `{"outcome":"fail"}`},
		"a pattern that is none":        {`"contains":["x"]`, `"matches":["("]`},
		"a body that is not there":      {`"body_file":"b"`, `"body_file":"d"`},
		"items without addresses":       {`"contains":["x"]`, `"items":[{"outcome":"ok"}]`},
		"no status":                     {`"status":200`, `"status":0`},
	} {
		dir := writeCase(t, filepath.Join(t.TempDir(), "c"), strings.Replace(good, change[0], change[1], 1), map[string]string{"b": "x"})
		if _, err := loadCase(dir); (err == nil) != (name == "") {
			t.Errorf("%q: got %v", name, err)
		}
	}
	dir := writeCase(t, filepath.Join(t.TempDir(), "c"), good, map[string]string{"b": "x", "left.html": "over"})
	if _, err := loadCase(dir); err == nil || !strings.Contains(err.Error(), "left.html") {
		t.Errorf("a file that nothing sends: got %v", err)
	}
}

// A case of the set, changed in one place, through the whole way from the
// origin to the judge.
func TestACaseWhoseAnswerIsChangedFails(t *testing.T) {
	type change struct {
		id   string
		make func(*caseFile)
		say  string
	}
	changes := []change{
		{"005-windows-1251-meta-only", func(*caseFile) {}, ""},
		{"005-windows-1251-meta-only", func(c *caseFile) { c.Response.Headers = headers{{"Content-Type", "text/html; charset=koi8-r"}} }, "missing"},
		{"028-gzip-cut-short", func(c *caseFile) { c.Expect.SignalAny = []string{"no such signal"} }, "no signal"},
		{"026-brotli-unasked", func(c *caseFile) { c.Response.Headers = c.Response.Headers[:1] }, "missing"},
		{"041-forbidden-with-explanation", func(c *caseFile) { c.Response.Status = 200 }, "an error was due"},
		{"045-permanent-308-chain", func(c *caseFile) { c.Routes = c.Routes[:1] }, "failed"},
		{"048-cookie-bounce-same-url", func(c *caseFile) { c.Routes[0].IfCookie = "another" }, "failed"},
		{"077-accept-header-asks-for-markdown", func(c *caseFile) { c.Routes[0].IfAccept = "text/other" }, "missing"},
		{"193-missing-page-not-cached", func(c *caseFile) { c.Routes[0].OnHit = 3 }, "failed"},
		{"195-etag-revalidation", func(c *caseFile) {
			c.Routes[0].IfHeader = map[string]string{"If-None-Match": "never"}
			c.Expect.Meta = map[string]any{"cache.revalidated": true}
		}, "cache.revalidated"},
		{"179-long-page-read-to-the-end", func(c *caseFile) { c.Request.FollowPages = false }, "missing"},
		{"191-batch-one-missing", func(c *caseFile) { c.Expect.Items[0].Contains = []string{"Gamma"} }, "item 0"},
		{"075-native-text-markdown", func(c *caseFile) { c.Response.DeclaredLengthExtra = 50; c.Expect.NoSignal = []string{"(partial)"} }, "a wrong signal"},
		{"035-body-stalls", func(c *caseFile) { c.Response.StallSeconds = 0.01; c.Request.TimeoutS = 20 }, "no signal"},
	}
	var cases []*caseFile
	for i, ch := range changes {
		c, err := loadCase(filepath.Join(casesDir, ch.id))
		if err != nil {
			t.Fatal(err)
		}
		ch.make(c)
		c.ID = fmt.Sprint(i, " ", ch.id)
		cases = append(cases, c)
	}
	byID, allow := origins(t, cases)
	r := newReader(t, allow)
	for i, c := range cases {
		res, took := r.run(t.Context(), c, byID[c.ID])
		faults := c.Expect.judge(res, took, byID[c.ID].url)
		if want := changes[i].say; !slices.ContainsFunc(faults, func(f string) bool { return strings.Contains(f, want) }) && (want != "" || len(faults) > 0) {
			t.Errorf("%s: got %q, want %q", c.ID, faults, want)
		}
	}
}
