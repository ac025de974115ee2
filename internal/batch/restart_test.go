package batch_test

import (
	"context"
	"errors"
	"fmt"
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

// leftovers are what a process has left that was cut off: of a one job that was
// running, and one cancelled, each with a target in flight; of b one queued.
type leftovers struct{ running, cancelled, queued string }

func (w *world) leave() (l leftovers) {
	w.Helper()
	w.hold("http://two/")
	w.hold("http://four/")
	w.start()
	l.cancelled = w.submit("a", "http://three/", "http://four/").JobID
	synctest.Wait()
	w.cancel("a", l.cancelled)
	l.running = w.submit("a", "http://one/", "http://two/", "http://three/").JobID
	synctest.Wait()
	l.queued = w.submit("b", "http://five/").JobID
	w.end()
	w.is(w.job("a", l.running), "running 1/3: done running pending")
	w.is(w.job("a", l.cancelled), "cancelled 1/2: done running")
	w.is(w.job("b", l.queued), "queued 0/1: pending")
	return l
}

// full is the store's disk being so, from the start on.
func (w *world) full() *faults {
	f := w.faults()
	f.set(errFull, append(allWrites(), "MarkInFlightFailed")...)
	return f
}

func TestWithAFullDiskTheServiceStartsAndShowsWhatWasCutOffAsFailed(t *testing.T) {
	inWorldWith(t, batch.Config{JobsPerCaller: 3, Workers: 2}, func(t *testing.T, w *world) {
		left := w.leave()
		f := w.full()
		w.restart()
		if !strings.Contains(w.log.String(), "cannot be marked yet") {
			t.Errorf("the log says nothing of it")
		}
		shown := func() {
			t.Helper()
			j := w.job("a", left.running)
			w.is(j, "failed 2/3: done failed pending")
			if j.Error != "restart" || j.Targets[1].Error != "restart" || j.Targets[1].Hint != sift.HintFresh || j.Targets[0].Error+j.Targets[2].Error != "" {
				t.Errorf("%+v", j)
			}
			j = w.job("a", left.cancelled)
			w.is(j, "cancelled 2/2: done failed")
			if j.Error != "" || j.Targets[1].Error != "restart" || j.Targets[1].Hint != sift.HintFresh {
				t.Errorf("%+v", j)
			}
			j = w.job("b", left.queued)
			w.is(j, "failed 0/1: pending")
			if j.Error != "restart" {
				t.Errorf("%+v", j)
			}
			began := time.Now()
			for _, id := range []string{left.running, left.cancelled} { // nothing to wait for
				late, err := w.Job(t.Context(), caller("a"), id, 1, time.Hour)
				if err != nil || late.TargetsDone != 2 || time.Since(began) != 0 {
					t.Errorf("%+v, %v", late, err)
				}
			}
			jobs, err := w.Jobs(t.Context(), caller("a"))
			if err != nil || len(jobs) != 2 || states(&jobs[0]) != "failed 2/3:" || states(&jobs[1]) != "cancelled 2/2:" || jobs[0].Error != "restart" {
				t.Errorf("%+v, %v", jobs, err)
			}
			for id, want := range map[string]sift.JobStatus{left.running: sift.JobFailed, left.cancelled: sift.JobCancelled} {
				if got := w.cancel("a", id); got != want {
					t.Errorf("cancelling says %s, not %s", got, want)
				}
			}
			if result, err := w.Result(t.Context(), caller("a"), left.running, 0); err != nil || string(result) != string(answer("http://one/").JSON) {
				t.Errorf("the result is %s, %v", result, err)
			}
		}
		refused := func(fresh bool, list ...string) {
			t.Helper()
			_, err := w.Submit(t.Context(), caller("a"), urls(list...), fresh)
			full := w.wantFailure(err, sift.CodeCap, "disk", "full", "fetches go on")
			if _, over := errors.AsType[*batch.CapError](err); over || full.Hint != sift.HintRetry || full.RetryAfter != time.Minute {
				t.Errorf("%+v", full)
			}
		}
		shown()
		refused(false, "http://new/")
		refused(true, "http://one/", "http://two/", "http://three/")
		refused(false, "http://one/", "http://two/", "http://three/") // not even its lease can be renewed
		w.start()
		claims, fetches := f.count("ClaimJob"), len(w.fetches())
		time.Sleep(time.Hour)
		shown()
		refused(false, "http://new/")
		if n := f.count("MarkInFlightFailed"); n < 200 || n > 600 {
			t.Errorf("it was tried %d times", n)
		}
		if f.count("ClaimJob") != claims || len(w.fetches()) != fetches {
			t.Errorf("%d jobs were asked for, fetched %v", f.count("ClaimJob")-claims, w.fetches())
		}

		// Room for a renewed lease alone.
		f.set(nil, "CreateJob")
		again := w.submit("a", "http://one/", "http://two/", "http://three/")
		if want := (sift.Submitted{JobID: left.running, Status: sift.JobFailed, Targets: 3, Reused: true, Hint: sift.HintFresh}); again != want {
			t.Errorf("again: %+v", again)
		}
		refused(false, "http://new/")
		refused(true, "http://one/", "http://two/", "http://three/")
		if w.store.jobs[left.running].status != sift.JobRunning || len(w.store.jobs) != 3 || w.told("job restart") != 0 {
			t.Errorf("it was written, or another made: told of %v", w.outcomes)
		}

		f.set(nil, append(allWrites(), "MarkInFlightFailed")...)
		time.Sleep(15 * time.Second)
		synctest.Wait()
		shown()
		if got := w.store.jobs[left.running].status; got != sift.JobFailed {
			t.Errorf("with room again it is %s", got)
		}
		if w.told("job restart") != 2 || w.told("target restart") != 2 {
			t.Errorf("told of %v", w.outcomes)
		}
		w.is(w.ended("a", w.submit("a", "http://new/").JobID), "done 1/1: done")
		if n := f.count("MarkInFlightFailed"); n > 600 {
			t.Errorf("it was tried %d times", n)
		}
	})
}

func TestARestartIsToldJobByJobWithTheTargetsInFlight(t *testing.T) {
	inWorldWith(t, batch.Config{JobsPerCaller: 3}, func(t *testing.T, w *world) {
		left := w.leave()
		w.restart()
		var got []string
		for _, l := range w.lines("batch job") {
			if l["reason"] == "restart" {
				got = append(got, fmt.Sprint(l["job"], l["caller"], l["status"], l["in_flight"]))
			}
		}
		want := []string{
			fmt.Sprint(left.cancelled, "a", "cancelled", 1.0), fmt.Sprint(left.running, "a", "failed", 1.0), fmt.Sprint(left.queued, "b", "failed", 0.0),
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q\nand not\n%q", got, want)
		}
		if w.told("job restart") != 2 || w.told("target restart") != 2 {
			t.Errorf("told of %v", w.outcomes)
		}
	})
}

func TestASubmitMarksWhatWasCutOffAndIsNotMarkedWithIt(t *testing.T) {
	inWorldWith(t, batch.Config{JobsPerCaller: 1}, func(_ *testing.T, w *world) {
		w.hold("http://two/")
		w.start()
		old := w.submit("a", "http://one/", "http://two/")
		synctest.Wait()
		w.end()
		f := w.full()
		w.restart()
		w.start()
		time.Sleep(10 * time.Minute)
		f.set(nil, append(allWrites(), "MarkInFlightFailed")...)
		s := w.submit("a", "http://new/") // in the place of the old one, whose end is written
		w.is(w.job("a", old.JobID), "failed 2/2: done failed")
		w.is(w.ended("a", s.JobID), "done 1/1: done")
		time.Sleep(time.Hour)
		w.is(w.job("a", s.JobID), "done 1/1: done")
	})
}

// Many submit while Run tries too, and the disk comes and goes.
func TestNoJobThatWasCreatedAfterTheStartIsMarked(t *testing.T) {
	for round := range 50 {
		inWorldWith(t, batch.Config{JobsPerCaller: 20, JobsTotal: 100}, func(t *testing.T, w *world) {
			w.hold("http://two/")
			w.start()
			w.submit("a", "http://two/")
			w.end()
			w.full()
			w.restart()
			var mu sync.Mutex
			left, marked := round%7, 0
			w.store.fault = func(op string) error {
				if op != "MarkInFlightFailed" {
					return nil
				}
				mu.Lock()
				defer mu.Unlock()
				if left--; left >= 0 {
					return errFull
				}
				marked++
				return nil
			}
			w.start()
			var wg sync.WaitGroup
			ids := make([]string, 20)
			for i := range ids {
				wg.Go(func() {
					for {
						s, err := w.Submit(t.Context(), caller("a"), urls(fmt.Sprintf("http://%d/", i)), false)
						if err == nil {
							ids[i] = s.JobID
							return
						}
						w.wantFailure(err, sift.CodeCap)
						time.Sleep(time.Second)
					}
				})
			}
			wg.Wait()
			for _, id := range ids {
				w.is(w.ended("a", id), "done 1/1: done")
			}
			if marked != 1 || w.told("job restart") != 1 {
				t.Errorf("marked %d times, told of %v", marked, w.outcomes)
			}
		})
	}
}

// listed does something before the first list is read.
type listed struct {
	*memStore
	once *sync.Once
	do   func()
}

func (s listed) Jobs(ctx context.Context, caller string, limit int, l batch.Lease) ([]sift.Job, error) {
	s.once.Do(s.do)
	return s.memStore.Jobs(ctx, caller, limit, l)
}

func TestAJobThatIsCreatedWhileTheListIsReadIsNotShownAsCutOff(t *testing.T) {
	inWorldWith(t, batch.Config{JobsPerCaller: 2}, func(t *testing.T, w *world) {
		old := w.submit("a", "http://one/")
		f := w.full()
		w.conf.Store = listed{w.store, &sync.Once{}, func() {
			f.set(nil, append(allWrites(), "MarkInFlightFailed")...)
			w.submit("a", "http://new/")
		}}
		w.restart()
		jobs, err := w.Jobs(t.Context(), caller("a"))
		if err != nil || len(jobs) != 2 || states(&jobs[0]) != "queued 0/1:" || states(&jobs[1]) != "failed 0/1:" || jobs[1].ID != old.JobID {
			t.Errorf("%+v, %v", jobs, err)
		}
	})
}

// created does something before the first job is created, and not again for
// what that creates.
type created struct {
	*memStore
	done *atomic.Bool
	do   func()
}

func (s created) CreateJob(ctx context.Context, n batch.NewJob, caps batch.Caps, l batch.Lease) (batch.Created, error) {
	if !s.done.Swap(true) {
		s.do()
	}
	return s.memStore.CreateJob(ctx, n, caps, l)
}

func TestAJobThatAnotherSubmitHasJustCreatedIsNotTakenForOneThatWasCutOff(t *testing.T) {
	inWorldWith(t, batch.Config{JobsPerCaller: 2}, func(t *testing.T, w *world) {
		f := w.full()
		var other sift.Submitted
		w.conf.Store = created{w.store, &atomic.Bool{}, func() {
			f.set(nil, append(allWrites(), "MarkInFlightFailed")...)
			other = w.submit("a", "http://one/") // marks, then creates
		}}
		w.restart()
		s := w.submit("a", "http://one/")
		if want := (sift.Submitted{JobID: other.JobID, Status: sift.JobQueued, Targets: 1, Reused: true}); s != want {
			t.Errorf("%+v, and the other is %+v", s, other)
		}
	})
}

func TestOnlyAStoreThatCanBeReadIsWaitedFor(t *testing.T) {
	damaged := errors.Join(errors.New("/var/lib/sift.db"), batch.ErrDamaged)
	for name, tt := range map[string]struct {
		mark, read error
		waits      bool
	}{
		"a full disk":       {mark: errFull, waits: true},
		"another error":     {mark: errOdd, waits: true},
		"damage":            {mark: damaged},
		"an unread store":   {mark: errOdd, read: errOdd},
		"a full, dead disk": {mark: errFull, read: errOdd},
	} {
		inWorld(t, func(t *testing.T, w *world) {
			f := w.faults()
			f.set(tt.mark, "MarkInFlightFailed")
			f.set(tt.read, "LiveJobs")
			err := w.Recover(t.Context())
			if tt.waits != (err == nil) || err != nil && !errors.Is(err, tt.mark) {
				t.Errorf("%s: %v", name, err)
			}
			if !tt.waits {
				return
			}
			_, err = w.Submit(t.Context(), caller("a"), urls("http://one/"), false)
			refused := w.wantFailure(err, sift.CodeCap, "fetches go on")
			if refused.RetryAfter != time.Minute || strings.Contains(refused.Message, "full") != errors.Is(tt.mark, batch.ErrFull) || strings.Contains(refused.Message, "/var") {
				t.Errorf("%s: %+v", name, refused)
			}
		})
	}
}

func TestAStartThatIsBrokenOffIsAnError(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := w.Recover(ctx); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

func TestWithoutWorkersWhatWasCutOffIsMarkedToo(t *testing.T) {
	inWorldWith(t, batch.Config{Workers: -1}, func(t *testing.T, w *world) {
		s := w.submit("a", "http://one/")
		f := w.full()
		w.restart()
		w.start()
		time.Sleep(time.Minute)
		if took := w.stopped(); took != 0 {
			t.Errorf("it took %v to stop", took)
		}
		w.start()
		f.set(nil, "MarkInFlightFailed")
		time.Sleep(15 * time.Second)
		synctest.Wait()
		if got := w.store.jobs[s.JobID].status; got != sift.JobFailed {
			t.Errorf("it is %s", got)
		}
	})
}
