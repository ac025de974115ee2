package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"sift.build/sift/internal/sift"
)

// killedJob is what a client of a service that is killed has been told of a
// job: what it must find again.
type killedJob struct {
	id      string
	targets int
	told    sift.Job // the last answer about it
}

// ledger is what the client was told of all jobs.
type ledger struct {
	mu   sync.Mutex
	jobs []*killedJob
}

func (l *ledger) all() []*killedJob {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]*killedJob{}, l.jobs...)
}

// note compares an answer with what was told before and keeps it. restarted
// says that the service was killed in between.
func (l *ledger) note(j *killedJob, now sift.Job, restarted bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := j.told
	j.told = now
	if now.TargetsTotal != j.targets || len(now.Targets) != j.targets {
		return fmt.Errorf("it has %d targets, %d of them listed, not %d", now.TargetsTotal, len(now.Targets), j.targets)
	}
	finished := 0
	for i, t := range now.Targets {
		if t.Idx != i {
			return fmt.Errorf("target %d stands at place %d", t.Idx, i)
		}
		switch t.Status {
		case sift.TargetDone:
			finished++
			var env struct{ Content string }
			if err := json.Unmarshal(t.Result, &env); err != nil || !strings.Contains(env.Content, "page of "+t.URL[strings.LastIndexByte(t.URL, '/')+1:]) {
				return fmt.Errorf("target %d has a result that is not its own: %.200s", i, t.Result)
			}
		case sift.TargetFailed:
			finished++
			if t.Error != "restart" || t.Hint != sift.HintFresh {
				return fmt.Errorf("target %d failed with %q and hint %q", i, t.Error, t.Hint)
			}
		case sift.TargetRunning:
			if restarted {
				return fmt.Errorf("target %d is running, and nobody is at work on it", i)
			}
		case sift.TargetPending:
		}
		if i < len(before.Targets) {
			if b := before.Targets[i]; (b.Status == sift.TargetDone || b.Status == sift.TargetFailed) && (b.Status != t.Status || string(b.Result) != string(t.Result)) {
				return fmt.Errorf("target %d was %s and is %s", i, b.Status, t.Status)
			}
		}
	}
	if now.TargetsDone != finished {
		return fmt.Errorf("targets_done is %d, and %d targets are finished", now.TargetsDone, finished)
	}
	switch {
	case before.Status != "" && !before.Status.Live() && now.Status != before.Status:
		return fmt.Errorf("it was %s and is %s", before.Status, now.Status)
	case restarted && now.Status.Live():
		return fmt.Errorf("it is %s after a restart", now.Status)
	case restarted && now.Status == sift.JobFailed && now.Error != "restart":
		return fmt.Errorf("it failed with the error %q", now.Error)
	}
	return nil
}

