package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"sift.build/sift/internal/pdf/pdftest"
)

// within bounds every wait of these tests. It is long because the machine may
// be busy; nothing here takes that long.
const within = 30 * time.Second

// output collects what a process writes and lets a test wait for a part of it.
type output struct {
	mu      sync.Mutex
	b       []byte
	changed chan struct{} // closed at the next write
}

func newOutput() *output { return &output{changed: make(chan struct{})} }

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.b = append(o.b, p...)
	close(o.changed)
	o.changed = make(chan struct{})
	return len(p), nil
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return string(o.b)
}

// process is one running sift.
type process struct {
	*exec.Cmd
	out, log *output
	exited   chan struct{} // closed when it has ended and all it wrote is there
}

// command is a sift that has not been started, with nothing of this machine's
// in its environment.
func command(dir string, env []string, args ...string) *exec.Cmd {
	c := exec.Command("sift", args...)
	c.Dir = dir
	c.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(dir, "home"), "TMPDIR=" + tempFolder(dir), "XDG_CACHE_HOME=" + pdftest.CacheHome()}, env...)
	return c
}

// tempFolder is where a process with the working folder dir puts its temporary
// files.
func tempFolder(dir string) string {
	tmp := filepath.Join(dir, ".tmp")
	if err := os.MkdirAll(tmp, 0o700); err != nil {
		panic(err)
	}
	return tmp
}

// start starts c. The test ends it if it has not ended by then.
func start(c *exec.Cmd) (*process, error) {
	p := &process{Cmd: c, out: newOutput(), log: newOutput(), exited: make(chan struct{})}
	if c.Stdout == nil {
		c.Stdout = p.out
	}
	if c.Stderr == nil {
		c.Stderr = p.log
	}
	if err := c.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.exited)
		_ = c.Wait() // the state says it
	}()
	return p, nil
}

func (p *process) kill() {
	_ = p.Process.Kill() // it may have ended
	<-p.exited
}

func startIn(t testing.TB, c *exec.Cmd) *process {
	t.Helper()
	p, err := start(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	return p
}

// wait waits until n whole lines hold all of the words and gives the last of
// them. gone says that nothing more will come.
func (o *output) wait(gone <-chan struct{}, n int, words ...string) (string, error) {
	deadline := time.NewTimer(within)
	defer deadline.Stop()
	for {
		var ended bool
		select {
		case <-gone: // before the text is looked at: then it is all there
			ended = true
		default:
		}
		o.mu.Lock()
		text, changed := string(o.b), o.changed
		o.mu.Unlock()
		found := 0
		for line := range strings.Lines(text) {
			if strings.HasSuffix(line, "\n") && containsAll(line, words) {
				if found++; found == n {
					return strings.TrimSuffix(line, "\n"), nil
				}
			}
		}
		if ended {
			return "", fmt.Errorf("it ended with %d lines that hold %q, not %d", found, words, n)
		}
		select {
		case <-changed:
		case <-gone:
		case <-deadline.C:
			return "", fmt.Errorf("%d lines that hold %q, not %d", found, words, n)
		}
	}
}

// wait waits until o, which p writes, holds a line with all of the words.
func (p *process) wait(o *output, words ...string) (string, error) {
	line, err := o.wait(p.exited, 1, words...)
	if err != nil {
		err = fmt.Errorf("%w; %v wrote:\n%s%s", err, p.Args, p.out, p.log)
	}
	return line, err
}

func containsAll(s string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(s, w) {
			return false
		}
	}
	return true
}

func (p *process) waitLog(t testing.TB, words ...string) string {
	t.Helper()
	line, err := p.wait(p.log, words...)
	if err != nil {
		t.Fatal(err)
	}
	return line
}

// end waits for the process and gives its exit code, or minus the signal that
// ended it.
func (p *process) end() (int, error) {
	deadline := time.NewTimer(within)
	defer deadline.Stop()
	select {
	case <-p.exited:
	case <-deadline.C:
		return 0, fmt.Errorf("it did not end; it wrote:\n%s%s", p.out, p.log)
	}
	if s, ok := p.ProcessState.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		return -int(s.Signal()), nil
	}
	return p.ProcessState.ExitCode(), nil
}

