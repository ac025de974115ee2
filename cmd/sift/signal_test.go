package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestARequestInFlightMayFinishWhenTheServiceIsStopped(t *testing.T) {
	t.Parallel()
	for name, signal := range map[string]syscall.Signal{"SIGTERM": syscall.SIGTERM, "Ctrl-C": syscall.SIGINT} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			site, dir := newSite(t), t.TempDir()
			s := serve(t, dir, nil, "--config", writeFile(t, dir, "sift.toml", site.settings("")))
			inFlight := later(func() reply { return s.fetch("", site.URL+"/held/x") })
			receive(t, "the request", site.arrived)
			s.signal(t, signal)
			s.waitLog(t, "msg=stopping", "grace=8s") // as docs/cli.md says
			if got := get(s.url + "/healthz"); got.err == nil && got.status == 200 {
				t.Error("a new request was taken")
			}
			site.release <- struct{}{}
			if got := receive(t, "the answer", inFlight); got.status != 200 || !strings.Contains(got.body, articleTitle) {
				t.Errorf("the request in flight: %+v", got)
			}
			s.endsWith(t, 0)
			if log := s.log.String(); !strings.HasSuffix(log, "msg=stopped\n") {
				t.Errorf("the log ends with\n%s", log)
			}
			tidy(t, dir)
			// What was fetched meanwhile has been kept.
			again := serve(t, dir, nil, "--config", filepath.Join(dir, "sift.toml"))
			if got := again.fetch("", site.URL+"/held/x"); !strings.Contains(got.body, `"hit":true`) {
				t.Errorf("its copy: %+v", got)
			}
			again.stop(t)
		})
	}
}

func TestASecondSignalEndsTheServiceAtOnce(t *testing.T) {
	t.Parallel()
	site, dir := newSite(t), t.TempDir()
	s := serve(t, dir, nil, "--config", writeFile(t, dir, "sift.toml", site.settings("")))
	inFlight := later(func() reply { return s.fetch("", site.URL+"/held/x") })
	receive(t, "the request", site.arrived)
	start := time.Now()
	s.signal(t, syscall.SIGINT)
	s.waitLog(t, "msg=stopping")
	// The first signal gives the next one its old meaning; that has happened
	// shortly after the line was written, if not before.
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for ended := false; !ended; {
		select {
		case <-s.exited:
			ended = true
		case <-again.C:
			_ = s.Process.Signal(syscall.SIGINT)
		}
	}
	s.endsWith(t, -int(syscall.SIGINT))
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
	if got := receive(t, "the end of the request", inFlight); got.err == nil {
		t.Errorf("it was answered: %+v", got)
	}
	serve(t, dir, nil, "--config", filepath.Join(dir, "sift.toml")).stop(t)
}