// A hundred times the service is killed at a random moment, in whatever phase
// its jobs are, and started again on the same store.
func TestNoKillLosesWhatWasAcknowledged(t *testing.T) {
	if testing.Short() {
		t.Skip("a hundred starts of the real binary; run without -short")
	}
	t.Parallel()
	const kills = 100
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 1))

	var mu sync.Mutex
	hits := make(map[string]int)
	pages := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		hits[r.URL.Path]++
		pause := time.Duration(rnd.IntN(12)) * time.Millisecond
		mu.Unlock()
		select {
		case <-time.After(pause): // so that a kill meets targets in flight too
		case <-r.Context().Done():
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprintf(w, "<title>t</title><main><h1>One</h1><p>This is the page of %s, and there is no other like it.</p></main>", r.URL.Path[1:])
	}))
	t.Cleanup(pages.Close)
	dir := t.TempDir()
	config := writeFile(t, dir, "sift.toml", fmt.Sprintf(
		"data_dir = \"state\"\n[guard]\nallow = [%q]\n[batch]\njobs_per_caller = 8\n", pages.Listener.Addr().String()))

	read := func(s *server, j *killedJob) (sift.Job, int, error) {
		got := get(s.url + "/v1/batch/" + j.id)
		var job sift.Job
		if got.err != nil || got.status != http.StatusOK {
			return job, got.status, got.err
		}
		err := json.Unmarshal([]byte(got.body), &job)
		return job, got.status, err
	}
	var books ledger
	acknowledged := make(map[sift.JobStatus]int) // states in which jobs were met after a kill
	for round := range kills {
		s := serve(t, dir, nil, "--config", config)
		for _, j := range books.all() {
			job, status, err := read(s, j)
			if err != nil || status != http.StatusOK {
				t.Fatalf("round %d: the acknowledged job %s is answered with %d, %v", round, j.id, status, err)
			}
			if j.told.Status == "" || j.told.Status.Live() {
				acknowledged[job.Status]++
			}
			if err := books.note(j, job, true); err != nil {
				t.Fatalf("round %d: job %s: %v\n%s", round, j.id, err, s.log)
			}
		}

		killAfter := time.Duration(rnd.IntN(250)) * time.Millisecond
		var clients sync.WaitGroup
		for c := range 3 {
			own := rand.New(rand.NewPCG(seed, uint64(round*10+c+2)))
			clients.Go(func() {
				for n := 0; ; n++ {
					var urls []string
					for i := range 1 + own.IntN(6) {
						urls = append(urls, fmt.Sprintf(`{"url":"%s/r%d-c%d-n%d-t%d"}`, pages.URL, round, c, n, i))
					}
					got := ask(http.MethodPost, s.url+"/v1/batch", "", `{"targets":[`+strings.Join(urls, ",")+`]}`)
					var sub sift.Submitted
					switch {
					case got.err != nil:
						return // killed
					case got.status == http.StatusTooManyRequests:
					case got.status != http.StatusAccepted || json.Unmarshal([]byte(got.body), &sub) != nil || sub.Reused:
						t.Errorf("submit: %+v", got)
						return
					default:
						books.mu.Lock()
						books.jobs = append(books.jobs, &killedJob{id: sub.JobID, targets: len(urls)})
						books.mu.Unlock()
					}
					jobs := books.all()
					for range 3 {
						if len(jobs) == 0 {
							break
						}
						j := jobs[len(jobs)-1-own.IntN(min(len(jobs), 6))]
						if own.IntN(6) == 0 {
							if got := ask(http.MethodDelete, s.url+"/v1/batch/"+j.id, "", ""); got.err == nil && got.status != http.StatusOK {
								t.Errorf("cancel: %+v", got)
							}
						}
						if _, _, err := read(s, j); err != nil {
							return
						}
					}
				}
			})
		}
		// One reader alone keeps the books, so that what it was told is in order.
		told := make(chan struct{})
		go func() {
			defer close(told)
			for {
				for _, j := range books.all() {
					if j.told.Status != "" && !j.told.Status.Live() && j.told.Status != sift.JobCancelled {
						continue
					}
					job, status, err := read(s, j)
					if err != nil {
						return
					}
					if status != http.StatusOK {
						t.Errorf("round %d: job %s is answered with %d", round, j.id, status)
						return
					}
					if err := books.note(j, job, false); err != nil {
						t.Errorf("round %d: job %s: %v", round, j.id, err)
						return
					}
				}
				if len(books.all()) == 0 && get(s.url+"/healthz").err != nil {
					return
				}
			}
		}()
		time.Sleep(killAfter) // the moment is what is random here
		s.kill()
		clients.Wait()
		<-told
		if t.Failed() {
			return
		}
	}
	mu.Lock()
	defer mu.Unlock()
	for path, n := range hits {
		if n > 1 {
			t.Errorf("%s was fetched %d times", path, n)
		}
	}
	t.Logf("%d jobs and %d fetches over %d kills; jobs that were live at a kill ended as %v", len(books.jobs), len(hits), kills, acknowledged)
	if len(books.jobs) < kills/2 || acknowledged[sift.JobFailed] < kills/10 {
		t.Errorf("too few jobs were met by a kill: the test tried too little")
	}
}