// endsWith waits for the process and compares how it ended.
func (p *process) endsWith(t testing.TB, code int) {
	t.Helper()
	got, err := p.end()
	if err != nil {
		t.Fatal(err)
	}
	if got != code {
		t.Errorf("%v ended with %d, want %d; it wrote:\n%s%s", p.Args, got, code, p.out, p.log)
	}
}

func (p *process) signal(t testing.TB, s os.Signal) {
	t.Helper()
	if err := p.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// runSift runs sift to its end.
func runSift(t testing.TB, dir string, env []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	p := startIn(t, command(dir, env, args...))
	code, err := p.end()
	if err != nil {
		t.Fatal(err)
	}
	return code, p.out.String(), p.log.String()
}

// server is a `sift serve` that takes requests.
type server struct {
	*process
	url     string
	metrics string // base URL of the metrics listener, "" for none
}

// addressIn finds what `address=` or `"address":` stands for in a log line.
var addressIn = regexp.MustCompile(`\baddress"?[=:]"?([^" ]+)`)
var metricsIn = regexp.MustCompile(`\bmetrics"?[=:]"?([0-9.]+:[0-9]+)`)

// listening waits until p takes requests.
func listening(p *process) (*server, error) {
	line, err := p.wait(p.log, "listening")
	if err != nil {
		return nil, err
	}
	m := addressIn.FindStringSubmatch(line)
	if m == nil {
		return nil, fmt.Errorf("no address in %q", line)
	}
	s := &server{process: p, url: "http://" + m[1]}
	if m := metricsIn.FindStringSubmatch(line); m != nil {
		s.metrics = "http://" + m[1]
	}
	return s, nil
}

// serve starts a server in dir on a free port.
func serve(t testing.TB, dir string, env []string, args ...string) *server {
	t.Helper()
	p := startIn(t, command(dir, env, append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...))
	s, err := listening(p)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// stop asks the server to stop, and wants it to.
func (s *server) stop(t testing.TB) {
	t.Helper()
	s.signal(t, syscall.SIGTERM)
	s.endsWith(t, 0)
}

// web has connections of its own for every request, so that none that is kept
// open decides how a server stops.
var web = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: within}

// answer is what a server said.
type reply struct {
	status int
	body   string
	err    error
}

func ask(method, url, key, body string, headers ...string) reply {
	r, err := http.NewRequestWithContext(context.Background(), method, url, strings.NewReader(body))
	if err != nil {
		return reply{err: err}
	}
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		}
	}
	resp, err := web.Do(r)
	if err != nil {
		return reply{err: err}
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return reply{resp.StatusCode, string(b), err}
}

func get(url string) reply { return ask(http.MethodGet, url, "", "") }

// fetch asks the server for a target, url alone.
func (s *server) fetch(key, url string) reply {
	b, err := json.Marshal(map[string]string{"url": url})
	if err != nil {
		panic(err)
	}
	return ask(http.MethodPost, s.url+"/v1/fetch", key, string(b))
}

// later does something beside the test.
func later(do func() reply) <-chan reply {
	c := make(chan reply, 1)
	go func() { c <- do() }()
	return c
}

// receive waits for a value, but not for ever.
func receive[T any](t testing.TB, what string, c <-chan T) T {
	t.Helper()
	deadline := time.NewTimer(within)
	defer deadline.Stop()
	select {
	case v := <-c:
		return v
	case <-deadline.C:
		t.Fatalf("waited for %s in vain", what)
		panic("unreachable")
	}
}

// writeFile writes a file of a test's folder and gives its path.
func writeFile(t testing.TB, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// settings is a configuration file that opens the site.
func (s *site) settings(more string) string {
	return fmt.Sprintf("data_dir = \"state\"\n%s\n[guard]\nallow = [%q, %q]\nresolver = %q\n", more, s.addr, s.closed, s.resolver)
}

// tidy fails the test if a temporary file was left behind in dir.
func tidy(t testing.TB, dir string) {
	t.Helper()
	left, err := os.ReadDir(tempFolder(dir))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range left {
		t.Errorf("the temporary file %s was left behind", e.Name())
	}
}
