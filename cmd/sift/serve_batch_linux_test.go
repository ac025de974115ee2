package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sift.build/sift/internal/sift"
)

func TestADiskThatFillsUpFailsTheJobAndSaysWhy(t *testing.T) {
	t.Parallel()
	site, dir := newSite(t), t.TempDir()
	state := filepath.Join(dir, "state")
	config := writeFile(t, dir, "sift.toml", site.settings("[cache]\nmax_bytes = \"1KiB\"\n[batch]\njobs_per_caller = 2\n"))
	p := startIn(t, mounted(t, dir, state, 1400<<10, "rw", "serve", "--listen", "127.0.0.1:0", "--log-level", "debug", "--config", config))
	s, err := listening(p)
	if err != nil {
		t.Fatal(err)
	}
	sub := s.submit(t, "", noisy(site, 16))
	job := s.follow(t, "", sub.JobID, "has ended", func(j sift.Job) bool { return !j.Status.Live() })
	if job.Status != sift.JobFailed || !strings.HasPrefix(job.Error, "store: ") || !strings.Contains(job.Error, "disk") || strings.Contains(job.Error, dir) {
		t.Errorf("it is %s with the error %q", job.Status, job.Error)
	}
	done := 0
	for i, target := range job.Targets {
		if target.Status == sift.TargetDone {
			done++
			if i != done-1 {
				t.Errorf("target %d was fetched behind one that could not be stored", i)
			}
		}
	}
	if done == 0 || done == 16 || job.TargetsDone < done {
		t.Errorf("%d of 16 results were stored; targets_done is %d", done, job.TargetsDone)
	}
	if n := site.count("/noise"); n > 3*(done+2) {
		t.Errorf("the site was asked %d times for %d results", n, done)
	}
	// What was stored stays readable, and fetches go on.
	if again := s.job(t, "", sub.JobID, ""); states(again) != states(job) {
		t.Errorf("read again: %s, not %s", states(again), states(job))
	}
	if got := s.fetch("", site.URL+"/article"); got.status != http.StatusOK {
		t.Errorf("a fetch: %+v", got)
	}
	time.Sleep(200 * time.Millisecond) // now its lease is worth renewing, which cannot be written either
	if again := s.submit(t, "", noisy(site, 16)); !again.Reused || again.Status != sift.JobFailed || again.Hint != sift.HintFresh {
		t.Errorf("the same list: %+v", again)
	}
	s.stop(t)
	if log := s.log.String(); !strings.Contains(log, "no room left on the disk") {
		t.Errorf("the log does not say why:\n%s", log)
	}
}

func TestALongResultIsCutAndReadOnFromItsSnapshot(t *testing.T) {
	t.Parallel()
	site, dir := newSite(t), t.TempDir()
	s := serve(t, dir, nil, "--config", writeFile(t, dir, "sift.toml", site.settings("")))
	sub := s.submit(t, "", noisy(site, 1))
	job := s.follow(t, "", sub.JobID, "has ended", ended)
	if states(job) != "done: done" || len(job.Targets[0].Result) > 256<<10 {
		t.Fatalf("%s with %d bytes", states(job), len(job.Targets[0].Result))
	}
	var env struct {
		Content    string
		Truncated  bool
		NextOffset *int `json:"next_offset"`
		Snapshot   string
	}
	if err := json.Unmarshal(job.Targets[0].Result, &env); err != nil || !env.Truncated || env.NextOffset == nil || env.Snapshot == "" {
		t.Fatalf("%v: truncated %v, next %v, snapshot %q", err, env.Truncated, env.NextOffset, env.Snapshot)
	}
	var rest, whole struct{ Content string }
	got := ask(http.MethodPost, s.url+"/v1/fetch", "", fmt.Sprintf(`{"url":"%s/noise?0","snapshot":%q,"offset":%d,"max_chars":10000000}`, site.URL, env.Snapshot, *env.NextOffset))
	if err := json.Unmarshal([]byte(got.body), &rest); err != nil || got.status != 200 {
		t.Fatalf("the rest: %d %.200s", got.status, got.body)
	}
	got = ask(http.MethodPost, s.url+"/v1/fetch", "", fmt.Sprintf(`{"url":"%s/noise?0","max_chars":10000000}`, site.URL))
	if err := json.Unmarshal([]byte(got.body), &whole); err != nil || env.Content+rest.Content != whole.Content {
		t.Error("the window and the rest are not the whole")
	}
	if n := site.count("/noise"); n != 1 {
		t.Errorf("it was downloaded %d times", n)
	}
	s.stop(t)
}

