package main

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"sift.build/sift/internal/pdf/pdftest"
)

// pdfSite serves PDFs: /anything/NAME.pdf, with the query at the end of the
// file, so that other queries are other files of the same content.
type pdfSite struct {
	*httptest.Server
	addr, resolver string

	mu    sync.Mutex
	files map[string]func() []byte // by name
	made  map[string][]byte
	asked map[string]int // how often, by name
}

func newPDFSite(t testing.TB) *pdfSite {
	t.Helper()
	prepare(t)
	s := &pdfSite{resolver: newNameServer(t), made: make(map[string][]byte), asked: make(map[string]int), files: map[string]func() []byte{
		"pages":  func() []byte { return pdftest.Markers(3) },
		"locked": func() []byte { return pdftest.Encrypted("hunter2") },
	}}
	for _, h := range pdftest.Hostile() {
		s.files[h.Name] = h.Make
	}
	// A map of two million codes, which takes PDFium seconds: time enough to
	// find the process that is at it.
	s.files["slow"] = s.files["map-ranges"]
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := s.body(strings.TrimSuffix(path.Base(r.URL.Path), ".pdf"))
		if body == nil {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/pdf")
		_, _ = w.Write(body) // a client that has gone away needs no answer
		_, _ = fmt.Fprintf(w, "\n%% %s\n", r.URL.RawQuery)
	}))
	t.Cleanup(s.Close)
	s.addr = s.Listener.Addr().String()
	return s
}

func (s *pdfSite) body(name string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked[name]++
	if s.made[name] == nil && s.files[name] != nil {
		s.made[name] = s.files[name]()
	}
	return s.made[name]
}

// prepare sees to it that the engine has been compiled for this user, which on
// a busy machine takes longer than these tests wait for anything.
func prepare(t testing.TB) {
	t.Helper()
	prepared.Do(func() {
		dir := t.TempDir()
		p := startIn(t, command(dir, nil, "convert", writeFile(t, dir, "any.pdf", string(pdftest.Markers(1)))))
		<-p.exited
		p.endsWith(t, 0)
	})
}

var prepared sync.Once

// count is how often a file was asked for.
func (s *pdfSite) count(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[name]
}

// at is the address of a file, by a name of the site if host is not empty.
func (s *pdfSite) at(host, name, query string) string {
	address := s.addr
	if host != "" {
		_, port, _ := net.SplitHostPort(s.addr)
		address = net.JoinHostPort(host+"."+siteName, port)
	}
	return "http://" + address + "/" + name + ".pdf?" + query
}

func (s *pdfSite) settings(more string) string {
	return fmt.Sprintf("data_dir = \"state\"\n%s\n[guard]\nallow = [%q]\nresolver = %q\n[gate]\nper_host = 100\nper_caller = 100\nglobal = 100\n", more, s.addr, s.resolver)
}

// readersOf lists the children of a process that run the worker; "": any.
func readersOf(pid int, worker string) []int {
	all, _ := os.ReadDir("/proc") // without it nothing is found, and the test says so
	var found []int
	for _, e := range all {
		child, err := strconv.Atoi(e.Name())
		if err != nil {
			continue // no process
		}
		if state, parent := stateOf(child); parent != pid || state == "Z" {
			continue
		}
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", child))
		if err == nil && bytes.HasPrefix(line, []byte("sift-child\x00"+worker)) && (worker == "" || len(line) == len("sift-child")+len(worker)+2) {
			found = append(found, child)
		}
	}
	slices.Sort(found)
	return found
}

// stateOf is the state of a process, as a letter, and its parent; "" when there
// is no such process.
func stateOf(pid int) (state string, parent int) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", 0
	}
	// The name before it is in brackets and may hold anything.
	if _, err := fmt.Sscan(string(b[bytes.LastIndexByte(b, ')')+1:]), &state, &parent); err != nil {
		return "", 0
	}
	return state, parent
}

// look asks again and again until it holds, for as long as any wait here.
func look(t testing.TB, what string, every time.Duration, holds func() bool) {
	t.Helper()
	lookFor(t, within, what, every, holds)
}

func lookFor(t testing.TB, limit time.Duration, what string, every time.Duration, holds func() bool) {
	t.Helper()
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	again := time.NewTicker(every)
	defer again.Stop()
	for !holds() {
		select {
		case <-again.C:
		case <-deadline.C:
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

// hold waits until n readers of files are at work and stops them where they
// are; run lets them go on.
func hold(t testing.TB, p *process, worker string, n int) (pids []int) {
	t.Helper()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%v wrote\n%s%s", p.Args, p.out, p.log)
		}
	})
	look(t, fmt.Sprintf("there are %d children %s", n, worker), 5*time.Millisecond, func() bool {
		for _, pid := range readersOf(p.Process.Pid, worker) {
			if !slices.Contains(pids, pid) && syscall.Kill(pid, syscall.SIGSTOP) == nil {
				pids = append(pids, pid)
			}
		}
		return len(pids) >= n
	})
	return pids
}

func letGo(pids []int) {
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGCONT) // it may have been killed
	}
}

// areGone waits until none of the processes runs any more. One that has ended
// and whom nobody has reaped counts as gone: it belongs to the first process of
// the machine.
func areGone(t testing.TB, pids []int) {
	t.Helper()
	look(t, fmt.Sprintf("the processes %v are gone", pids), 5*time.Millisecond, func() bool {
		for _, pid := range pids {
			if state, _ := stateOf(pid); state != "" && state != "Z" && state != "X" {
				return false
			}
		}
		return true
	})
}

// metric is the value of a series; 0 when it is not there.
func (s *server) metric(t testing.TB, series string) float64 {
	t.Helper()
	got := get(s.url + "/metrics")
	if got.status != 200 {
		t.Fatalf("metrics: %+v", got)
	}
	m := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(series) + ` (\S+)$`).FindStringSubmatch(got.body)
	if m == nil {
		return 0
	}
	v, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// becomes waits until a series has a value.
func (s *server) becomes(t testing.TB, series string, value float64) {
	t.Helper()
	look(t, fmt.Sprintf("%s is %v", series, value), 20*time.Millisecond, func() bool { return s.metric(t, series) == value })
}
