package main

import (
	"bytes"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	_ "modernc.org/sqlite" // to look at a store after a kill
)

// caller is a [[caller]] of a configuration whose key is its name.
func caller(name string, more ...string) string {
	hash := sha256.Sum256([]byte(keyOf(name)))
	return fmt.Sprintf("[[caller]]\nname = %q\nkey_sha256 = %q\n%s\n", name, hex.EncodeToString(hash[:]), strings.Join(more, "\n"))
}

func keyOf(name string) string { return "sift_key-of-" + name }

func TestTheServiceAnswersAndEverySeriesIsThereAtZero(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := serve(t, dir, nil)

	got := get(s.url + "/metrics")
	if got.status != http.StatusOK {
		t.Fatalf("metrics: %+v", got)
	}
	doc, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := regexp.MustCompile("(?m)^\\| `(sift_[a-z_]+)").FindAllStringSubmatch(string(doc), -1)
	if len(documented) < 15 {
		t.Fatalf("docs/metrics.md lists %d series", len(documented))
	}
	for _, d := range documented {
		if !regexp.MustCompile(`(?m)^` + d[1] + `(_bucket|_count)?[{ ]`).MatchString(got.body) {
			t.Errorf("%s is documented and not there", d[1])
		}
	}
	notZero := map[string]string{"sift_build_info": "1", "sift_gate_slots": "8"}
	values := 0
	for _, line := range regexp.MustCompile(`(?m)^(sift_[a-z_]+)(\{.*\})? (\S+)$`).FindAllStringSubmatch(got.body, -1) {
		values++
		want, ok := notZero[line[1]]
		if !ok {
			want = "0"
		}
		if line[3] != want {
			t.Errorf("%s%s is %s at the start, want %s", line[1], line[2], line[3], want)
		}
	}
	if values < 100 {
		t.Errorf("only %d values; labels are missing", values)
	}

	for _, probe := range []string{"/healthz", "/readyz"} {
		got := get(s.url + probe)
		var state struct{ Status, Version string }
		if err := json.Unmarshal([]byte(got.body), &state); err != nil || got.status != http.StatusOK || state.Status == "" || state.Version != "dev" {
			t.Errorf("%s: %+v", probe, got)
		}
	}
	if got := get(s.url + "/openapi.yaml"); got.status != http.StatusOK || !strings.HasPrefix(got.body, "openapi: 3.1") {
		t.Errorf("openapi: %d", got.status)
	}
	s.stop(t)
	tidy(t, dir)
}

func TestASecondServerOnADataFolderIsRefusedByName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := serve(t, dir, nil, "--data-dir", "state")
	code, out, stderr := runSift(t, dir, nil, "serve", "--listen", "127.0.0.1:0", "--data-dir", "state")
	if code != exitFailure || out != "" {
		t.Errorf("exit %d, output %q", code, out)
	}
	for _, part := range []string{filepath.Join(dir, "state"), "in use by another sift server", "pid " + strconv.Itoa(first.Process.Pid)} {
		if !strings.Contains(stderr, part) {
			t.Errorf("%q does not say %q", stderr, part)
		}
	}
	if strings.Count(stderr, "\n") != 1 {
		t.Errorf("more than one line: %q", stderr)
	}
	if got := get(first.url + "/healthz"); got.status != http.StatusOK {
		t.Errorf("the first one: %+v", got)
	}
	first.stop(t)
	serve(t, dir, nil, "--data-dir", "state").stop(t)
}

func TestAPortThatIsTakenIsSaidAndLeavesNoLock(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	address := taken.Addr().String()
	for _, args := range [][]string{
		{"serve", "--listen", address},
		{"serve", "--listen", "127.0.0.1:0", "--config", writeFile(t, dir, "metrics.toml", fmt.Sprintf("[metrics]\nlisten = %q\n", address))},
	} {
		code, _, stderr := runSift(t, dir, nil, args...)
		if code != exitFailure {
			t.Errorf("%q ended with %d", args, code)
		}
		last := stderr[strings.LastIndex(strings.TrimSuffix(stderr, "\n"), "\n")+1:]
		if !strings.HasPrefix(last, "sift: cannot listen on "+address+" (key ") || !strings.Contains(last, "address already in use; another program") {
			t.Errorf("%q said %q", args, last)
		}
		if strings.Count(last, address) != 1 {
			t.Errorf("the address is there more than once: %q", last)
		}
	}
	serve(t, dir, nil).stop(t) // the same data folder, at once
}

