package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sift.build/sift/internal/archive/archivetest"
	"sift.build/sift/internal/model/modeltest"
	"sift.build/sift/internal/pdf/pdftest"
	"sift.build/sift/internal/sift"
)

// shelf is a site with what can be read on request, an archive and a model.
type shelf struct {
	site    *httptest.Server
	archive *archivetest.Archive
	models  *modeltest.Server
	edition atomic.Int64 // of /handbook
	down    atomic.Bool  // the site answers 503
}

const modelSecret = "sk-guillemot-4711"

const handbook = `<!doctype html><html lang=en><head><title>Handbook</title><link rel=canonical href="/handbook"><link rel=next href="/handbook/2">
<meta name=author content="Ada Tern"></head><body><nav><a href="/">Home</a></nav><main><h1>Handbook</h1><p>Edition %d of the handbook of the harbour, for those who work on the quay.</p>
<h2>Storage</h2><p>Records are kept for ninety days in the cellar of the customs house.</p><p>The pump station was rebuilt in stages so that water never stopped flowing.</p>
<h2>Backups</h2><p>Backup retention is thirty days, and the tapes lie in the lighthouse.</p><h2>Contact</h2><p>Write to the harbour office.</p></main></body></html>`

const shellPage = `<!doctype html><html><head><title>Tolls</title><script type="application/ld+json">{"@type":"NewsArticle","headline":"Tolls",
"articleBody":"The tolls at the gate of the lock were raised in the spring, and the pilots have paid them since the middle of June without a word of complaint. Those who did not pay had to wait for the evening, when the gate stands open to everybody."}</script></head>
<body><div id=root></div><noscript>Please enable JavaScript.</noscript></body></html>`

func newShelf(t *testing.T) *shelf {
	t.Helper()
	s := &shelf{archive: archivetest.Start(t)}
	s.edition.Store(1)
	models, err := modeltest.Start(modeltest.Config{Key: modelSecret})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(models.Close)
	s.models = models
	mux := http.NewServeMux()
	serve := func(path, contentType string, body func() string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", contentType)
			_, _ = io.WriteString(w, body())
		})
	}
	serve("/handbook", "text/html; charset=utf-8", func() string { return fmt.Sprintf(handbook, s.edition.Load()) })
	serve("/shell", "text/html", func() string { return shellPage })
	serve("/api", "application/json", func() string {
		return `{"items":[{"id":12345678901234567890,"name":"tern"},{"id":2,"name":"auk"}]}`
	})
	serve("/lines", "application/x-ndjson", func() string { return "{\"n\":1}\n{\"n\":2}\n" })
	serve("/paper", "application/pdf", func() string { return string(pdftest.Paper()) })
	s.site = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.down.Load() {
			http.Error(w, "down", http.StatusServiceUnavailable)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(s.site.Close)
	s.archive.Add(archivetest.Capture{
		URL: s.site.URL + "/gone", At: time.Date(2025, 11, 2, 8, 0, 0, 0, time.UTC),
		Body: `<title>Gone</title><main><h1>Gone</h1><p>The ferry to the outer island was given up in the autumn, when the pier was washed away.</p></main>`,
	})
	return s
}

func (s *shelf) settings(more string) string {
	host := func(u string) string { return strings.TrimPrefix(u, "http://") }
	return fmt.Sprintf("data_dir = \"state\"\n[guard]\nallow = [%q, %q]\n[recover]\narchive = %q\n%s\n", host(s.site.URL), host(s.archive.URL), s.archive.URL, more)
}

// way is one way in. It answers the envelope, or the error's text.
type way struct {
	name string
	ask  func(t *testing.T, target map[string]any) (envelope, failure string)
}

