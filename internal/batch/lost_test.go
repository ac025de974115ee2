package batch_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sift.build/sift/internal/batch"
	"sift.build/sift/internal/sift"
)

// faults are operations of the store that fail.
type faults struct {
	mu   sync.Mutex
	ops  map[string]error
	seen map[string]int
}

func (w *world) faults() *faults {
	f := &faults{ops: map[string]error{}, seen: map[string]int{}}
	w.store.fault = func(op string) error {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.seen[op]++
		return f.ops[op]
	}
	return f
}

func (f *faults) set(err error, ops ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, op := range ops {
		f.ops[op] = err
	}
}

func (f *faults) count(op string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.seen[op]
}

// allWrites are the operations that a full disk does not let happen.
func allWrites() []string {
	return []string{"CreateJob", "ClaimJob", "StartTarget", "FinishTarget", "ReleaseTarget", "FailJob", "CancelJob", "SweepJobs", "ShiftLeases"}
}

var (
	errFull = errors.Join(errors.New("/var/lib/sift.db"), batch.ErrFull)
	errOdd  = errors.New("/var/lib/sift.db: disk I/O error")
)

func TestAJobWhoseTargetCannotBeWrittenFailsAndSaysWhy(t *testing.T) {
	for _, tt := range []struct {
		op   string
		err  error
		want string
		why  string
	}{
		{"StartTarget", errFull, "failed 1/3: done pending pending", "full"},
		{"FinishTarget", errFull, "failed 2/3: done failed pending", "full"},
		{"FinishTarget", errOdd, "failed 2/3: done failed pending", "fresh"},
		{"FinishTarget", batch.ErrNoRoom, "failed 2/3: done failed pending", "fresh"}, // not even for a failure
	} {
		inWorld(t, func(t *testing.T, w *world) {
			f := w.faults()
			one, two := w.hold("http://one/"), w.hold("http://two/")
			w.start()
			s := w.submit("a", "http://one/", "http://two/", "http://three/")
			synctest.Wait()
			if tt.op == "StartTarget" { // of the second
				f.set(tt.err, tt.op)
				one <- outcome{result: answer("x")}
			} else {
				one <- outcome{result: answer("x")}
				synctest.Wait()
				f.set(tt.err, tt.op)
				two <- outcome{result: answer("lost")}
			}
			synctest.Wait()
			j := w.job("a", s.JobID)
			w.is(j, tt.want)
			if !strings.HasPrefix(j.Error, "store: ") || !strings.Contains(j.Error, tt.why) || strings.Contains(j.Error, "/") {
				t.Errorf("%s: the error is %q", tt.op, j.Error)
			}
			if slices.Contains(w.fetches(), "http://three/") {
				t.Errorf("%s: the next was fetched", tt.op)
			}
			if w.told("job failed") != 1 {
				t.Errorf("told of %v", w.outcomes)
			}
			// Its worker goes on with others.
			f.set(nil, tt.op)
			w.ended("b", w.submit("b", "http://b/").JobID)
		})
	}
}

