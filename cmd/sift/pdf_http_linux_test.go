package main

import (
	"bytes"
	"compress/gzip"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"sift.build/sift/internal/pdf/pdftest"
)

// request asks the server with the fields given as name, value, ….
func (s *server) request(t testing.TB, key string, fields ...any) reply {
	t.Helper()
	m := make(map[string]any)
	for i := 0; i < len(fields); i += 2 {
		m[fields[i].(string)] = fields[i+1]
	}
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return ask(http.MethodPost, s.url+"/v1/fetch", key, string(b))
}

// refusal is what a failed request says.
type refusal struct {
	Error, Code, Hint string
	RetryAfter        float64 `json:"retry_after"`
}

func (r reply) refusal(t testing.TB) (f refusal) {
	t.Helper()
	if err := json.Unmarshal([]byte(r.body), &f); err != nil {
		t.Errorf("%+v: %v", r, err)
	}
	return f
}

func TestPagesOfAPDFThatAreNotThereAreRefusedWithTheirNumber(t *testing.T) {
	t.Parallel()
	site, dir := newPDFSite(t), t.TempDir()
	s := serve(t, dir, nil, "--config", writeFile(t, dir, "sift.toml", site.settings("")))
	file := site.at("", "pages", "")
	hundred := strings.TrimSuffix(strings.Repeat("2,", 100), ",")
	for _, c := range []struct {
		pages  string
		status int
		says   string
	}{
		{"4", 400, "the PDF has 3 pages"},
		{"1,4-", 400, "page 4 is out of range: the PDF has 3 pages"},
		{"8388607", 400, "the PDF has 3 pages"},
		{"8388608", 400, "no PDF has that many pages"},
		{"99999999999999999999999", 400, "no PDF has that many pages"},
		{"0", 400, "the first page is 1"},
		{"-1", 400, "write pages like 1-3,7,10-"},
		{"1--3", 400, "write pages like"},
		{"1;2", 400, "write pages like"},
		{"٣", 400, "write pages like"},
		{"3-1", 400, "write 1-3"},
		{hundred + ",2", 400, "at most 100"},
		{hundred, 200, "marker-page-2"},
		{" 2 , 2 - 2 ", 200, "marker-page-2"},
		{"2-8388607", 200, "marker-page-3"},
		{"", 200, "marker-page-1"},
	} {
		got := s.request(t, "", "url", file, "pages", c.pages)
		if got.status != c.status || !strings.Contains(got.body, c.says) {
			t.Errorf("%q: %+v, want %d %q", c.pages, got, c.status, c.says)
		}
		if c.status == 400 && got.refusal(t).Code != "invalid" {
			t.Errorf("%q: %+v", c.pages, got)
		}
	}
	if n := s.metric(t, `sift_pdf_extractions_total{outcome="ok"}`); n != 1 {
		t.Errorf("it was read %v times", n)
	}
	if n := site.count("pages"); n != 1 {
		t.Errorf("it was fetched %d times", n)
	}
	s.stop(t)
}

func TestAPasswordOpensAPDFAndIsKeptNowhere(t *testing.T) {
	t.Parallel()
	site, dir := newPDFSite(t), t.TempDir()
	s := serve(t, dir, nil, "--log-level", "debug", "--config", writeFile(t, dir, "sift.toml", site.settings(caller("ann")+caller("bob"))))
	file := site.at("", "locked", "")
	locked := func(who, password, says string) {
		t.Helper()
		got := s.request(t, keyOf(who), "url", file, "password", password)
		if f := got.refusal(t); got.status != 415 || f.Code != "unsupported" || f.Hint != "password" || !strings.Contains(f.Error, says) {
			t.Errorf("%q: %+v", password, got)
		}
	}
	open := func() {
		t.Helper()
		got := s.request(t, keyOf("ann"), "url", file, "password", "hunter2")
		if got.status != 200 || !containsAll(got.body, []string{"The vault is open.", `"snapshot":""`, `"hit":false`}) {
			t.Errorf("opened: %+v", got)
		}
	}
	locked("ann", "", "needs a password")
	locked("ann", "hunter3", "does not open")
	locked("ann", strings.Repeat("x", 127), "does not open")
	locked("ann", "a\x00b", "does not open")
	locked("ann", "\xff\xfe", "does not open")
	open()
	open()
	// What one has opened is closed to the next, and to the same one without it.
	locked("ann", "", "needs a password")
	locked("bob", "", "needs a password")
	locked("bob", "hunter22", "does not open")
	if got := s.request(t, keyOf("ann"), "url", file, "password", strings.Repeat("x", 128)); got.status != 400 || got.refusal(t).Code != "invalid" {
		t.Errorf("a giant password: %+v", got)
	}
	if got := s.request(t, keyOf("ann"), "url", file, "password", strings.Repeat("x", 200_000)); got.status != 413 && got.status != 400 {
		t.Errorf("a password longer than a request may be: %d", got.status)
	}
	if got := ask(http.MethodGet, s.url+"/v1/fetch?password=hunter2&url="+url.QueryEscape(file), keyOf("ann"), ""); got.status != 200 {
		t.Errorf("by GET: %+v", got)
	}
	if n := site.count("locked"); n != 11 {
		t.Errorf("it was fetched %d times", n)
	}
	// A file without protection opens with any password, and is kept no less.
	free := site.at("", "pages", "")
	if got := s.request(t, keyOf("ann"), "url", free, "password", "any"); got.status != 200 || !strings.Contains(got.body, "marker-page-3") {
		t.Errorf("an open file: %+v", got)
	}
	s.stop(t)
	for _, secret := range []string{"hunter", "vault"} {
		if strings.Contains(s.log.String(), secret) {
			t.Errorf("%q is in the log:\n%s", secret, s.log)
		}
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, "state", "sift.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, table := range tables(t, db) {
		for _, value := range values(t, db, table) {
			if bytes.Contains(value, []byte("hunter2")) || bytes.Contains(value, []byte("locked.pdf")) {
				t.Errorf("the store keeps %.200q in %s", value, table)
			}
		}
	}
}

