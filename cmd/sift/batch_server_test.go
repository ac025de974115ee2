package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"sift.build/sift/internal/sift"
)

// jobOf is the job_id of the first line that a submit has printed.
func jobOf(t *testing.T, p *process) string {
	t.Helper()
	line, err := p.wait(p.out, `"job_id"`)
	if err != nil {
		t.Fatal(err)
	}
	var answer sift.Submitted
	if err := json.Unmarshal([]byte(line), &answer); err != nil {
		t.Fatal(err)
	}
	return answer.JobID
}

// printed are the index and status of each line behind a submit's answer.
func printed(t *testing.T, p *process) string {
	t.Helper()
	var out []string
	for line := range strings.Lines(p.out.String()) {
		var v sift.JobTarget
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatal(err)
		}
		if v.URL != "" {
			out = append(out, string('0'+rune(v.Idx))+" "+string(v.Status))
		}
	}
	return strings.Join(out, ", ")
}

func TestAJobGoesOnAfterCtrlCAndTheRestIsCollected(t *testing.T) {
	t.Parallel()
	site, dir := newSite(t), t.TempDir()
	s := serve(t, dir, nil, "--config", writeFile(t, dir, "sift.toml", site.settings("")))
	list := writeFile(t, dir, "urls.txt", joined(site.URL+"/n/1", site.URL+"/held/x", site.URL+"/n/2"))
	p := startIn(t, command(dir, nil, "batch", "submit", "--wait", list, "--server", s.url))
	id := jobOf(t, p)
	receive(t, "the request", site.arrived)
	if _, err := p.wait(p.out, `"idx":0,`); err != nil {
		t.Fatal(err)
	}
	p.signal(t, syscall.SIGINT)
	p.endsWith(t, exitInterrupted)
	if got := printed(t, p); got != "0 done" {
		t.Errorf("before: %s", got)
	}
	// What it printed is what goes on.
	_, words, ok := strings.Cut(p.log.String(), "Collect the rest with: sift ")
	words, _, _ = strings.Cut(words, "\n")
	if !ok || !strings.HasSuffix(words, id) {
		t.Fatalf("it said %q", p.log)
	}
	rest := startIn(t, command(dir, nil, strings.Fields(words)...))
	site.release <- struct{}{}
	rest.endsWith(t, 0)
	if got := printed(t, rest); got != "1 done, 2 done" {
		t.Errorf("the rest: %s", got)
	}
	s.stop(t)
}

func TestACancelledJobIsWaitedForUntilItsLastTargetIsThere(t *testing.T) {
	t.Parallel()
	site, dir := newSite(t), t.TempDir()
	s := serve(t, dir, nil, "--config", writeFile(t, dir, "sift.toml", site.settings("")))
	list := writeFile(t, dir, "urls.txt", joined(site.URL+"/held/x", site.URL+"/n/1"))
	env := []string{"SIFT_URL=" + s.url}
	p := startIn(t, command(dir, env, "batch", "submit", "--wait", list))
	id := jobOf(t, p)
	receive(t, "the request", site.arrived)
	if code, stdout, stderr := runSift(t, dir, env, "batch", "cancel", id); code != 0 || stdout != `{"success":true,"status":"cancelled"}`+"\n" {
		t.Errorf("cancel: %d %q %q", code, stdout, stderr)
	}
	// The same list is still the same job.
	if code, stdout, _ := runSift(t, dir, env, "batch", "submit", list); code != 0 || !strings.Contains(stdout, `"status":"cancelled","targets":2,"reused":true,"hint":"fresh"`) {
		t.Errorf("submitted again: %d %q", code, stdout)
	}
	site.release <- struct{}{}
	p.endsWith(t, exitPartial)
	if got := printed(t, p); got != "0 done, 1 pending" {
		t.Errorf("collected: %s", got)
	}
	s.stop(t)
}

func TestAWaitOutlivesARestartOfTheServer(t *testing.T) {
	t.Parallel()
	site, dir := newSite(t), t.TempDir()
	config := writeFile(t, dir, "sift.toml", site.settings(""))
	s := serve(t, dir, nil, "--config", config)
	list := writeFile(t, dir, "urls.txt", joined(site.URL+"/n/1", site.URL+"/held/x", site.URL+"/n/2"))
	p := startIn(t, command(dir, nil, "batch", "submit", "--wait", list, "--server", s.url))
	jobOf(t, p)
	receive(t, "the request", site.arrived)
	if _, err := p.wait(p.out, `"idx":0,`); err != nil {
		t.Fatal(err)
	}
	s.kill()
	p.waitLog(t, "cannot reach the sift server at "+s.url, "trying again for 1m0s")
	again := serve(t, dir, nil, "--config", filepath.Join(dir, "sift.toml"), "--listen", strings.TrimPrefix(s.url, "http://"))
	p.endsWith(t, exitFailure)
	if got := printed(t, p); got != "0 done, 1 failed, 2 pending" {
		t.Errorf("collected: %s", got)
	}
	for _, want := range []string{"sift: the server answers again\n", " is failed: 2 of 3 targets finished, 1 failed (restart)\n"} {
		if !strings.Contains(p.log.String(), want) {
			t.Errorf("%q is not in %q", want, p.log)
		}
	}
	again.stop(t)
}