// ways are all of them, on one server and on the command line by itself.
func (s *shelf) ways(t *testing.T, more string) []way {
	t.Helper()
	dir := t.TempDir()
	config := writeFile(t, dir, "sift.toml", s.settings(more))
	env := []string{"SIFT_DIGEST_KEY=" + modelSecret}
	server := serve(t, dir, env, "--config", config)
	alone := t.TempDir()
	aloneConfig := writeFile(t, alone, "sift.toml", s.settings(more))
	flags := func(target map[string]any) (out []string) {
		for _, name := range slices.Sorted(maps.Keys(target)) {
			if name == "url" {
				continue
			}
			out = append(out, fmt.Sprintf("--%s=%v", strings.ReplaceAll(name, "_", "-"), target[name]))
		}
		return append(out, target["url"].(string))
	}
	envelopeOf := func(body string) (string, string) {
		var f sift.FailureJSON
		if err := json.Unmarshal([]byte(body), &f); err != nil {
			return "", "no JSON: " + body
		}
		if !f.Success {
			return "", f.Error
		}
		return body, ""
	}
	result := func(t *testing.T, raw []byte) (string, string) {
		var target sift.JobTarget
		if err := json.Unmarshal(raw, &target); err != nil {
			t.Fatal(err)
		}
		return string(target.Result), target.Error
	}
	body := func(t *testing.T, v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	return []way{
		{"POST", func(t *testing.T, target map[string]any) (string, string) {
			return envelopeOf(ask(http.MethodPost, server.url+"/v1/fetch", "", body(t, target)).body)
		}},
		{"GET", func(_ *testing.T, target map[string]any) (string, string) {
			q := url.Values{}
			for name, v := range target {
				q.Set(name, fmt.Sprint(v))
			}
			return envelopeOf(get(server.url + "/v1/fetch?" + q.Encode()).body)
		}},
		{"the command line by itself", func(t *testing.T, target map[string]any) (string, string) {
			_, out, _ := runSift(t, alone, env, append([]string{"fetch", "--json", "--config", aloneConfig}, flags(target)...)...)
			return envelopeOf(out)
		}},
		{"the command line with a server", func(t *testing.T, target map[string]any) (string, string) {
			_, out, _ := runSift(t, alone, nil, append([]string{"fetch", "--json", "--server", server.url}, flags(target)...)...)
			return envelopeOf(out)
		}},
		{"a batch", func(t *testing.T, target map[string]any) (string, string) {
			got := ask(http.MethodPost, server.url+"/v1/batch", "", body(t, map[string]any{"targets": []any{target}, "fresh": true}))
			if got.status != http.StatusAccepted {
				_, text := envelopeOf(got.body)
				return "", strings.Replace(text, "targets[0]: ", "", 1)
			}
			var sub sift.Submitted
			if err := json.Unmarshal([]byte(got.body), &sub); err != nil {
				t.Fatal(err)
			}
			job := server.follow(t, "", sub.JobID, "its end", ended)
			return string(job.Targets[0].Result), job.Targets[0].Error
		}},
		{"a batch of the command line", func(t *testing.T, target map[string]any) (string, string) {
			file := writeFile(t, alone, "targets.json", body(t, map[string]any{"targets": []any{target}}))
			_, out, stderr := runSift(t, alone, nil, "batch", "submit", "--server", server.url, "--fresh", file)
			var sub sift.Submitted
			if json.Unmarshal([]byte(out), &sub) != nil || sub.JobID == "" {
				text := strings.Replace(strings.TrimPrefix(strings.SplitN(stderr, "\n", 2)[0], "sift: "), "targets[0]: ", "", 1)
				return "", text
			}
			_, out, _ = runSift(t, alone, nil, "batch", "wait", "--server", server.url, sub.JobID)
			return result(t, []byte(strings.SplitN(out, "\n", 2)[0]))
		}},
	}
}

// read is what an envelope says beside when and how it was had.
type read struct {
	Mode       sift.Mode
	Title      string
	Content    string
	TotalChars int  `json:"total_chars"`
	NextOffset *int `json:"next_offset"`
	Coverage   float64
	Pages      *sift.Pages
	Section    *sift.Section
	Digest     *sift.Digest
	Context    *sift.Context
	Recovered  *struct {
		Source                     sift.Source
		From, URL, Archive, Reason string
	}
	Warnings []sift.Warning
	Hint     sift.Hint
}

func TestEveryWayInReadsAlike(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	at := func(path string) string { return s.site.URL + path }
	plain := s.ways(t, "")
	for _, tt := range []struct {
		name   string
		target map[string]any
		check  func(read) bool
		fails  string // instead
	}{
		{"a section", map[string]any{"url": at("/handbook"), "section": "backups"}, func(r read) bool {
			return r.Section.Text == "Backups" && strings.HasPrefix(r.Content, "## Backups") && !strings.Contains(r.Content, "Contact")
		}, ""},
		{"an unknown section", map[string]any{"url": at("/handbook"), "section": "Tides"}, nil, `"Storage"`},
		{"grep in a section", map[string]any{"url": at("/handbook"), "section": "Storage", "grep": "days|tapes"}, func(r read) bool {
			return strings.HasPrefix(r.Content, "1 matching line\n")
		}, ""},
		{"a broken pattern", map[string]any{"url": at("/handbook"), "grep": "kept (for"}, nil, "pattern"},
		{"a question", map[string]any{"url": at("/handbook"), "question": "How long are backups kept?"}, func(r read) bool {
			return r.Digest.Method == sift.DigestExtractive && strings.Contains(r.Digest.Answer, "thirty days")
		}, ""},
		{"a question that nothing answers", map[string]any{"url": at("/handbook"), "question": "Which kubernetes operators are supported?"}, func(r read) bool {
			return r.Digest.Passages != nil && len(r.Digest.Passages) == 0 && strings.HasPrefix(r.Content, "Nothing on this page")
		}, ""},
		{"a question to pages of a PDF", map[string]any{"url": at("/paper"), "pages": "1-2", "question": "Why is rain easy to hear?"}, func(r read) bool {
			return len(r.Digest.Passages) > 0 && !slices.ContainsFunc(r.Digest.Passages, func(p sift.Passage) bool { return p.Page < 1 || p.Page > 2 }) && r.Pages.Total == 6
		}, ""},
		{"jq", map[string]any{"url": at("/api"), "jq": ".items[] | {id, name}"}, func(r read) bool {
			return r.Content == `{"id":12345678901234567890,"name":"tern"}`+"\n"+`{"id":2,"name":"auk"}`
		}, ""},
		{"jq of lines, slurped", map[string]any{"url": at("/lines"), "jq": "[inputs.n] | add"}, func(r read) bool { return r.Content == "3" }, ""},
		{"jq, then a window", map[string]any{"url": at("/api"), "jq": ".items[] | {id, name}", "offset": 42}, func(r read) bool {
			return r.Content == `{"id":2,"name":"auk"}` && r.NextOffset == nil
		}, ""},
		{"a broken program", map[string]any{"url": at("/api"), "jq": ".items["}, nil, "jq"},
		{"jq of HTML", map[string]any{"url": at("/handbook"), "jq": "."}, nil, "HTML"},
		{"context", map[string]any{"url": at("/handbook"), "context": true}, func(r read) bool {
			return r.Context.Canonical == at("/handbook") && r.Context.Next == at("/handbook/2") && slices.Equal(r.Context.Authors, []string{"Ada Tern"}) && len(r.Context.Outline) == 4
		}, ""},
		{"recover of a live page", map[string]any{"url": at("/handbook"), "recover": true}, func(r read) bool { return r.Recovered.Source == sift.SourceLive }, ""},
		{"recover of a shell", map[string]any{"url": at("/shell"), "recover": true}, func(r read) bool {
			return r.Recovered.Source == sift.SourcePage && r.Recovered.From == "json-ld" && strings.Contains(r.Content, "had to wait for the evening")
		}, ""},
		{"recover from the archive", map[string]any{"url": at("/gone"), "recover": true}, func(r read) bool {
			return r.Recovered.Source == sift.SourceArchive && strings.Contains(r.Content, "outer island") && strings.HasPrefix(r.Recovered.URL, s.archive.URL+"/web/20251102080000")
		}, ""},
		{"recover from the archive, with a question", map[string]any{"url": at("/gone"), "recover": true, "question": "Why was the ferry given up?"}, func(r read) bool {
			return strings.Contains(r.Digest.Answer, "pier was washed away")
		}, ""},
		{"an archived copy that is too old", map[string]any{"url": at("/gone"), "recover": true, "min_date": "2026-01-01"}, nil, "nothing was recovered"},
		{"min_date alone", map[string]any{"url": at("/handbook"), "min_date": "2026-01-01"}, nil, "recover"},
		{"a question and grep", map[string]any{"url": at("/handbook"), "grep": "a", "question": "backups"}, nil, "question and grep"},
	} {
		var first string
		for i, w := range plain {
			envelope, failure := w.ask(t, tt.target)
			if tt.fails != "" {
				if envelope != "" || !strings.Contains(failure, tt.fails) {
					t.Errorf("%s, %s: %q, %s", tt.name, w.name, failure, envelope)
				}
				continue
			}
			var r read
			if err := json.Unmarshal([]byte(envelope), &r); err != nil || failure != "" {
				t.Errorf("%s, %s: %v, %s", tt.name, w.name, err, failure)
				continue
			}
			canonical, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				first = string(canonical)
				if !tt.check(r) {
					t.Errorf("%s: %s", tt.name, envelope)
				}
			} else if diff := cmp.Diff(first, string(canonical)); diff != "" {
				t.Errorf("%s, %s is another answer:\n%s", tt.name, w.name, diff)
			}
		}
	}
}