func TestWithoutCallersOnlyProgramsOfThisMachineAreServed(t *testing.T) {
	t.Parallel()
	site, dir := newSite(t), t.TempDir()
	s := serve(t, dir, nil, "--config", writeFile(t, dir, "sift.toml", site.settings("")))
	target := "/v1/fetch?url=" + site.URL + "/article"
	for name, c := range map[string]struct {
		headers []string
		want    int
	}{
		"this machine":              {nil, 200},
		"by name":                   {[]string{"Host", "localhost:1234"}, 200},
		"a name of another's":       {[]string{"Host", "attacker.example.com"}, 401},
		"a page of another site":    {[]string{"Origin", "https://attacker.example.com"}, 401},
		"a frame of another site":   {[]string{"Sec-Fetch-Site", "cross-site"}, 401},
		"a page without an origin":  {[]string{"Origin", "null"}, 401},
		"a key that nobody asks of": {[]string{"Authorization", "Bearer sift_x"}, 200},
	} {
		if got := ask(http.MethodGet, s.url+target, "", "", c.headers...); got.status != c.want {
			t.Errorf("%s: %+v, want %d", name, got, c.want)
		}
	}
	s.stop(t)
}

func TestWithCallersNothingIsServedWithoutAKey(t *testing.T) {
	t.Parallel()
	site, dir := newSite(t), t.TempDir()
	s := serve(t, dir, nil, "--config", writeFile(t, dir, "sift.toml", site.settings("")+caller("ann")))
	for key, want := range map[string]int{"": 401, "sift_key-of-nobody": 401, keyOf("ann"): 200} {
		if got := s.fetch(key, site.URL+"/article"); got.status != want {
			t.Errorf("key %q: %+v, want %d", key, got, want)
		}
	}
	// The name by which the server is called does not matter then.
	if got := ask(http.MethodGet, s.url+"/v1/fetch?url="+site.URL+"/article", keyOf("ann"), "", "Host", "sift.example.com"); got.status != 200 {
		t.Errorf("by another name: %+v", got)
	}
	for _, open := range []string{"/healthz", "/readyz", "/metrics", "/openapi.yaml"} {
		if got := get(s.url + open); got.status != 200 {
			t.Errorf("%s: %d", open, got.status)
		}
	}
	s.stop(t)
}

func TestMetricsCanHaveAListenerOfTheirOwn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := serve(t, dir, nil, "--config", writeFile(t, dir, "sift.toml", "[metrics]\nlisten = \"127.0.0.1:0\"\n"))
	if s.metrics == "" {
		t.Fatalf("the log does not say where the metrics are:\n%s", s.log)
	}
	if got := get(s.metrics + "/metrics"); got.status != 200 || !strings.Contains(got.body, "sift_fetch_requests_total") {
		t.Errorf("metrics: %d", got.status)
	}
	for url, want := range map[string]int{
		s.url + "/metrics": 404, s.url + "/healthz": 200, s.metrics + "/healthz": 404, s.metrics + "/v1/fetch?url=http://example.org/": 404,
	} {
		if got := get(url); got.status != want {
			t.Errorf("%s: %d, want %d", url, got.status, want)
		}
	}
	s.stop(t)
	if got := get(s.metrics + "/metrics"); got.err == nil {
		t.Error("the metrics listener is still there")
	}
}

func TestManyFetchesShareOneDataFolderWithEachOtherAndAServer(t *testing.T) {
	t.Parallel()
	site, dir := newSite(t), t.TempDir()
	config := writeFile(t, dir, "sift.toml", site.settings(""))
	together := func(round string) {
		var all []*process
		for i := range 6 {
			all = append(all, startIn(t, command(dir, nil, "fetch", "--config", config, "--json",
				site.URL+"/article", site.URL+"/n/"+round+strconv.Itoa(i))))
		}
		for _, p := range all {
			p.endsWith(t, 0)
			if p.log.String() != "" {
				t.Errorf("a notice: %s", p.log)
			}
			if n := strings.Count(p.out.String(), `{"success":true,`); n != 2 {
				t.Errorf("%d answers:\n%s", n, p.out)
			}
		}
	}
	together("alone") // in a folder that none of them finds made
	s := serve(t, dir, nil, "--config", config)
	together("beside")
	before := site.count("/article")
	if got := s.fetch("", site.URL+"/article"); got.status != 200 || !strings.Contains(got.body, `"hit":true`) {
		t.Errorf("the server does not see their copies: %+v", got)
	}
	if got := s.fetch("", site.URL+"/n/alone3"); got.status != 200 || !strings.Contains(got.body, `"hit":true`) {
		t.Errorf("the server does not see their copies: %+v", got)
	}
	if site.count("/article") != before {
		t.Error("it was fetched again")
	}
	s.stop(t)
	tidy(t, dir)
}