func tables(t *testing.T, db *sql.DB) (names []string) {
	t.Helper()
	rows, err := db.Query("SELECT name FROM sqlite_master WHERE type = 'table'")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	if rows.Err() != nil || len(names) < 2 {
		t.Fatalf("%v, %v", names, rows.Err())
	}
	return names
}

// values are all values of all rows of a table.
func values(t *testing.T, db *sql.DB, table string) (all [][]byte) {
	t.Helper()
	rows, err := db.Query("SELECT * FROM " + strconv.Quote(table))
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		row, at := make([]sql.RawBytes, len(columns)), make([]any, len(columns))
		for i := range row {
			at[i] = &row[i]
		}
		if err := rows.Scan(at...); err != nil {
			t.Fatal(err)
		}
		for _, v := range row {
			all = append(all, bytes.Clone(v))
		}
	}
	if rows.Err() != nil {
		t.Fatal(rows.Err())
	}
	return all
}

func TestPDFsWaitTheirTurnAndTheNextIsAskedToComeBack(t *testing.T) {
	t.Parallel()
	site, dir := newPDFSite(t), t.TempDir()
	var people strings.Builder
	for i := range 8 {
		people.WriteString(caller(fmt.Sprint("caller", i)))
	}
	s := serve(t, dir, nil, "--config", writeFile(t, dir, "sift.toml", site.settings("[pdf]\nwait = \"2m\"\n"+people.String())))
	key := func(i int) string { return keyOf(fmt.Sprint("caller", i)) }
	var answers []<-chan reply
	for i := range 2 {
		answers = append(answers, s.asking(key(i), site.at("", "slow", fmt.Sprint(i))))
	}
	running := hold(t, s.process, "pdf", 2)
	for i := 2; i < 6; i++ {
		answers = append(answers, s.asking(key(i), site.at("", "pages", fmt.Sprint(i))))
	}
	s.becomes(t, "sift_pdf_queued", 4)

	full := s.fetch(key(6), site.at("", "pages", "6"))
	if f := full.refusal(t); full.status != 429 || f.Code != "busy" || f.Hint != "retry" || f.RetryAfter <= 0 || !strings.Contains(f.Error, "PDF readers are busy") {
		t.Errorf("the one too many: %+v", full)
	}
	if after := retryAfter(t, s, key(6), site.at("", "pages", "6")); after == "" {
		t.Error("it is not told when to come back")
	}
	// A caller with a PDF in work is told so, and may share another's.
	mine := s.fetch(key(0), site.at("", "pages", "7"))
	if f := mine.refusal(t); mine.status != 429 || f.Code != "busy" || !strings.Contains(f.Error, "already has a PDF") {
		t.Errorf("a second PDF of one caller: %+v", mine)
	}
	shared := s.asking(key(1), site.at("", "pages", "2"))
	// Pages of other kinds do not wait for PDFs.
	if n := len(readersOf(s.Process.Pid, "pdf")); n != 2 {
		t.Errorf("%d children run", n)
	}
	letGo(running)
	for i, answer := range append(answers, shared) {
		if got := receive(t, "an answer", answer); got.status != 200 {
			t.Errorf("%d: %+v", i, got)
		}
	}
	if n := s.metric(t, `sift_pdf_extractions_total{outcome="ok"}`); n != 6 {
		t.Errorf("%v were read", n)
	}
	s.becomes(t, "sift_pdf_running", 0)
	s.becomes(t, "sift_pdf_queued", 0)
	s.stop(t)
	tidy(t, dir)
}

