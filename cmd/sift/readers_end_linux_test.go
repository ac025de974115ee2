package main

import (
	"context"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// asking fetches a PDF beside the test, as a caller or as nobody.
func (s *server) asking(key, url string) <-chan reply {
	return later(func() reply { return s.fetch(key, url) })
}

func TestNoReaderOfAPDFOutlivesAServiceThatIsKilled(t *testing.T) {
	t.Parallel()
	site, dir := newPDFSite(t), t.TempDir()
	config := writeFile(t, dir, "sift.toml", site.settings(""))
	s := serve(t, dir, nil, "--config", config)
	// A file of this length is on the disk while it is read.
	long := append(site.body("slow"), make([]byte, 6<<20)...)
	site.files["long"] = func() []byte { return long }
	first := s.asking("", site.at("", "slow", "1"))
	second := s.asking("", site.at("", "long", "2"))
	pids := hold(t, s.process, "pdf", 2)
	letGo(pids[:1]) // one is at work and one stands still

	if err := s.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	s.endsWith(t, -int(syscall.SIGKILL))
	areGone(t, pids)
	for _, answer := range []<-chan reply{first, second} {
		if got := receive(t, "the end of a request", answer); got.err == nil {
			t.Errorf("it was answered: %+v", got)
		}
	}
	tidy(t, dir)

	again := serve(t, dir, nil, "--config", config)
	if got := again.fetch("", site.at("", "pages", "")); got.status != 200 {
		t.Errorf("the next service: %+v", got)
	}
	again.stop(t)
	tidy(t, dir)
}

func TestAPDFInWorkIsFinishedOrKilledWhenTheServiceIsStopped(t *testing.T) {
	t.Parallel()
	site, dir := newPDFSite(t), t.TempDir()
	config := writeFile(t, dir, "sift.toml", site.settings(""))

	// On a machine that is very busy even a short PDF may outlast the grace.
	for try := 1; ; try++ {
		s := serve(t, dir, nil, "--config", config)
		answer := s.asking("", site.at("", "slow", "1"))
		pids := hold(t, s.process, "pdf", 1)
		s.signal(t, syscall.SIGTERM)
		s.waitLog(t, "msg=stopping")
		letGo(pids)
		got := receive(t, "the answer", answer)
		s.endsWith(t, 0)
		areGone(t, pids)
		if got.status == 200 {
			break
		}
		if try == 3 {
			t.Fatalf("a PDF that was soon done: %+v", got)
		}
	}

	s := serve(t, dir, nil, "--config", config)
	answer := s.asking("", site.at("", "slow", "2"))
	pids := hold(t, s.process, "pdf", 1)
	start := time.Now()
	s.signal(t, syscall.SIGTERM)
	s.endsWith(t, 0)
	if took := time.Since(start); took < 7*time.Second || took > 20*time.Second {
		t.Errorf("it took %v; the grace is 8 s", took)
	}
	areGone(t, pids)
	if got := receive(t, "the end of the request", answer); got.err == nil && got.status == 200 {
		t.Errorf("it was answered: %+v", got)
	}
	tidy(t, dir)

	// A second signal ends everything at once.
	s = serve(t, dir, nil, "--config", config)
	answer = s.asking("", site.at("", "slow", "3"))
	pids = hold(t, s.process, "pdf", 1)
	s.signal(t, syscall.SIGTERM)
	s.waitLog(t, "msg=stopping")
	look(t, "a second signal ends it", 20*time.Millisecond, func() bool {
		_ = s.Process.Signal(syscall.SIGTERM)
		select {
		case <-s.exited:
			return true
		default:
			return false
		}
	})
	areGone(t, pids)
	receive(t, "the end of the request", answer)
	tidy(t, dir)
}

func TestAConversionThatIsInterruptedLeavesNoReader(t *testing.T) {
	t.Parallel()
	site, dir := newPDFSite(t), t.TempDir()
	for _, end := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGKILL} {
		var args []string
		for _, n := range []string{"a", "b", "c"} {
			args = append(args, writeFile(t, dir, n+".pdf", string(site.body("slow"))+"% "+n))
		}
		p := startIn(t, command(dir, nil, append([]string{"convert"}, args...)...))
		pids := hold(t, p, "pdf", 1)
		start := time.Now()
		p.signal(t, end)
		<-p.exited
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%v: it took %v", end, took)
		}
		areGone(t, pids)
		tidy(t, dir)
	}
}

// leaving asks for a PDF, and gives up when the returned function is called.
func (s *server) leaving(t *testing.T, key, target string) func() {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/v1/fetch?url="+url.QueryEscape(target), nil)
	if err != nil {
		t.Fatal(err)
	}
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	left := make(chan error, 1)
	go func() {
		resp, err := web.Do(r)
		if err == nil {
			resp.Body.Close()
		}
		left <- err
	}()
	return func() {
		cancel()
		if err := receive(t, "the end of a request that was left", left); err == nil {
			t.Error("it was answered")
		}
	}
}

func TestAClientThatGoesAwayLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	site, dir := newPDFSite(t), t.TempDir()
	s := serve(t, dir, nil, "--config", writeFile(t, dir, "sift.toml", site.settings(caller("ann")+caller("bob"))))
	for range 2 { // what is made once has been made
		if got := s.fetch(keyOf("ann"), site.at("", "pages", "first")); got.status != 200 {
			t.Fatalf("%+v", got)
		}
	}
	s.connectStore(t, keyOf("ann"))
	goroutines, files := s.metric(t, "go_goroutines"), openFiles(t, s.Process.Pid)

	for _, n := range []string{"1", "2", "3"} {
		leave := s.leaving(t, keyOf("ann"), site.at("", "slow", n))
		pids := hold(t, s.process, "pdf", 1)
		s.becomes(t, "sift_pdf_running", 1)
		leave()
		// The work goes on, and is still that caller's, but only theirs.
		if got := s.fetch(keyOf("ann"), site.at("", "pages", "a"+n)); got.status != 429 || !strings.Contains(got.body, `"code":"busy"`) {
			t.Errorf("the caller's next PDF: %+v", got)
		}
		if got := s.fetch(keyOf("bob"), site.at("", "pages", "b"+n)); got.status != 200 {
			t.Errorf("another caller's: %+v", got)
		}
		if running, memory := s.metric(t, "sift_pdf_running"), s.metric(t, "sift_children_memory_bytes"); running != 1 || memory != 320<<20 {
			t.Errorf("%v run, with %v bytes", running, memory)
		}
		letGo(pids)
		areGone(t, pids)
		s.becomes(t, "sift_pdf_running", 0)
		if got := s.fetch(keyOf("ann"), site.at("", "pages", "c"+n)); got.status != 200 {
			t.Errorf("when it is done: %+v", got)
		}
	}
	s.becomes(t, "sift_pdf_queued", 0)
	s.becomes(t, "sift_children_memory_bytes", 0)
	s.becomes(t, "sift_children_waiting", 0)
	look(t, "there are as many goroutines as before", 50*time.Millisecond, func() bool {
		return s.metric(t, "go_goroutines") <= goroutines
	})
	look(t, "there are as many open files as before", 50*time.Millisecond, func() bool {
		return openFiles(t, s.Process.Pid) <= files
	})
	if n := s.metric(t, `sift_pdf_extractions_total{outcome="ok"}`); n != 10 { // 1 + 3 × (slow + b + c)
		t.Errorf("%v were read", n)
	}
	s.stop(t)
	tidy(t, dir)
}

// openFiles counts the descriptors of a process.
func openFiles(t *testing.T, pid int) int {
	t.Helper()
	list, err := os.ReadDir(filepath.Join("/proc", strconv.Itoa(pid), "fd"))
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// connectStore makes the service open every connection to its store that it ever
// will: one that writes, and three that read, of which each is opened when the
// others are in use. They are no leak, whenever it comes to that.
func (s *server) connectStore(t *testing.T, key string) {
	t.Helper()
	look(t, "the store has all its connections", time.Millisecond, func() bool {
		var all []<-chan reply
		for range 12 {
			all = append(all, later(func() reply { return ask(http.MethodGet, s.url+"/v1/batch", key, "") }))
		}
		for _, one := range all {
			if got := receive(t, "a list of jobs", one); got.status != http.StatusOK {
				t.Fatalf("%+v", got)
			}
		}
		open := 0
		links, err := filepath.Glob(filepath.Join("/proc", strconv.Itoa(s.Process.Pid), "fd", "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range links {
			if to, err := os.Readlink(l); err == nil && filepath.Base(to) == "sift.db" {
				open++
			}
		}
		return open == 4
	})
}

func TestAClientThatLeavesTheQueueGivesItsPlaceAndItsFileBack(t *testing.T) {
	t.Parallel()
	site, dir := newPDFSite(t), t.TempDir()
	s := serve(t, dir, nil, "--config", writeFile(t, dir, "sift.toml", site.settings("[fetch]\ntimeout = \"5m\"\n[pdf]\nwait = \"5m\"\n")))
	long := append(site.body("pages"), make([]byte, 6<<20)...)
	site.files["long"] = func() []byte { return long }
	running := []<-chan reply{s.asking("", site.at("", "slow", "1")), s.asking("", site.at("", "slow", "2"))}
	pids := hold(t, s.process, "pdf", 2)
	s.becomes(t, "sift_pdf_queued", 0)

	// Each leaves alone; of two who share a job, the first leaves it to the other.
	for _, n := range []string{"3", "4", "5", "6", "7"} {
		leave := s.leaving(t, "", site.at("", "long", n))
		s.becomes(t, "sift_pdf_queued", 1)
		leave()
		s.becomes(t, "sift_pdf_queued", 0)
	}
	look(t, "the files of those who left are gone", 20*time.Millisecond, func() bool { return spooled(t, s.Process.Pid) == 0 })
	leave := s.leaving(t, "", site.at("", "long", "8"))
	s.becomes(t, "sift_pdf_queued", 1)
	held := spooled(t, s.Process.Pid)
	shares := s.asking("", strings.Replace(site.at("", "long", "8"), "/long.pdf", "/elsewhere/long.pdf", 1))
	look(t, "the other has its copy too", 5*time.Millisecond, func() bool { return held > 0 && spooled(t, s.Process.Pid) == 2*held })
	leave()
	letGo(pids)
	for _, answer := range append(running, shares) {
		if got := receive(t, "an answer", answer); got.status != 200 {
			t.Errorf("%+v", got)
		}
	}
	look(t, "all files are gone", 20*time.Millisecond, func() bool { return spooled(t, s.Process.Pid) == 0 })
	s.stop(t)
	tidy(t, dir)
}

// spooled counts the open files of a process that have no name any more.
func spooled(t *testing.T, pid int) (n int) {
	t.Helper()
	folder := filepath.Join("/proc", strconv.Itoa(pid), "fd")
	list, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		to, err := os.Readlink(filepath.Join(folder, e.Name()))
		if err == nil && strings.Contains(to, "(deleted)") && !strings.Contains(to, "memfd") {
			n++
		}
	}
	return n
}
