package batch_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sift.build/sift/internal/batch"
	"sift.build/sift/internal/sift"
)

// world is a runner on a memory store, with the fetches and the log under the
// test's hands. It lives in a synctest bubble.
type world struct {
	*testing.T
	*batch.Runner
	store *memStore
	conf  batch.Config
	pages map[string]page // by URL; any other URL is answered with itself
	log   *syncBuffer

	mu       sync.Mutex
	fetched  []string // URLs, as each fetch began
	now      map[string]int
	peak     int // fetches at once
	outcomes []string

	end func() // ends Run and waits for it
}

// otherStore opens what a world has instead of a store in memory.
var otherStore atomic.Value

type page func(ctx context.Context, t batch.Target) (batch.Result, error)

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func inWorld(t *testing.T, fn func(t *testing.T, w *world)) { inWorldWith(t, batch.Config{}, fn) }

// inWorldWith makes a world in which c, with defaults filled in, is the
// configuration. Nothing runs yet.
func inWorldWith(t *testing.T, c batch.Config, fn func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, c)
		defer func() { w.end() }()
		fn(t, w)
	})
}

func newWorld(t *testing.T, c batch.Config) *world {
	w := &world{T: t, store: newMemStore(), pages: map[string]page{}, log: &syncBuffer{}, now: map[string]int{}, end: func() {}}
	set := func(n *int, v int) {
		if *n == 0 {
			*n = v
		}
	}
	set(&c.TargetsPerJob, 32)
	set(&c.JobsPerCaller, 1)
	set(&c.JobsTotal, 8)
	set(&c.Workers, 2)
	if c.TTL == 0 {
		c.TTL = 24 * time.Hour
	}
	if c.MaxBytes == 0 {
		c.MaxBytes = 64 << 20
	}
	if c.Grace == 0 {
		c.Grace = 5 * time.Second
	}
	c.Store, c.Fetch, c.Check = w.store, w.fetch, check
	if open, ok := otherStore.Load().(func(*testing.T) batch.Store); ok && open != nil {
		c.Store, w.store = open(t), nil
	}
	c.Log = slog.New(slog.NewJSONHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	c.Trace = &batch.Trace{
		Job:    func(outcome string, took time.Duration) { w.note("job " + outcome); w.early(outcome, took) },
		Target: func(outcome string, _ time.Duration) { w.note("target " + outcome) },
		Stored: func(n int) { w.note(fmt.Sprintf("stored %d", n)) },
	}
	w.conf = c
	w.Runner = batch.New(c)
	return w
}

func (w *world) early(outcome string, took time.Duration) {
	if live := outcome == "created" || outcome == "reused" || outcome == "restart"; live && took != 0 || took < 0 {
		w.Errorf("%s took %v", outcome, took)
	}
}

func (w *world) note(outcome string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.outcomes = append(w.outcomes, outcome)
}

// told counts what the trace was told.
func (w *world) told(outcome string) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, o := range w.outcomes {
		if o == outcome {
			n++
		}
	}
	return n
}

// Job is Runner.Job with the results, as its caller reads them.
func (w *world) Job(ctx context.Context, c sift.Caller, id string, after int, wait time.Duration) (*sift.Job, error) {
	j, err := w.Runner.Job(ctx, c, id, after, wait)
	if err != nil {
		return nil, err
	}
	for i := range j.Targets {
		t := &j.Targets[i]
		if t.Status != sift.TargetDone {
			continue
		}
		if t.Result, err = w.Result(ctx, c, id, t.Idx); err != nil {
			return nil, err
		}
		if len(t.Result) != t.ResultBytes {
			w.Errorf("target %d of %s has a result of %d bytes, not %d", t.Idx, id, len(t.Result), t.ResultBytes)
		}
		t.ResultBytes = 0
	}
	return j, nil
}

// check does as the guard's pre-check does with a port and with upper case.
func check(t sift.Target) (string, error) {
	if strings.Contains(t.URL, ":8080") {
		return "", sift.Fail(sift.CodeBlocked, "port 8080 is not allowed").WithCause(errors.New("cause"))
	}
	return strings.ToLower(t.URL), nil
}

func (w *world) fetch(ctx context.Context, t batch.Target) (batch.Result, error) {
	w.mu.Lock()
	w.fetched = append(w.fetched, t.URL)
	w.now[t.URL]++
	n := 0
	for _, running := range w.now {
		n += running
	}
	w.peak = max(w.peak, n)
	p := w.pages[t.URL]
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.now[t.URL]--
	}()
	if p == nil {
		return answer(t.URL), nil
	}
	return p(ctx, t)
}