func TestAJobThatCannotEvenBeFailedIsShownAsFailedUntilItIs(t *testing.T) {
	inWorldWith(t, batch.Config{JobsPerCaller: 2}, func(t *testing.T, w *world) {
		f := w.faults()
		two := w.hold("http://two/")
		w.start()
		s := w.submit("a", "http://one/", "http://two/", "http://three/")
		synctest.Wait()
		waiting := w.wait(t.Context(), "a", s.JobID, time.Hour)
		time.Sleep(time.Minute)
		f.set(errFull, allWrites()...)
		two <- outcome{result: answer("lost")}
		g := <-waiting
		if g.err != nil || g.took != time.Minute {
			t.Fatalf("it was waited for %v, %v", g.took, g.err)
		}
		shown := func() {
			t.Helper()
			j := w.job("a", s.JobID)
			w.is(j, "failed 2/3: done failed pending")
			if !strings.HasPrefix(j.Error, "store: ") || j.Targets[1].Error != j.Error || j.Targets[1].Hint != sift.HintFresh {
				t.Errorf("the errors are %q, %q, %q", j.Error, j.Targets[1].Error, j.Targets[1].Hint)
			}
			late, err := w.Job(t.Context(), caller("a"), s.JobID, 1, time.Hour) // nothing to wait for
			if err != nil || states(late) != "failed 2/3: pending" {
				t.Errorf("%v, %v", late, err)
			}
			jobs, err := w.Jobs(t.Context(), caller("a"))
			if err != nil || len(jobs) != 1 || states(&jobs[0]) != "failed 2/3:" || jobs[0].Error != j.Error {
				t.Errorf("%+v, %v", jobs, err)
			}
			if status := w.cancel("a", s.JobID); status != sift.JobFailed {
				t.Errorf("cancelling says %s", status)
			}
		}
		began := time.Now()
		shown()
		time.Sleep(time.Hour)
		shown()
		if took := time.Since(began); took != time.Hour {
			t.Errorf("it was waited for %v", took-time.Hour)
		}
		if n := f.count("FailJob"); n < 200 || n > 600 {
			t.Errorf("it was tried %d times", n)
		}
		if w.store.jobs[s.JobID].status != sift.JobRunning {
			t.Error("it was written, so that nothing is shown by this test")
		}
		if w.told("job failed") != 0 {
			t.Errorf("told of %v", w.outcomes)
		}

		// Room for reuse alone.
		f.set(nil, "CreateJob")
		again := w.submit("a", "http://one/", "http://two/", "http://three/")
		if want := (sift.Submitted{JobID: s.JobID, Status: sift.JobFailed, Targets: 3, Reused: true, Hint: sift.HintFresh}); again != want {
			t.Errorf("again: %+v", again)
		}

		f.set(nil, allWrites()...)
		time.Sleep(20 * time.Second)
		synctest.Wait()
		if got := w.store.jobs[s.JobID].status; got != sift.JobFailed {
			t.Errorf("with room again it is %s", got)
		}
		shown()
		if batch.Lost(w.Runner) != 0 || w.told("job failed") != 1 {
			t.Errorf("%d are lost, told of %v", batch.Lost(w.Runner), w.outcomes)
		}
		w.ended("b", w.submit("b", "http://b/").JobID)
		if slices.Contains(w.fetches(), "http://three/") {
			t.Error("the job went on")
		}
	})
}

func TestAnotherCallerLearnsNothingOfAJobThatIsShownAsFailed(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		f := w.faults()
		w.start()
		f.set(errFull, "FinishTarget", "FailJob")
		s := w.submit("a", "http://one/")
		synctest.Wait()
		w.is(w.job("a", s.JobID), "failed 1/1: failed")
		_, err := w.Job(t.Context(), caller("b"), s.JobID, -1, 0)
		w.wantFailure(err, sift.CodeNotFound)
		_, err = w.Cancel(t.Context(), caller("b"), s.JobID)
		w.wantFailure(err, sift.CodeNotFound)
	})
}

func TestStoppingDoesNotWaitForWhatCannotBeWritten(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		f := w.faults()
		w.start()
		f.set(errFull, "FinishTarget", "FailJob")
		s := w.submit("a", "http://one/", "http://two/")
		synctest.Wait()
		if took := w.stopped(); took != 0 {
			t.Errorf("it took %v", took)
		}
		w.is(w.job("a", s.JobID), "failed 1/2: failed pending") // still shown
		f.set(nil, "FinishTarget", "FailJob")
		w.restart()
		w.is(w.job("a", s.JobID), "failed 1/2: failed pending")
	})
}