func TestAHangupReadsTheCallersAgain(t *testing.T) {
	t.Parallel()
	site, dir := newSite(t), t.TempDir()
	before := site.settings("") + caller("ann") + caller("bob")
	config := writeFile(t, dir, "sift.toml", before)
	s := serve(t, dir, nil, "--config", config)
	lookup := func(want map[string]int) {
		t.Helper()
		for name, status := range want {
			if got := s.fetch(keyOf(name), site.URL+"/article"); got.status != status {
				t.Errorf("%s: %+v, want %d", name, got, status)
			}
		}
	}
	lookup(map[string]int{"ann": 200, "bob": 200, "cyd": 401})

	// A key goes and another comes, while a request of the one who goes is in
	// flight.
	inFlight := later(func() reply { return s.fetch(keyOf("ann"), site.URL+"/held/x") })
	receive(t, "the request", site.arrived)
	writeFile(t, dir, "sift.toml", site.settings("")+caller("bob")+caller("cyd"))
	s.signal(t, syscall.SIGHUP)
	s.waitLog(t, `msg="callers re-read" callers=2`)
	lookup(map[string]int{"ann": 401, "bob": 200, "cyd": 200})
	site.release <- struct{}{}
	if got := receive(t, "the answer", inFlight); got.status != 200 {
		t.Errorf("the request in flight: %+v", got)
	}

	// A file that is wrong changes nothing and is one line in the log.
	for i, broken := range []string{
		"[fetch\n" + before,
		before + caller("ann"), // twice
		site.settings("[fetch]\ntimout = \"1s\"\nmax_bytes = \"1\"") + caller("ann"),
		site.settings(""), // no callers: everybody would be let in
	} {
		writeFile(t, dir, "sift.toml", broken)
		s.signal(t, syscall.SIGHUP)
		got, err := s.log.wait(s.exited, i+1, "level=ERROR", "callers were not re-read; the old ones stay", "error=")
		if err != nil {
			t.Fatalf("%d: %v\n%s", i, err, s.log)
		}
		if strings.Contains(got, keyOf("ann")) {
			t.Errorf("%d: a key is in the log: %s", i, got)
		}
		lookup(map[string]int{"ann": 401, "bob": 200, "cyd": 200})
	}
	if err := os.Remove(config); err != nil {
		t.Fatal(err)
	}
	s.signal(t, syscall.SIGHUP)
	s.waitLog(t, "callers were not re-read", "no such file")
	lookup(map[string]int{"bob": 200})

	// And it is mended.
	writeFile(t, dir, "sift.toml", site.settings("")+caller("ann"))
	s.signal(t, syscall.SIGHUP)
	s.waitLog(t, `msg="callers re-read" callers=1`)
	lookup(map[string]int{"ann": 200, "bob": 401, "cyd": 401})
	s.stop(t)
}

func TestAServiceWithoutCallersDoesNotGetThemByAHangup(t *testing.T) {
	t.Parallel()
	site, dir := newSite(t), t.TempDir()
	s := serve(t, dir, nil, "--config", writeFile(t, dir, "sift.toml", site.settings("")))
	writeFile(t, dir, "sift.toml", site.settings("")+caller("ann"))
	s.signal(t, syscall.SIGHUP)
	s.waitLog(t, "callers were not re-read", "restart sift")
	if got := s.fetch("", site.URL+"/article"); got.status != 200 {
		t.Errorf("%+v", got)
	}
	s.stop(t)
}

func TestAServiceOutlivesTheReaderOfItsLog(t *testing.T) {
	t.Parallel()
	site, dir := newSite(t), t.TempDir()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c := command(dir, nil, "serve", "--listen", "127.0.0.1:0", "--config", writeFile(t, dir, "sift.toml", site.settings("")))
	c.Stderr = w
	p := startIn(t, c)
	w.Close()
	line, err := bufio.NewReader(r).ReadString('\n')
	address := addressIn.FindStringSubmatch(line)
	if address == nil {
		t.Fatalf("the log begins with %q, %v", line, err)
	}
	r.Close()
	for range 3 { // each of them is a line in the log
		if got := get("http://" + address[1] + "/v1/fetch?url=" + site.URL + "/article"); got.status != 200 {
			t.Fatalf("%+v", got)
		}
	}
	p.signal(t, syscall.SIGTERM)
	p.endsWith(t, 0)
}