func TestEveryWayInAsksTheModelsAndNoneShowsTheKey(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	for i, w := range s.ways(t, fmt.Sprintf("[digest]\nembeddings_url = %q\nembeddings_model = \"e\"\nchat_url = %q\nchat_model = \"c\"\n", s.models.URL, s.models.URL)) {
		envelope, failure := w.ask(t, map[string]any{"url": s.site.URL + "/handbook", "question": "How long are backups kept?"})
		var r read
		if err := json.Unmarshal([]byte(envelope), &r); err != nil || failure != "" {
			t.Fatalf("%s: %v, %s", w.name, err, failure)
		}
		if r.Digest == nil || r.Digest.Method != sift.DigestLLM || !strings.Contains(r.Digest.Answer, "[") || len(r.Warnings) != 0 {
			t.Errorf("%s: %s", w.name, envelope)
		}
		if strings.Contains(envelope, modelSecret) {
			t.Errorf("%s shows the key", w.name)
		}
		if i == 0 && len(s.models.Requests("/chat/completions")) != 1 {
			t.Errorf("%d requests to the chat model", len(s.models.Requests("/chat/completions")))
		}
	}
}

// A snapshot is one copy in every form, whatever the site does meanwhile.
func TestASnapshotIsReadInEveryWayWhileTheSiteChanges(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	w := s.ways(t, "")[0]
	get := func(target map[string]any) (r read, snapshot string) {
		t.Helper()
		target["url"] = s.site.URL + "/handbook"
		envelope, failure := w.ask(t, target)
		var snap struct{ Snapshot string }
		if json.Unmarshal([]byte(envelope), &r) != nil || json.Unmarshal([]byte(envelope), &snap) != nil || failure != "" {
			t.Fatalf("%v: %s%s", target, envelope, failure)
		}
		return r, snap.Snapshot
	}
	_, snapshot := get(map[string]any{})
	s.edition.Store(2)
	if r, _ := get(map[string]any{"max_age": 0}); !strings.Contains(r.Content, "Edition 2") {
		t.Fatalf("%s", r.Content)
	}
	s.down.Store(true)
	for _, options := range []map[string]any{
		{}, {"mode": "text"}, {"mode": "full"}, {"mode": "raw"}, {"section": "Handbook"}, {"grep": "Edition"}, {"question": "Which edition is this handbook?"}, {"recover": true}, {"context": true},
	} {
		options["snapshot"] = snapshot
		if r, got := get(options); !strings.Contains(r.Content, "Edition 1") || got != snapshot {
			t.Errorf("%v: %s", options, r.Content)
		}
	}
	// With the site down the newest copy is what recover falls back to, and it is called stale.
	if r, _ := get(map[string]any{"max_age": 0, "recover": true}); r.Recovered.Source != sift.SourceStale || !strings.Contains(r.Content, "Edition 2") || !strings.Contains(r.Recovered.Reason, "503") {
		t.Errorf("%+v: %s", r.Recovered, r.Content)
	}
}