// retryAfter is the header of that name.
func retryAfter(t *testing.T, s *server, key, target string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/v1/fetch?url="+target, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+key)
	resp, err := web.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusTooManyRequests {
		t.Errorf("status %d", resp.StatusCode)
	}
	return resp.Header.Get("Retry-After")
}

func TestTheSamePDFIsReadOnceForAllWhoAskAtOnce(t *testing.T) {
	t.Parallel()
	site, dir := newPDFSite(t), t.TempDir()
	var people strings.Builder
	for i := range 6 {
		people.WriteString(caller(fmt.Sprint("caller", i), fmt.Sprintf("class = \"class%d\"", i)))
	}
	s := serve(t, dir, nil, "--config", writeFile(t, dir, "sift.toml", site.settings(people.String())))
	var answers []<-chan reply
	for i := range 6 {
		// By six addresses, for callers of six classes, the same bytes.
		target := strings.Replace(site.at(fmt.Sprint("host", i), "slow", "same"), "/slow.pdf", fmt.Sprintf("/%d/slow.pdf", i), 1)
		answers = append(answers, s.asking(keyOf(fmt.Sprint("caller", i)), target))
		if i == 0 {
			defer letGo(hold(t, s.process, "pdf", 1))
		}
	}
	look(t, "all of them have been fetched", 20*time.Millisecond, func() bool { return site.count("slow") == 6 })
	if running, queued := s.metric(t, "sift_pdf_running"), s.metric(t, "sift_pdf_queued"); running != 1 || queued != 0 {
		t.Errorf("%v run and %v wait", running, queued)
	}
	letGo(readersOf(s.Process.Pid, "pdf"))
	for i, answer := range answers {
		if got := receive(t, "an answer", answer); got.status != 200 {
			t.Errorf("%d: %+v", i, got)
		}
	}
	if n := s.metric(t, `sift_pdf_extractions_total{outcome="ok"}`); n != 1 {
		t.Errorf("it was read %v times", n)
	}
	s.stop(t)
}

func TestNothingOfTheHostilePDFsOfARestrictedCallerIsInTheLog(t *testing.T) {
	t.Parallel()
	site, dir := newPDFSite(t), t.TempDir()
	names := []string{"pages", "locked", "flate-1g", "noise", "objects-noise", "header-only", "half", "kids-self", "root-missing", "lock-self", "lock-short",
		"text-10m", "saves-1m", "info-16m", "acts", "outline-title-16m", "xmp-1g", "jpx-noise", "sizes-wild"}
	if testing.Short() {
		names = names[:6]
	}
	settings := site.settings("[log]\nlevel = \"debug\"\n" + caller("hush", "restricted = true") + caller("plain"))
	config := writeFile(t, dir, "sift.toml", settings)
	// The words of the files, and what their addresses hold.
	secrets := []string{secretHost, secretPath, secretQuery, "hunter", "vault", "marker-page", "quick brown", "nothing must happen", "the page is sound", "title title"}
	read := func(s *server, who string) {
		for _, name := range names {
			target := strings.Replace(site.at(secretHost, name, secretQuery), "/"+name, "/"+secretPath+"/"+name, 1)
			if got := s.request(t, keyOf(who), "url", target, "password", "hunter3"); got.err != nil || got.status == 500 || got.status == 400 {
				t.Errorf("%s: %+v", name, got)
			}
			if got := s.request(t, keyOf(who), "url", target); got.err != nil || got.status == 500 || got.status == 400 {
				t.Errorf("%s: %+v", name, got)
			}
			if got := s.request(t, keyOf(who), "url", target, "pages", "777"); got.err != nil || got.status == 500 {
				t.Errorf("%s: %+v", name, got)
			}
		}
		// A reader that is killed from outside, as the kernel does when memory is short.
		target := site.at(secretHost, "slow", secretQuery)
		answer := s.asking(keyOf(who), target)
		for _, pid := range hold(t, s.process, "pdf", 1) {
			p, err := os.FindProcess(pid)
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Kill(); err != nil {
				t.Fatal(err)
			}
		}
		if got := receive(t, "an answer", answer); got.status != 429 || got.refusal(t).RetryAfter <= 0 || strings.Contains(got.body, "goroutine") {
			t.Errorf("a reader that was killed: %+v", got)
		}
	}
	s := serve(t, dir, nil, "--config", config)
	read(s, "hush")
	if n := s.metric(t, `sift_pdf_killed_total{reason="crash"}`); n != 1 {
		t.Errorf("%v crashes are counted", n)
	}
	metrics := get(s.url + "/metrics").body
	s.stop(t)
	if n := strings.Count(s.log.String(), "hush"); n < 3*len(names) {
		t.Errorf("the log has only %d lines about them:\n%s", n, s.log)
	}
	for line := range strings.Lines(s.log.String() + metrics) {
		if i := slices.IndexFunc(secrets, func(w string) bool { return strings.Contains(strings.ToLower(line), w) }); i >= 0 {
			t.Errorf("%q is told: %s", secrets[i], line)
		}
	}
	tidy(t, dir)

	// Of another caller, addresses are, or this proves nothing; what is in the
	// files is not.
	s = serve(t, dir, nil, "--config", config)
	names = names[:4]
	read(s, "plain")
	s.stop(t)
	if !strings.Contains(s.log.String(), secretHost) {
		t.Error("nothing is logged of another caller either")
	}
	for _, secret := range secrets[3:] {
		if strings.Contains(s.log.String(), secret) {
			t.Errorf("%q is in the log", secret)
		}
	}
}