func answer(content string) batch.Result {
	b, err := json.Marshal(map[string]any{"success": true, "content": content})
	if err != nil {
		panic(err)
	}
	return batch.Result{JSON: b}
}

// fetches are the URLs fetched so far.
func (w *world) fetches() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.fetched)
}

// start runs the runner, until end is called.
func (w *world) start() {
	ctx, cancel := context.WithCancel(w.Context())
	over := make(chan error, 1)
	go func() { over <- w.Runner.Run(ctx) }()
	w.end = func() {
		w.end = func() {}
		cancel()
		if err := <-over; err != nil {
			w.Errorf("Run: %v", err)
		}
	}
}

// restart is the next process on the same store.
func (w *world) restart() {
	w.end()
	w.Runner = batch.New(w.conf)
	if err := w.Recover(w.Context()); err != nil {
		w.Fatal(err)
	}
}

func caller(name string) sift.Caller { return sift.Caller{Name: name, Class: "default"} }

func urls(list ...string) []sift.Target {
	targets := make([]sift.Target, 0, len(list))
	for _, url := range list {
		targets = append(targets, sift.Target{URL: url})
	}
	return targets
}

// submit is a submit that must be accepted.
func (w *world) submit(who string, list ...string) sift.Submitted {
	w.Helper()
	s, err := w.Submit(w.Context(), caller(who), urls(list...), false)
	if err != nil {
		w.Fatal(err)
	}
	return s
}

func (w *world) job(who, id string) *sift.Job {
	w.Helper()
	j, err := w.Job(w.Context(), caller(who), id, -1, 0)
	if err != nil {
		w.Fatal(err)
	}
	return j
}

// ended waits until the job has ended.
func (w *world) ended(who, id string) *sift.Job {
	w.Helper()
	for {
		j, err := w.Job(w.Context(), caller(who), id, -1, time.Hour)
		if err != nil {
			w.Fatal(err)
		}
		if running := slices.ContainsFunc(j.Targets, func(t sift.JobTarget) bool { return t.Status == sift.TargetRunning }); !j.Status.Live() && !running {
			synctest.Wait() // for what follows the store: log and trace
			return j
		}
	}
}

func (w *world) cancel(who, id string) sift.JobStatus {
	w.Helper()
	s, err := w.Cancel(w.Context(), caller(who), id)
	if err != nil {
		w.Fatal(err)
	}
	return s
}

// wantFailure is a call that must fail with this code.
func (w *world) wantFailure(err error, code sift.Code, words ...string) *sift.Failure {
	w.Helper()
	f, ok := errors.AsType[*sift.Failure](err)
	if !ok || f.Code != code {
		w.Fatalf("the error is %v, not one of code %s", err, code)
	}
	for _, word := range words {
		if !strings.Contains(f.Message, word) {
			w.Errorf("the message is %q, without %q", f.Message, word)
		}
	}
	return f
}

// states is a job in short, such as "partial 3/3: done failed pending".
func states(j *sift.Job) string {
	s := fmt.Sprintf("%s %d/%d:", j.Status, j.TargetsDone, j.TargetsTotal)
	for _, t := range j.Targets {
		s += " " + string(t.Status)
	}
	return s
}

func (w *world) is(j *sift.Job, want string) {
	w.Helper()
	if got := states(j); got != want {
		w.Errorf("the job is %q, not %q", got, want)
	}
}

// held is a page that waits for a value and then comes to that.
type held chan outcome

type outcome struct {
	result batch.Result
	err    error
}

func (h held) page(ctx context.Context, _ batch.Target) (batch.Result, error) {
	select {
	case o := <-h:
		return o.result, o.err
	case <-ctx.Done():
		return batch.Result{}, sift.Fail(sift.CodeCancel, "the caller went away").WithCause(ctx.Err())
	}
}

func (w *world) hold(url string) held {
	h := make(held)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pages[url] = h.page
	return h
}

// fails is a page that fails.
func fails(f *sift.Failure) page {
	return func(context.Context, batch.Target) (batch.Result, error) { return batch.Result{}, f }
}

func missing() *sift.Failure { return sift.Fail(sift.CodeUpstream4xx, "the server answered 404") }

func busy() *sift.Failure { return sift.Fail(sift.CodeBusy, "all slots are in use") }