func TestCtrlCEndsAFetchQuicklyAndPrintsNothingByHalves(t *testing.T) {
	t.Parallel()
	site, dir := newSite(t), t.TempDir()
	config := writeFile(t, dir, "sift.toml", site.settings(""))
	for name, c := range map[string]struct {
		args []string
		want int    // lines that are printed before
		says string // on standard error
	}{
		"one page":              {[]string{"fetch", "--json", site.URL + "/held/one"}, 0, ""},
		"one page, as Markdown": {[]string{"fetch", site.URL + "/held/markdown"}, 0, ""},
		"through a server":      {[]string{"fetch", "--json", "--server", site.URL + "/held/server", site.URL + "/article"}, 0, ""},
		"the second of three":   {[]string{"fetch", "--json", site.URL + "/article", site.URL + "/held/second", site.URL + "/gone-page"}, 1, "sift: stopped: 1 of 3 done\n"},
		"the third of three":    {[]string{"fetch", "--json", site.URL + "/gone-page", site.URL + "/article", site.URL + "/held/third"}, 2, "sift: stopped: 2 of 3 done, 1 failed\n"},
	} {
		p := startIn(t, command(dir, nil, append(c.args, "--config", config)...))
		receive(t, "the request of "+name, site.arrived)
		if c.want > 0 {
			if _, err := p.out.wait(p.exited, c.want, `{"success":`); err != nil {
				t.Fatal(err)
			}
		}
		start := time.Now()
		p.signal(t, syscall.SIGINT)
		p.endsWith(t, exitInterrupted)
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%s: it took %v", name, took)
		}
		if p.log.String() != c.says {
			t.Errorf("%s: it said %q", name, p.log)
		}
		if n := wholeLines(t, p.out.String()); n != c.want {
			t.Errorf("%s: %d lines were printed, want %d", name, n, c.want)
		}
	}
	tidy(t, dir)
}

// wholeLines counts lines and wants each to be JSON, the last one to its end.
func wholeLines(t *testing.T, out string) int {
	t.Helper()
	n := 0
	for line := range strings.Lines(out) {
		n++
		if !strings.HasSuffix(line, "\n") || !json.Valid([]byte(line)) {
			t.Errorf("half a line of %d bytes: %.200s", len(line), line)
		}
	}
	return n
}

func TestCtrlCDoesNotWaitForAPipeThatSaysNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	page := writeFile(t, dir, "page.html", articlePage)
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"fetch"}, {"fetch", "-"}, {"explain"}, {"convert", "-"}, {"convert", "--json", page, "-"}, {"convert", fifo},
	} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		c := command(dir, nil, args...)
		c.Stdin = r
		p := startIn(t, c)
		r.Close()
		// It has begun to read, or printed what comes before; a signal before
		// main has begun would end it with the signal.
		switch {
		case args[len(args)-1] == fifo:
			f, err := os.OpenFile(fifo, os.O_WRONLY, 0) // waits until it has opened the other end
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
		case len(args) == 4:
			if _, err := p.wait(p.out, `{"file":`); err != nil {
				t.Fatal(err)
			}
		default: // more than a pipe holds
			if _, err := io.WriteString(w, strings.Repeat("# nothing\n", 20_000)); err != nil {
				t.Fatal(err)
			}
		}
		p.signal(t, syscall.SIGINT)
		if code, err := p.end(); err != nil || code != exitInterrupted {
			t.Errorf("%q ended with %d, %v", args, code, err)
		}
		says := ""
		if len(args) == 4 {
			says = "sift: stopped: 1 of 2 done\n"
		}
		if p.log.String() != says {
			t.Errorf("%q said %q", args, p.log)
		}
		w.Close()
	}
}

func TestCtrlCEndsAConversionInTheMiddleOfAFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var b strings.Builder
	for b.Len() < 8<<20 {
		b.WriteString("<div><p>A sentence with <b>some</b> <i>markup</i> in it, and <a href=/x>a link</a>.</p>")
	}
	big := writeFile(t, dir, "big.html", b.String())
	small := writeFile(t, dir, "small.html", articlePage)
	args := []string{"convert", "--json", small, big, big, big, big, big, big, big, big}
	p := startIn(t, command(dir, nil, args...))
	if _, err := p.wait(p.out, `{"file":`); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	p.signal(t, syscall.SIGINT)
	p.endsWith(t, exitInterrupted)
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
	n := wholeLines(t, p.out.String())
	if n >= len(args)-2 {
		t.Errorf("all %d files had been converted", n)
	}
	if want := fmt.Sprintf("sift: stopped: %d of %d done\n", n, len(args)-2); p.log.String() != want {
		t.Errorf("it said %q, want %q", p.log, want)
	}
}