// gzipped is data as gzip has it.
func gzipped(t *testing.T, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestAPDFIsToldByItsBytesInWhateverItComes(t *testing.T) {
	t.Parallel()
	prepare(t)
	file := pdftest.Pages("In a PDF.")
	html := []byte("<!doctype html><title>Page</title><main><p>This is a page of HTML, which tells of a file that begins with %PDF-1.7 and goes on.</p></main>\n")
	const isPDF, isHTML = "In a PDF.", "This is a page of HTML"
	cases := []struct {
		name, contentType, encoding string
		body                        []byte
		status                      int
		says                        string
	}{
		{"right", "application/pdf", "", file, 200, isPDF},
		{"as bytes", "application/octet-stream", "", file, 200, isPDF},
		{"as HTML", "text/html; charset=utf-8", "", file, 200, isPDF},
		{"as text", "text/plain", "", file, 200, isPDF},
		{"as an image", "image/png", "", file, 200, isPDF},
		{"as JSON", "application/json", "", file, 200, isPDF},
		{"with no type", "", "", file, 200, isPDF},
		{"with a broken type", "application/pdf; charset=\"", "", file, 200, isPDF},
		{"compressed on the way", "application/pdf", "gzip", gzipped(t, file), 200, isPDF},
		{"compressed twice on the way", "application/pdf", "gzip, gzip", gzipped(t, gzipped(t, file)), 200, isPDF},
		{"compressed on the way, which is not said", "application/pdf", "", gzipped(t, file), 200, isPDF},
		{"said to be compressed and not", "application/pdf", "gzip", file, 200, isPDF},
		{"in a gzip file", "application/gzip", "", gzipped(t, file), 415, "application/gzip"},
		{"in a gzip file twice", "application/gzip", "", gzipped(t, gzipped(t, file)), 415, "application/gzip"},
		{"HTML that has the mark", "text/html", "", html, 200, isHTML},
		{"HTML that has the mark, called a PDF", "application/pdf", "", html, 415, "PDF is damaged"},
		{"HTML before, called a PDF", "application/pdf", "", append(bytes.Clone(html), file...), 200, isPDF},
		{"HTML before, called HTML", "text/html", "", append(bytes.Clone(html), file...), 200, isHTML},
		{"HTML behind", "text/html", "", append(bytes.Clone(file), html...), 200, isPDF},
		{"the mark alone", "application/pdf", "", []byte("%PDF-"), 415, "PDF is damaged"},
		{"a PDF by its type alone", "application/pdf", "", []byte("\x00\x01\x02 nothing"), 415, ""},
		{"nothing, called a PDF", "application/pdf", "", nil, 200, ""},
		{"a bomb of a gzip", "application/pdf", "gzip", gzipped(t, append(bytes.Clone(file), make([]byte, 60<<20)...)), 413, ""},
	}
	site, dir := newPDFSite(t), t.TempDir()
	served := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/"))
		if err != nil || n >= len(cases) {
			http.NotFound(w, r)
			return
		}
		c := cases[n]
		w.Header()["Content-Type"] = nil // or net/http guesses
		if c.contentType != "" {
			w.Header().Set("Content-Type", c.contentType)
		}
		if c.encoding != "" {
			w.Header().Set("Content-Encoding", c.encoding)
		}
		_, _ = w.Write(c.body)
	}))
	t.Cleanup(served.Close)
	settings := strings.Replace(site.settings(""), "allow = [", fmt.Sprintf("allow = [%q, ", served.Listener.Addr()), 1)
	s := serve(t, dir, nil, "--config", writeFile(t, dir, "sift.toml", settings))
	for i, c := range cases {
		got := s.fetch("", fmt.Sprintf("%s/%d", served.URL, i))
		if got.status != c.status || !strings.Contains(got.body, c.says) || got.status == 200 && c.says == isPDF && !strings.Contains(got.body, `"pages":{"total":1,"returned":[1]}`) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
	s.stop(t)
	tidy(t, dir)
}