// Finished jobs make room for new ones, those that nobody read for longest
// first; a live one stays.
func TestTheBytesOfAllJobsAreBoundedByLettingTheOldestGo(t *testing.T) {
	t.Parallel()
	site, dir := newSite(t), t.TempDir()
	s := serve(t, dir, nil, "--config", writeFile(t, dir, "sift.toml", site.settings("[batch]\nmax_bytes = \"1MiB\"\njobs_per_caller = 2\n")))
	live := s.submit(t, "", list(site.URL+"/held/live"))
	receive(t, "the live job's target", site.arrived)
	var ids []string
	for i := range 6 {
		body := strings.ReplaceAll(noisy(site, 1), "/noise?0", fmt.Sprintf("/noise?job%d", i))
		sub := s.submit(t, "", body)
		ids = append(ids, sub.JobID)
		if job := s.follow(t, "", sub.JobID, "has ended", ended); job.Status != sift.JobDone {
			t.Fatalf("job %d: %s, %q", i, states(job), job.Targets[0].Error)
		}
		if i == 2 {
			s.job(t, "", ids[0], "") // the first is newer than the second now
		}
	}
	var held []string
	for i, id := range ids {
		if got := get(s.url + "/v1/batch/" + id); got.status == http.StatusOK {
			held = append(held, fmt.Sprint(i))
		}
	}
	// Three or four results of up to 256 KiB fit beside the live job: the last
	// ones in the order in which they were read.
	if got := strings.Join(held, " "); got != "0 3 4 5" && got != "3 4 5" { // 0 was read after 2
		t.Errorf("held are %s", got)
	}
	site.release <- struct{}{}
	if got := s.follow(t, "", live.JobID, "has ended", ended); states(got) != "done: done" {
		t.Errorf("the live job: %s", states(got))
	}
	s.stop(t)
}

// The service was killed while a job ran, and the disk is full when it starts.
func TestAServiceStartsOnAFullDiskAndShowsWhatWasLiveAsFailed(t *testing.T) {
	t.Parallel()
	site, dir := newSite(t), t.TempDir()
	state := filepath.Join(dir, "state")
	config := writeFile(t, dir, "sift.toml", site.settings(""))
	s := serve(t, dir, nil, "--config", config)
	sub := s.submit(t, "", list(site.URL+"/article", site.URL+"/held/a"))
	receive(t, "the target in flight", site.arrived)
	s.kill()
	if err := os.Rename(state, state+"-contents"); err != nil {
		t.Fatal(err)
	}

	p := startIn(t, mounted(t, dir, state, 4<<20, "full", "serve", "--listen", "127.0.0.1:0", "--config", config))
	s, err := listening(p)
	if err != nil {
		t.Fatal(err)
	}
	job := s.job(t, "", sub.JobID, "")
	if states(job) != "failed: done failed" || job.Error != "restart" || job.Targets[1].Error != "restart" {
		t.Errorf("%s, %q", states(job), job.Error)
	}
	if got := s.fetch("", site.URL+"/article"); got.status != http.StatusOK {
		t.Errorf("a fetch: %+v", got)
	}
	got := ask(http.MethodPost, s.url+"/v1/batch", "", list(site.URL+"/plain.txt"))
	if got.status != http.StatusTooManyRequests || !containsAll(got.body, []string{`"code":"cap"`, "disk", "full"}) {
		t.Errorf("a submit: %+v", got)
	}
	s.kill() // a stop would complain, rightly, of what it cannot write
}