func TestTheTargetInFlightOfACancelledJobIsToldWhenItCanBe(t *testing.T) {
	for _, got := range []outcome{{result: answer("x")}, {err: busy()}} {
		inWorld(t, func(t *testing.T, w *world) {
			f := w.faults()
			one := w.hold("http://one/")
			w.start()
			s := w.submit("a", "http://one/", "http://two/")
			synctest.Wait()
			w.cancel("a", s.JobID)
			f.set(errOdd, "FinishTarget", "ReleaseTarget")
			one <- got
			synctest.Wait()
			w.is(w.job("a", s.JobID), "cancelled 0/2: running pending")
			waiting := w.wait(t.Context(), "a", s.JobID, time.Hour)
			time.Sleep(10 * time.Minute)
			f.set(nil, "FinishTarget", "ReleaseTarget")
			g := <-waiting
			if g.took < 10*time.Minute || g.took > 11*time.Minute {
				t.Errorf("it took %v", g.took)
			}
			want := "cancelled 1/2: failed pending"
			if got.err != nil {
				want = "cancelled 0/2: pending pending"
			}
			w.is(g.job, want)
			if w.told("job failed") != 0 {
				t.Errorf("told of %v", w.outcomes)
			}
		})
	}
}

// Between the failure that cannot be written and its being shown a cancel may
// come through: then the job is cancelled, and stays so.
func TestAJobThatWasCancelledIsNotShownAsFailedAfterwards(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		f := w.faults()
		one := w.hold("http://one/")
		w.start()
		s := w.submit("a", "http://one/")
		synctest.Wait()
		f.set(errOdd, "FinishTarget", "FailJob")
		w.cancel("a", s.JobID)
		one <- outcome{result: answer("x")}
		for range 3 {
			time.Sleep(time.Minute)
			synctest.Wait()
			if status := w.cancel("a", s.JobID); status != sift.JobCancelled {
				t.Errorf("it is %s", status)
			}
			w.is(w.job("a", s.JobID), "cancelled 0/1: running")
		}
		f.set(nil, "FinishTarget", "FailJob")
		time.Sleep(time.Minute)
		w.is(w.job("a", s.JobID), "cancelled 1/1: failed")
	})
}

func TestWorkersWaitForAStoreThatGivesNoJob(t *testing.T) {
	inWorldWith(t, batch.Config{Workers: 1}, func(t *testing.T, w *world) {
		f := w.faults()
		f.set(errFull, "ClaimJob", "SweepJobs")
		w.start()
		s := w.submit("a", "http://one/")
		time.Sleep(time.Hour)
		w.is(w.job("a", s.JobID), "queued 0/1: pending")
		if n := f.count("ClaimJob"); n < 200 || n > 600 {
			t.Errorf("it was asked %d times", n)
		}
		f.set(nil, "ClaimJob")
		time.Sleep(15 * time.Second)
		w.is(w.job("a", s.JobID), "done 1/1: done")
	})
}

func TestManyWritesAreTriedAgainBesideTheWorkersUpToABound(t *testing.T) {
	inWorldWith(t, batch.Config{Workers: 1, JobsTotal: 200, JobsPerCaller: 200}, func(t *testing.T, w *world) {
		f := w.faults()
		f.set(errOdd, "FinishTarget", "FailJob")
		w.start()
		for i := range 100 {
			w.submit("a", "http://one/"+strings.Repeat("x", i))
		}
		synctest.Wait()
		if n := batch.Lost(w.Runner); n != 65 {
			t.Errorf("%d writes are tried again", n)
		}
		f.set(nil, "FinishTarget", "FailJob")
		time.Sleep(time.Minute)
		synctest.Wait()
		jobs, err := w.Jobs(t.Context(), caller("a"))
		if err != nil {
			t.Fatal(err)
		}
		done := 0
		for _, j := range jobs {
			if j.Status.Live() {
				t.Errorf("%+v", j)
			}
			if j.Status == sift.JobDone {
				done++
			}
		}
		if done != 35 || batch.Lost(w.Runner) != 0 {
			t.Errorf("%d are done, %d lost", done, batch.Lost(w.Runner))
		}
	})
}
