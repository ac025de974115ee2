package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// A caller's program or pattern is as foreign as a page: whatever it asks for, the
// service stays as large as it was, the answer comes within the bounds, and the
// next request is fine.
func TestHostileProgramsAndPatternsLeaveTheServiceAsItWas(t *testing.T) {
	dir := t.TempDir()
	line := strings.Repeat("aaaaaaaaab", 6_400) + "\n" // 64 KiB
	long := strings.Repeat("aaaaaaaaab", 900_000)
	list := "[" + strings.Repeat(`{"a":1,"b":[1,2,3]},`, 200_000) + `{"a":2}]` // 4 MB
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, ok := map[string]string{"/lines": strings.Repeat(line, 80), "/long": long, "/list": list, "/one": `{"a":1,"b":"tern"}`}[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		if strings.HasPrefix(body, "[") || strings.HasPrefix(body, "{") {
			w.Header().Set("Content-Type", "application/json")
		} else {
			w.Header().Set("Content-Type", "text/plain")
		}
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(site.Close)
	config := writeFile(t, dir, "sift.toml", fmt.Sprintf("data_dir = \"state\"\n[guard]\nallow = [%q]\n", site.Listener.Addr()))
	s := serve(t, dir, nil, "--config", config)
	fetch := func(path, option, value string) (f refusal, content string, took time.Duration) {
		t.Helper()
		body, err := json.Marshal(map[string]string{"url": site.URL + path, option: value, "mode": "raw"})
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		got := ask(http.MethodPost, s.url+"/v1/fetch", "", string(body))
		took = time.Since(start)
		var env struct {
			Success bool
			Content string
		}
		if got.err != nil || json.Unmarshal([]byte(got.body), &env) != nil {
			t.Fatalf("%s %s: %+v", option, value, got)
		}
		if !env.Success {
			return got.refusal(t), "", took
		}
		return refusal{}, env.Content, took
	}
	// Every page is read once, and the service has its usual size.
	for _, path := range []string{"/lines", "/long", "/one"} {
		fetch(path, "grep", "zzz")
	}
	fetch("/list", "jq", "length")
	before := residentOf(s.Process.Pid)
	sampled := watch(s.Process.Pid)
	for _, tt := range []struct{ path, option, value string }{
		{"/one", "jq", ".a[536870911]=1"},
		{"/one", "jq", `"x"*1000000000`},
		{"/one", "jq", "def f: [f]; f"},
		{"/one", "jq", "[range(1e8)]"},
		{"/one", "jq", "repeat(1)"},
		{"/one", "jq", "[limit(1e8;repeat(1))]"},
		{"/one", "jq", "def f: f; f"},
		{"/one", "jq", "reduce range(26) as $i (123456789;.*.)"},
		{"/one", "jq", "env, $ENV"},
		{"/one", "jq", `import "a" as a; .`},
		{"/one", "jq", "input_filename, (try input catch .)"},
		{"/one", "jq", strings.Repeat("[", 900) + strings.Repeat("]", 900)},
		{"/one", "jq", strings.Repeat(".a|", 20_000) + "."},
		{"/list", "jq", "[.[] | . , .] | [. , . , .] | tojson | . * 20"},
		{"/list", "jq", "[paths]"},
		{"/lines", "grep", ".{1000}z"},
		{"/lines", "grep", "(?:a?){500}a{500}c"},
		{"/lines", "grep", "(?:(?:a{1,30}){1,30})z"},
		{"/lines", "grep", "(a+a+)+c"},
		{"/lines", "grep", "(a*)*c"},
		{"/lines", "grep", "((((a{10}){10}){10}){10})"},
		{"/lines", "grep", strings.Repeat("(", 500) + strings.Repeat(")", 500)},
		{"/lines", "grep", "."},
		{"/long", "grep", ".*"},
		{"/long", "grep", "a|b"},
	} {
		f, content, took := fetch(tt.path, tt.option, tt.value)
		what := fmt.Sprintf("%s %.60s", tt.option, tt.value)
		if took > 15*time.Second {
			t.Errorf("%s took %v", what, took)
		}
		if f.Code == "internal" || len(content) > 10<<20 {
			t.Errorf("%s: %+v, %d bytes", what, f, len(content))
		}
		if strings.Contains(content, "SIFT") || strings.Contains(content, dir) {
			t.Errorf("%s shows the environment: %.200q", what, content)
		}
		t.Logf("%6.2f s  %-12s %s", took.Seconds(), f.Code, what)
		if f, content, _ := fetch("/one", "jq", ".b"); content != `"tern"` {
			t.Errorf("after %s: %+v, %q", what, f, content)
		}
		if _, content, _ := fetch("/one", "grep", "tern"); !strings.HasPrefix(content, "1 matching line\n") {
			t.Errorf("after %s: %q", what, content)
		}
	}
	sampled.end()
	t.Logf("the service held %.0f MB before and at most %.0f meanwhile; a child at most %.0f", mega(before), mega(sampled.servicePeak), mega(sampled.childPeak))
	if sampled.servicePeak > before+150<<20 {
		t.Errorf("the service grew from %.0f to %.0f MB", mega(before), mega(sampled.servicePeak))
	}
	if sampled.childPeak > 340<<20 {
		t.Errorf("a child held %.0f MB", mega(sampled.childPeak))
	}
	if sampled.most == 0 {
		t.Error("no child was seen: this has not tried it")
	}
	s.stop(t)
	tidy(t, dir)
}
