// Package storetest holds the tests that every batch.Store must pass. A store's
// own tests call Run:
//
//	func TestTheStoreKeepsItsContract(t *testing.T) {
//		storetest.Run(t, func(t *testing.T) batch.Store { return openStore(t) })
//	}
//
// They are of package batch's contract alone: what is special to one store
// (its disk, its processes, its network) is for the tests of that store.
package storetest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"sift.build/sift/internal/batch"
	"sift.build/sift/internal/sift"
)

// Run tests stores made by open. Each test opens one of its own, which must be
// empty, and which open closes when its test has ended.
func Run(t *testing.T, open func(t *testing.T) batch.Store) {
	for _, tt := range tests() {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.fn(&suite{T: t, Store: open(t)})
		})
	}
}

type test struct {
	name string
	fn   func(s *suite)
}

func tests() []test {
	return []test{
		{"a job is read back as it was created", readBack},
		{"a job that cannot be is refused", refuseNonsense},
		{"the caller of a job travels with it", callerTravels},
		{"the same list is answered with the same job until its lease has expired", reuse},
		{"a job that has ended is answered too, with its state", reuseEnded},
		{"reuse renews the lease and comes before every cap", reuseBeforeCaps},
		{"one key of two callers is two jobs", keyOfTwoCallers},
		{"fresh makes the newest job of its key", fresh},
		{"a live job never expires", liveNeverExpires},
		{"two creates at once make one job", createTogether(2, 25)},
		{"32 creates at once make one job", createTogether(32, 6)},
		{"fresh creates at once leave one newest job", freshTogether},
		{"caps count live jobs, the caller's first", caps},
		{"caps hold when many ask at once", capsTogether},
		{"caps are free again when a job ends", capsFreed},
		{"the job queued longest is claimed first", claimOldest},
		{"a job is claimed by one", claimTogether},
		{"every change of state happens in its own state alone", states},
		{"a target is finished once", finishOnce},
		{"a job ends as its targets did", finalStatus},
		{"a cancelled job takes the target in flight and no other", cancelInFlight},
		{"cancelling tells what it came to", cancelTells},
		{"cancelling and finishing the last target at once leave one end", cancelAgainstFinish},
		{"a failed job keeps what it had", failJob},
		{"a target of a job that is gone is not stored", finishGone},
		{"targets that were collected are left out", after},
		{"a result is read by its caller as long as the job is there", result},
		{"a job and its targets are of one moment", oneMoment},
		{"a job without its results", progress},
		{"jobs are listed newest first", list},
		{"live jobs are counted by state", liveJobs},
		{"a read and a finished target renew the lease", renew},
		{"the sweep deletes what has expired and nothing else", sweep},
		{"what has expired is gone before it is swept", expiredIsGone},
		{"leases move with the clock", shiftLeases},
		{"the job with the oldest lease is evicted first", evictOldest},
		{"live jobs at their largest stay within the bytes", liveWithinBytes},
		{"finished jobs make room, and no more of them than needed", makeRoom},
		{"where nothing can make room nothing changes", noRoom},
		{"the bytes of all jobs are those of each together", nbytes},
		{"a caller's lists push out that caller's own finished jobs alone", listRoom},
		{"a restart fails what was live and in flight", restart},
		{"another's job is a job that does not exist", ownership},
		{"a caller that has left changes nothing", leftCaller},
	}
}

const ttl = 24 * time.Hour

// start is a moment with milliseconds, which are kept.
func start() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 123e6, time.UTC) }

// at is the lease clock, d after the start.
func at(d time.Duration) batch.Lease { return batch.Lease{Now: start().Add(d), TTL: ttl} }

// Caps and bytes that are in nobody's way.
const plenty = 1 << 40

func roomy() batch.Caps { return batch.Caps{PerCaller: 1 << 20, Total: 1 << 20, ListBytes: plenty} }

type suite struct {
	*testing.T
	batch.Store
	ids int
}

// newJob is a job of n targets, created at the start, with an id and a key that no
// other has.
func (s *suite) newJob(caller string, n int) batch.NewJob {
	s.ids++
	return job(caller, fmt.Sprintf("job-%04d", s.ids), n)
}