func TestAKilledServerComesBackWithItsCache(t *testing.T) {
	t.Parallel()
	site, dir := newSite(t), t.TempDir()
	config := writeFile(t, dir, "sift.toml", site.settings(""))
	s := serve(t, dir, nil, "--config", config)
	for i := range 5 {
		if got := s.fetch("", site.URL+"/n/"+strconv.Itoa(i)); got.status != 200 {
			t.Fatalf("%+v", got)
		}
	}
	// In the middle of downloads, and of writing.
	held := later(func() reply { return s.fetch("", site.URL+"/held/x") })
	receive(t, "the request", site.arrived)
	writing := make(chan reply, 4)
	for i := range 4 {
		go func() { writing <- s.fetch("", site.URL+"/noise?"+strconv.Itoa(i)) }()
	}
	receive(t, "a first copy", writing)
	s.signal(t, syscall.SIGKILL)
	s.endsWith(t, -int(syscall.SIGKILL))
	if got := receive(t, "the end of the request", held); got.err == nil {
		t.Errorf("an answer from the dead: %+v", got)
	}
	tidy(t, dir)

	again := serve(t, dir, nil, "--config", config)
	for i := range 5 {
		got := again.fetch("", site.URL+"/n/"+strconv.Itoa(i))
		if got.status != 200 || !strings.Contains(got.body, `"hit":true`) || !strings.Contains(got.body, articleTitle) {
			t.Errorf("copy %d: %+v", i, got)
		}
		if n := site.count("/n/" + strconv.Itoa(i)); n != 1 {
			t.Errorf("copy %d was fetched %d times", i, n)
		}
	}
	again.stop(t)

	db, err := sql.Open("sqlite", filepath.Join(dir, "state", "sift.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var verdict string
	if err := db.QueryRow("PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		t.Errorf("the store: %q, %v", verdict, err)
	}
}

func TestProxiesOfTheEnvironmentAreNotUsed(t *testing.T) {
	t.Parallel()
	site, dir := newSite(t), t.TempDir()
	config := writeFile(t, dir, "sift.toml", site.settings(""))
	var env []string
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		env = append(env, name+"=http://"+site.closed)
	}
	// By a name: net/http uses no proxy for a loopback address anyway.
	target := strings.Replace(site.URL, "127.0.0.1", siteName, 1) + "/article"
	if code, out, stderr := runSift(t, dir, env, "fetch", "--config", config, target); code != 0 || !strings.Contains(out, articleTitle) {
		t.Errorf("fetch ended with %d: %s", code, stderr)
	}
	s := serve(t, dir, env, "--config", config)
	if got := s.fetch("", target+"?2"); got.status != 200 {
		t.Errorf("the service: %+v", got)
	}
	// And on the way to a server of this machine.
	if code, _, stderr := runSift(t, dir, append(env, "SIFT_URL="+s.url), "fetch", target); code != 0 {
		t.Errorf("the way to the server: %d, %s", code, stderr)
	}
	s.stop(t)
}

func TestAStoreOfANewerSiftIsLeftAlone(t *testing.T) {
	t.Parallel()
	site, dir := newSite(t), t.TempDir()
	config := writeFile(t, dir, "sift.toml", site.settings(""))
	if code, _, stderr := runSift(t, dir, nil, "fetch", "--config", config, site.URL+"/article"); code != 0 {
		t.Fatal(stderr)
	}
	file := filepath.Join(dir, "state", "sift.db")
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("INSERT INTO migration (number, name) VALUES (9999, 'of the future')"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}

	code, _, stderr := runSift(t, dir, nil, "serve", "--listen", "127.0.0.1:0", "--config", config)
	if code != exitFailure || strings.Count(stderr, "\n") != 1 || !containsAll(stderr, []string{"sift: ", "newer", file}) {
		t.Errorf("serve ended with %d and said %q", code, stderr)
	}
	code, out, stderr := runSift(t, dir, nil, "fetch", "--config", config, site.URL+"/article")
	if code != 0 || !strings.Contains(out, articleTitle) || strings.Count(stderr, "\n") != 1 || !containsAll(stderr, []string{"going on without a cache", "newer"}) {
		t.Errorf("fetch ended with %d and said %q", code, stderr)
	}
	after, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file was changed, %v", err)
	}
}