// Where a copy comes from is told where the envelope is not seen, too.
func TestARecoveredCopyIsLabelledWithoutItsEnvelope(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	dir := t.TempDir()
	config := writeFile(t, dir, "sift.toml", s.settings(""))
	server := serve(t, dir, nil, "--config", config)
	const moment = "2025-11-02T08:00:00Z"
	for name, args := range map[string][]string{"alone": {"--config", config}, "with a server": {"--server", server.url}} {
		_, out, stderr := runSift(t, dir, nil, append([]string{"fetch", "--recover", s.site.URL + "/gone"}, args...)...)
		if !strings.Contains(out, "outer island") || !containsAll(stderr, []string{"archive copy of " + moment, s.archive.URL + "/web/20251102080000"}) {
			t.Errorf("%s: %s%s", name, out, stderr)
		}
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.url+"/v1/fetch?recover=true&url="+url.QueryEscape(s.site.URL+"/gone"), nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/markdown")
	resp, err := web.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if got := resp.Header.Get("X-Sift-Recovered"); !strings.HasPrefix(got, "archive "+moment+" "+s.archive.URL+"/web/20251102080000") {
		t.Errorf("the header is %q", got)
	}
}

func TestAnEmptyOptionOfTheCommandLineIsAMistake(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	dir := t.TempDir()
	config := writeFile(t, dir, "sift.toml", s.settings(""))
	for _, option := range []string{"question", "section", "grep", "jq"} {
		code, out, stderr := runSift(t, dir, nil, "fetch", "--config", config, "--"+option, "", s.site.URL+"/handbook")
		if code != exitUsage || out != "" || !strings.Contains(stderr, "--"+option+" is empty") {
			t.Errorf("%d: %s%s", code, out, stderr)
		}
	}
	code, out, stderr := runSift(t, dir, nil, "fetch", "--config", config, "--context", s.site.URL+"/handbook")
	if code != exitUsage || out != "" || !strings.Contains(stderr, "--json") {
		t.Errorf("%d: %s%s", code, out, stderr)
	}
}

func TestAKeyThatCannotBeReadIsFoundBeforeTheServiceStarts(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	for name, key := range map[string]string{"missing": "", "empty": "\n", "two lines": "a\nb\n"} {
		dir := t.TempDir()
		file := dir + "/key"
		if name != "missing" {
			file = writeFile(t, dir, "key", key)
		}
		config := writeFile(t, dir, "sift.toml", s.settings(fmt.Sprintf("[digest]\nchat_url = %q\nchat_model = \"c\"\nkey_file = %q\n", s.models.URL, file)))
		for _, command := range [][]string{{"config", "check"}, {"serve", "--listen", "127.0.0.1:0"}} {
			code, _, stderr := runSift(t, dir, nil, append(command, "--config", config)...)
			if code != exitUsage || !strings.Contains(stderr, "key") {
				t.Errorf("%s, %s: %d: %s", name, command[0], code, stderr)
			}
		}
		// Who only fetches needs no key.
		code, out, stderr := runSift(t, dir, nil, "fetch", "--config", config, s.site.URL+"/handbook")
		if code != 0 || !strings.Contains(out, "Handbook") || !strings.Contains(stderr, "going on without models") {
			t.Errorf("%s: %d: %s%s", name, code, out, stderr)
		}
	}
}