func job(caller, id string, n int) batch.NewJob {
	j := batch.NewJob{ID: id, Caller: sift.Caller{Name: caller, Class: "default"}, IdemKey: key(caller, id), CreatedAt: start()}
	for i := range n {
		j.Targets = append(j.Targets, target(i))
	}
	return j
}

func target(i int) batch.NewTarget {
	return batch.NewTarget{
		URL:     fmt.Sprintf("https://example.org/%d?q=%%20ü", i),
		Options: json.RawMessage(fmt.Sprintf(`{"mode":"text", "grep":"%d"}`, i)),
	}
}

func key(caller, list string) string {
	h := sha256.Sum256([]byte(caller + "\x00" + list))
	return hex.EncodeToString(h[:])
}

func (s *suite) ok(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// same compares what a store gave with what it should have given.
func same[T any](s *suite, what string, got, want T) {
	s.Helper()
	if !reflect.DeepEqual(got, want) {
		s.Errorf("%s is\n%s\nand should be\n%s", what, show(got), show(want))
	}
}

func show(v any) string {
	text := fmt.Sprintf("%+v", v)
	if b, err := json.MarshalIndent(v, "", " "); err == nil {
		text = string(b)
	}
	if len(text) > 4000 {
		text = text[:4000] + "…"
	}
	return text
}

func (s *suite) create(j batch.NewJob, l batch.Lease) batch.Created {
	s.Helper()
	c, err := s.CreateJob(s.Context(), j, roomy(), l)
	s.ok(err)
	return c
}

// queued makes a job of its own.
func (s *suite) queued(caller string, n int, l batch.Lease) batch.NewJob {
	s.Helper()
	j := s.newJob(caller, n)
	if c := s.create(j, l); c.Reused || c.ID != j.ID {
		s.Fatalf("a new job is %+v", c)
	}
	return j
}

func (s *suite) claim() batch.Claimed {
	s.Helper()
	c, ok, err := s.ClaimJob(s.Context())
	s.ok(err)
	if !ok {
		s.Fatal("no job could be claimed")
	}
	return c
}

// running makes a job and claims it. No other may be queued.
func (s *suite) running(caller string, n int, l batch.Lease) batch.Claim {
	s.Helper()
	j := s.queued(caller, n, l)
	c := s.claim()
	if c.JobID != j.ID {
		s.Fatalf("claimed %s instead of %s", c.JobID, j.ID)
	}
	return c.Claim
}

func (s *suite) startTarget(c batch.Claim, idx int) {
	s.Helper()
	ok, err := s.StartTarget(s.Context(), c, idx)
	s.ok(err)
	if !ok {
		s.Fatalf("target %d of %s was not started", idx, c.JobID)
	}
}

// answered and failed are outcomes.
func answered(idx int) batch.Outcome {
	return batch.Outcome{Idx: idx, Result: json.RawMessage(fmt.Sprintf(`{"success":true, "content":"the page %d, größer"}`, idx)), MaxBytes: plenty}
}

func failed(idx int) batch.Outcome {
	return batch.Outcome{Idx: idx, Error: fmt.Sprintf("blocked: private address 10.0.0.%d", idx), Hint: sift.HintBrowser, MaxBytes: plenty}
}

// large is an answer of n bytes.
func large(idx, n int) batch.Outcome {
	o := answered(idx)
	o.Result = json.RawMessage(`"` + strings.Repeat("x", n-2) + `"`)
	return o
}

func (s *suite) finish(c batch.Claim, o batch.Outcome, l batch.Lease) batch.Finished {
	s.Helper()
	f, err := s.FinishTarget(s.Context(), c, o, l)
	s.ok(err)
	if !f.Stored {
		s.Fatalf("target %d of %s was not stored", o.Idx, c.JobID)
	}
	return f
}

// drain starts and finishes targets.
func (s *suite) drain(c batch.Claim, l batch.Lease, outcomes ...batch.Outcome) (last batch.Finished) {
	s.Helper()
	for _, o := range outcomes {
		s.startTarget(c, o.Idx)
		last = s.finish(c, o, l)
	}
	return last
}

// done makes a job of one target that was answered with about n bytes.
func (s *suite) done(caller string, n int, l batch.Lease) string {
	s.Helper()
	c := s.running(caller, 1, l)
	if f := s.drain(c, l, large(0, n)); f.Job != sift.JobDone {
		s.Fatalf("the job is %s", f.Job)
	}
	return c.JobID
}

// Whole reads a job with the results of its targets. Where the job goes away in
// between it is not found.
func Whole(ctx context.Context, s batch.Store, caller, id string, after int, l batch.Lease) (j sift.Job, found bool, err error) {
	if j, found, err = s.Job(ctx, caller, id, after, l); err != nil || !found {
		return j, found, err
	}
	for i := range j.Targets {
		t := &j.Targets[i]
		if t.Result != nil {
			return j, false, fmt.Errorf("target %d of %s came with its result", t.Idx, id)
		}
		if t.Status != sift.TargetDone {
			continue
		}
		if t.Result, found, err = s.Result(ctx, caller, id, t.Idx); err != nil || !found {
			return sift.Job{}, false, err
		}
		if len(t.Result) != t.ResultBytes {
			return j, false, fmt.Errorf("the result of target %d of %s has %d bytes, not %d", t.Idx, id, len(t.Result), t.ResultBytes)
		}
		t.ResultBytes = 0
	}
	return j, true, nil
}

// peek tells whether a job is there, without renewing its lease.
func (s *suite) peek(caller, id string, l batch.Lease) bool {
	s.Helper()
	_, found, err := s.JobProgress(s.Context(), caller, id, l)
	s.ok(err)
	return found
}

func (s *suite) job(caller, id string, l batch.Lease) sift.Job {
	s.Helper()
	j, found, err := Whole(s.Context(), s, caller, id, -1, l)
	s.ok(err)
	if !found {
		s.Fatalf("%s of %s was not found", id, caller)
	}
	return j
}

func (s *suite) bytes() int64 {
	s.Helper()
	n, err := s.BatchNbytes(s.Context())
	s.ok(err)
	return n
}

func (s *suite) sweep(l batch.Lease) int {
	s.Helper()
	n, err := s.SweepJobs(s.Context(), l)
	s.ok(err)
	return n
}

func (s *suite) cancel(caller, id string, l batch.Lease) batch.Cancelled {
	s.Helper()
	c, found, err := s.CancelJob(s.Context(), caller, id, l)
	s.ok(err)
	if !found {
		s.Fatalf("%s of %s was not found", id, caller)
	}
	return c
}

// capped is a create that must be refused by this cap.
func (s *suite) capped(j batch.NewJob, caps batch.Caps, l batch.Lease, want batch.CapError) {
	s.Helper()
	c, err := s.CreateJob(s.Context(), j, caps, l)
	e, ok := errors.AsType[*batch.CapError](err)
	if !ok {
		s.Fatalf("created %+v, %v; want %v", c, err, &want)
	}
	same(s, "the cap's error", *e, want)
}

// together runs fn n times at once and gives back what each returned.
func together[T any](s *suite, n int, fn func(i int) (T, error)) []T {
	s.Helper()
	var wg sync.WaitGroup
	ready := make(chan struct{})
	results, errs := make([]T, n), make([]error, n)
	for i := range n {
		wg.Go(func() {
			<-ready
			results[i], errs[i] = fn(i)
		})
	}
	close(ready)
	wg.Wait()
	s.ok(errors.Join(errs...))
	return results
}

func leftCaller(s *suite) {
	ctx, cancel := context.WithCancel(s.Context())
	cancel()
	j := s.newJob("a", 1)
	if _, err := s.CreateJob(ctx, j, roomy(), at(0)); !errors.Is(err, context.Canceled) {
		s.Errorf("error is %v", err)
	}
	if s.peek("a", j.ID, at(0)) {
		s.Error("the job was created")
	}
	s.queued("a", 1, at(0)) // and nothing was left locked
}
