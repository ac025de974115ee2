package batch_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"sift.build/sift/internal/batch"
	"sift.build/sift/internal/sift"
)

func TestTargetsThatWereCollectedAreLeftOut(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		s := w.submit("a", "http://0/", "http://1/", "http://2/")
		all := w.ended("a", s.JobID)
		for after, want := range map[int]int{-1: 3, 0: 2, 1: 1, 2: 0, 1e9: 0} {
			j, err := w.Job(t.Context(), caller("a"), s.JobID, after, 0)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(all.Targets[3-want:], j.Targets); d != "" || j.Targets == nil {
				t.Errorf("after %d: %s", after, d)
			}
		}
	})
}

func TestAnothersJobIsAsUnknownAsOneThatDoesNotExist(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		s := w.submit("a", "http://one/")
		w.ended("a", s.JobID)
		var texts []string
		for _, id := range []string{s.JobID, "nosuchjob", ""} {
			for _, wait := range []time.Duration{0, time.Minute} {
				began := time.Now()
				_, err := w.Job(t.Context(), caller("b"), id, -1, wait)
				texts = append(texts, w.wantFailure(err, sift.CodeNotFound).Error())
				if time.Since(began) != 0 {
					t.Error("it was waited for")
				}
			}
			_, err := w.Cancel(t.Context(), caller("b"), id)
			texts = append(texts, w.wantFailure(err, sift.CodeNotFound).Error())
		}
		if texts = slices.Compact(texts); len(texts) != 1 {
			t.Errorf("texts %q", texts)
		}
		if jobs, err := w.Jobs(t.Context(), caller("b")); err != nil || len(jobs) != 0 {
			t.Errorf("%+v, %v", jobs, err)
		}
	})
}

func TestAllJobsAreListedNewestFirst(t *testing.T) {
	inWorldWith(t, batch.Config{JobsPerCaller: 200, JobsTotal: 200}, func(t *testing.T, w *world) {
		var want []string
		for i := range 120 {
			want = append([]string{w.submit("a", fmt.Sprintf("http://%d/", i)).JobID}, want...)
		}
		jobs, err := w.Jobs(t.Context(), caller("a"))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, j := range jobs {
			got = append(got, j.ID)
			if j.Targets != nil || j.Status != sift.JobQueued || j.TargetsTotal != 1 {
				t.Errorf("%+v", j)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d jobs: %v", len(got), got)
		}
	})
}

func TestTheLeaseSlidesWithASubmitATargetAndARead(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const most = 24*time.Hour - time.Second
		w.start()
		slow := w.hold("http://slow/")
		s := w.submit("a", "http://one/", "http://slow/")
		time.Sleep(most)
		slow <- outcome{result: answer("x")} // a target, by which it ends
		synctest.Wait()
		time.Sleep(most)
		w.job("a", s.JobID)
		time.Sleep(most)
		if again := w.submit("a", "http://one/", "http://slow/"); again.JobID != s.JobID {
			t.Errorf("again: %+v", again)
		}
		time.Sleep(most)
		w.job("a", s.JobID)
		// Listing and cancelling are no reads.
		time.Sleep(most)
		if jobs, err := w.Jobs(t.Context(), caller("a")); err != nil || len(jobs) != 1 {
			t.Errorf("%+v, %v", jobs, err)
		}
		w.cancel("a", s.JobID)
		time.Sleep(time.Second)
		_, err := w.Job(t.Context(), caller("a"), s.JobID, -1, 0)
		w.wantFailure(err, sift.CodeNotFound)
		_, err = w.Cancel(t.Context(), caller("a"), s.JobID)
		w.wantFailure(err, sift.CodeNotFound)
		// The list makes a new job.
		if again := w.submit("a", "http://one/", "http://slow/"); again.Reused || again.JobID == s.JobID {
			t.Errorf("afterwards: %+v", again)
		}
	})
}

func TestWhatHasExpiredIsSweptWithinAMinute(t *testing.T) {
	inWorldWith(t, batch.Config{TTL: time.Hour}, func(t *testing.T, w *world) {
		w.start()
		w.ended("a", w.submit("a", "http://one/").JobID)
		time.Sleep(time.Hour + time.Minute)
		synctest.Wait()
		if n, err := w.store.BatchNbytes(t.Context()); n != 0 || err != nil {
			t.Errorf("%d bytes are left, %v", n, err)
		}
		w.end()
		// And at the start.
		w.submit("a", "http://one/")
		w.cancel("a", w.submit("a", "http://one/").JobID)
		time.Sleep(2 * time.Hour)
		w.start()
		synctest.Wait()
		if n, err := w.store.BatchNbytes(t.Context()); n != 0 || err != nil {
			t.Errorf("%d bytes are left at the start, %v", n, err)
		}
	})
}

func TestALiveJobNeverExpires(t *testing.T) {
	inWorldWith(t, batch.Config{Workers: 1}, func(_ *testing.T, w *world) {
		slow := w.hold("http://slow/")
		w.start()
		running, queued := w.submit("a", "http://slow/"), w.submit("b", "http://one/")
		time.Sleep(5 * 24 * time.Hour)
		slow <- outcome{result: answer("x")}
		w.is(w.ended("a", running.JobID), "done 1/1: done")
		w.is(w.ended("b", queued.JobID), "done 1/1: done")
	})
}

// A call that waits, in the background: done says when it came back with what.
type waited struct {
	took time.Duration
	job  *sift.Job
	err  error
}

func (w *world) wait(ctx context.Context, who, id string, d time.Duration) <-chan waited {
	c := make(chan waited, 1)
	began := time.Now()
	go func() {
		j, err := w.Job(ctx, caller(who), id, -1, d)
		c <- waited{time.Since(began), j, err}
	}()
	synctest.Wait()
	return c
}

func TestWaitingEndsWithTheNextChangeOfAJob(t *testing.T) {
	inWorldWith(t, batch.Config{Workers: 1}, func(t *testing.T, w *world) {
		before, one, two := w.hold("http://before/"), w.hold("http://one/"), w.hold("http://two/")
		w.start()
		first := w.submit("x", "http://before/")
		s := w.submit("a", "http://one/", "http://two/")
		for _, step := range []struct {
			does func()
			want string
		}{
			{func() { before <- outcome{result: answer("x")}; w.ended("x", first.JobID) }, "running 0/2: running pending"},
			{func() { one <- outcome{result: answer("x")} }, "running 1/2: done running"},
			{func() { two <- outcome{err: missing()} }, "partial 2/2: done failed"},
		} {
			got := w.wait(t.Context(), "a", s.JobID, time.Hour)
			time.Sleep(10 * time.Minute)
			synctest.Wait()
			select {
			case g := <-got:
				t.Fatalf("it came back after %v with %+v, %v", g.took, g.job, g.err)
			default:
			}
			step.does()
			g := <-got
			if g.err != nil || g.took != 10*time.Minute {
				t.Fatalf("it took %v: %v", g.took, g.err)
			}
			synctest.Wait()
			w.is(w.job("a", s.JobID), step.want)
		}
		// Nothing can change any more.
		if g := <-w.wait(t.Context(), "a", s.JobID, time.Hour); g.took != 0 || g.err != nil {
			t.Errorf("it took %v, %v", g.took, g.err)
		}
	})
}

func TestWaitingEndsWhenTheTimeIsUp(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.hold("http://one/")
		w.start()
		s := w.submit("a", "http://one/")
		g := <-w.wait(t.Context(), "a", s.JobID, 30*time.Second)
		if g.took != 0 { // it was queued a moment ago
			w.is(g.job, "running 0/1: running")
		}
		if g = <-w.wait(t.Context(), "a", s.JobID, 30*time.Second); g.took != 30*time.Second || g.err != nil {
			t.Fatalf("it took %v, %v", g.took, g.err)
		}
		w.is(g.job, "running 0/1: running")
	})
}

func TestWaitingEndsWithItsContext(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.hold("http://one/")
		w.start()
		s := w.submit("a", "http://one/")
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		g := <-w.wait(ctx, "a", s.JobID, time.Hour)
		w.wantFailure(g.err, sift.CodeTimeout)
		ctx, cancel = context.WithCancel(t.Context())
		got := w.wait(ctx, "a", s.JobID, time.Hour)
		cancel()
		w.wantFailure((<-got).err, sift.CodeCancel)
		if n := batch.Watched(w.Runner); n != 0 {
			t.Errorf("%d jobs are watched by nobody", n)
		}
	})
}

func TestWaitingForACancelledJobGoesOnUntilItsTargetInFlightIsStored(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		one := w.hold("http://one/")
		w.start()
		s := w.submit("a", "http://one/", "http://two/")
		synctest.Wait()
		w.cancel("a", s.JobID)
		got := w.wait(t.Context(), "a", s.JobID, time.Hour)
		time.Sleep(time.Minute)
		one <- outcome{result: answer("x")}
		g := <-got
		if g.err != nil || g.took != time.Minute {
			t.Fatalf("it took %v, %v", g.took, g.err)
		}
		w.is(g.job, "cancelled 1/2: done pending")
	})
}

func TestManyWaitForOneJobAndNothingIsLeftOfThem(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		one := w.hold("http://one/")
		w.start()
		s := w.submit("a", "http://one/")
		synctest.Wait()
		var all []<-chan waited
		for i := range 100 {
			all = append(all, w.wait(t.Context(), "a", s.JobID, time.Duration(1+i%2)*time.Minute))
		}
		time.Sleep(90 * time.Second)
		one <- outcome{result: answer("x")}
		for i, c := range all {
			want := []time.Duration{time.Minute, 90 * time.Second}[i%2]
			if g := <-c; g.err != nil || g.took != want {
				t.Fatalf("%d took %v, %v", i, g.took, g.err)
			}
		}
		if n := batch.Watched(w.Runner); n != 0 {
			t.Errorf("%d jobs are watched by nobody", n)
		}
	})
}

func TestCancellingAQueuedJobFetchesNothing(t *testing.T) {
	inWorldWith(t, batch.Config{Workers: 1}, func(t *testing.T, w *world) {
		before := w.hold("http://before/")
		w.start()
		w.submit("x", "http://before/")
		synctest.Wait()
		s := w.submit("a", "http://one/")
		got := w.wait(t.Context(), "a", s.JobID, time.Hour)
		if status := w.cancel("a", s.JobID); status != sift.JobCancelled {
			t.Errorf("it is %s", status)
		}
		g := <-got
		w.is(g.job, "cancelled 0/1: pending")
		if g.took != 0 {
			t.Errorf("it was waited for %v", g.took)
		}
		before <- outcome{result: answer("x")}
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := w.fetches(); !slices.Equal(got, []string{"http://before/"}) {
			t.Errorf("fetched %v", got)
		}
		w.is(w.job("a", s.JobID), "cancelled 0/1: pending")
		w.submit("a", "http://other/") // its place is free
	})
}

func TestCancellingBreaksTheWaitForASlotAtOnce(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.pages["http://one/"] = fails(busy())
		w.start()
		s := w.submit("a", "http://one/", "http://two/")
		time.Sleep(time.Minute + 33*time.Millisecond) // amid a wait
		synctest.Wait()
		tries := len(w.fetches())
		w.cancel("a", s.JobID)
		synctest.Wait()
		w.is(w.job("a", s.JobID), "cancelled 0/2: pending pending")
		time.Sleep(time.Minute)
		if n := len(w.fetches()); n != tries {
			t.Errorf("%d more tries", n-tries)
		}
		w.is(w.job("a", s.JobID), "cancelled 0/2: pending pending")
		if n := w.told("target busy"); n != 0 {
			t.Errorf("told of %d targets", n)
		}
		// Its worker is free.
		w.ended("b", w.submit("b", "http://three/").JobID)
	})
}

// afterClaim does something between a claim and what its worker does with it.
type afterClaim struct {
	*memStore
	do func(c batch.Claimed)
}

func (s afterClaim) ClaimJob(ctx context.Context) (batch.Claimed, bool, error) {
	c, ok, err := s.memStore.ClaimJob(ctx)
	if ok {
		s.do(c)
	}
	return c, ok, err
}

func TestAJobThatIsCancelledAsItIsClaimedFetchesNothing(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		conf := w.conf
		conf.Store = afterClaim{w.store, func(c batch.Claimed) { w.cancel("a", c.JobID) }}
		w.Runner = batch.New(conf)
		w.start()
		s := w.submit("a", "http://one/")
		synctest.Wait()
		w.is(w.job("a", s.JobID), "cancelled 0/1: pending")
		if got := w.fetches(); len(got) != 0 {
			t.Errorf("fetched %v", got)
		}
	})
}

func TestCancellingWhileTheGateIsAskedGivesTheTargetBack(t *testing.T) {
	inWorld(t, func(_ *testing.T, w *world) {
		one := w.hold("http://one/")
		w.start()
		s := w.submit("a", "http://one/")
		synctest.Wait()
		w.cancel("a", s.JobID)
		one <- outcome{err: busy()}
		synctest.Wait()
		w.is(w.job("a", s.JobID), "cancelled 0/1: pending")
	})
}

func TestCancellingLetsTheTargetInFlightFinish(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		one := w.hold("http://one/")
		w.start()
		s := w.submit("a", "http://one/", "http://two/")
		synctest.Wait()
		for range 2 {
			if status := w.cancel("a", s.JobID); status != sift.JobCancelled {
				t.Errorf("it is %s", status)
			}
		}
		w.is(w.job("a", s.JobID), "cancelled 0/2: running pending")
		one <- outcome{result: answer("kept")}
		synctest.Wait()
		j := w.job("a", s.JobID)
		w.is(j, "cancelled 1/2: done pending")
		if string(j.Targets[0].Result) != string(answer("kept").JSON) {
			t.Errorf("the result is %s", j.Targets[0].Result)
		}
		if w.told("job cancelled") != 1 || w.told("job done")+w.told("job partial") != 0 || w.told("target ok") != 1 {
			t.Errorf("told of %v", w.outcomes)
		}
		if got := w.fetches(); len(got) != 1 {
			t.Errorf("fetched %v", got)
		}
	})
}

func TestCancellingAJobThatHasEndedChangesNothing(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.pages["http://bad/"] = fails(missing())
		w.start()
		for status, list := range map[sift.JobStatus][]string{
			sift.JobDone: {"http://one/"}, sift.JobPartial: {"http://one/", "http://bad/"}, sift.JobFailed: {"http://bad/"},
		} {
			before := w.ended("a", w.submit("a", list...).JobID)
			for range 2 {
				if got := w.cancel("a", before.ID); got != status {
					t.Errorf("a %s job became %s", status, got)
				}
			}
			if d := cmp.Diff(before, w.job("a", before.ID)); d != "" {
				t.Error(d)
			}
		}
		if n := w.told("job cancelled"); n != 0 {
			t.Errorf("told of %d cancelled jobs", n)
		}
	})
}

func TestCancellingAgainstTheLastTargetHasOneOutcome(t *testing.T) {
	seen := map[sift.JobStatus]int{}
	for i := range 200 {
		inWorld(t, func(t *testing.T, w *world) {
			one := w.hold("http://one/")
			w.start()
			s := w.submit("a", "http://one/")
			synctest.Wait()
			var wg sync.WaitGroup
			var status sift.JobStatus
			wg.Go(func() { one <- outcome{result: answer("x")} })
			wg.Go(func() {
				for range i % 20 {
					runtime.Gosched()
				}
				status = w.cancel("a", s.JobID)
			})
			wg.Wait()
			j := w.ended("a", s.JobID)
			if j.Status != status || j.TargetsDone != 1 || j.Targets[0].Status != sift.TargetDone {
				t.Errorf("cancel said %s, and the job is %s", status, states(j))
			}
			synctest.Wait()
			if n := w.told("job done") + w.told("job cancelled"); n != 1 {
				t.Errorf("told of %v", w.outcomes)
			}
			seen[status]++
		})
	}
	t.Log(seen)
}

func TestACallerThatLeavesWhileItCancelsHasCancelled(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.pages["http://one/"] = fails(busy())
		w.start()
		s := w.submit("a", "http://one/")
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if status, err := w.Cancel(ctx, caller("a"), s.JobID); err != nil || status != sift.JobCancelled {
			t.Fatal(status, err)
		}
		synctest.Wait()
		w.is(w.job("a", s.JobID), "cancelled 0/1: pending")
	})
}

func TestAResultIsReadAlone(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.pages["http://bad/"] = fails(missing())
		w.start()
		s := w.submit("a", "http://one/", "http://bad/")
		w.ended("a", s.JobID)
		j, err := w.Runner.Job(t.Context(), caller("a"), s.JobID, -1, 0)
		if err != nil {
			t.Fatal(err)
		}
		if one := j.Targets[0]; one.Result != nil || one.ResultBytes != len(answer("http://one/").JSON) || j.Targets[1].ResultBytes != 0 {
			t.Errorf("%+v", j.Targets)
		}
		if got, err := w.Result(t.Context(), caller("a"), s.JobID, 0); err != nil || string(got) != string(answer("http://one/").JSON) {
			t.Errorf("%s, %v", got, err)
		}
		for name, call := range map[string]func() error{
			"of one that failed":  func() error { _, err := w.Result(t.Context(), caller("a"), s.JobID, 1); return err },
			"of none":             func() error { _, err := w.Result(t.Context(), caller("a"), s.JobID, 2); return err },
			"of one before":       func() error { _, err := w.Result(t.Context(), caller("a"), s.JobID, -1); return err },
			"of another's":        func() error { _, err := w.Result(t.Context(), caller("b"), s.JobID, 0); return err },
			"of one that is gone": func() error { _, err := w.Result(t.Context(), caller("a"), "gone", 0); return err },
		} {
			if err := call(); w.wantFailure(err, sift.CodeNotFound) == nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// limited notes how many jobs are asked for.
type limited struct {
	*memStore
	limit int
}

func (s *limited) Jobs(ctx context.Context, caller string, limit int, l batch.Lease) ([]sift.Job, error) {
	s.limit = limit
	return s.memStore.Jobs(ctx, caller, limit, l)
}

func TestAListOfJobsHasABound(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		store := &limited{memStore: w.store}
		w.conf.Store = store
		w.Runner = batch.New(w.conf)
		if _, err := w.Jobs(t.Context(), caller("a")); err != nil || store.limit != 10_000 {
			t.Errorf("%d jobs were asked for, %v", store.limit, err)
		}
	})
}

func TestWhoeverWaitsTooOftenAtOnceIsAnsweredAtOnce(t *testing.T) {
	for limit, who := range map[int]sift.Caller{100: caller("a"), 1000: {Name: "local", Anonymous: true}} {
		inWorldWith(t, batch.Config{JobsPerCaller: 2}, func(t *testing.T, w *world) {
			slow, other := w.hold("http://slow/"), w.hold("http://other/")
			w.start()
			s, err := w.Submit(t.Context(), who, urls("http://slow/"), false)
			if err != nil {
				t.Fatal(err)
			}
			b := w.submit("b", "http://other/")
			synctest.Wait()
			ctx, cancel := context.WithCancel(t.Context())
			var wg sync.WaitGroup
			wait := func(ctx context.Context, want time.Duration) {
				wg.Go(func() {
					began := time.Now()
					if _, err := w.Job(ctx, who, s.JobID, -1, time.Hour); ctx.Err() == nil && (err != nil || time.Since(began) != want) {
						t.Errorf("it took %v, %v", time.Since(began), err)
					}
				})
			}
			wait(ctx, 0)
			for range limit - 1 {
				wait(t.Context(), time.Minute)
			}
			synctest.Wait()
			for range 10 {
				began := time.Now()
				j, err := w.Job(t.Context(), who, s.JobID, -1, time.Hour)
				if err != nil || time.Since(began) != 0 {
					t.Fatalf("one more took %v, %v", time.Since(began), err)
				}
				w.is(j, "running 0/1: running")
			}
			cancel() // leaves a place
			synctest.Wait()
			wait(t.Context(), time.Minute)
			synctest.Wait()
			if _, err := w.Job(t.Context(), who, s.JobID, -1, time.Hour); err != nil {
				t.Error(err)
			}
			// Another's are another's.
			got := w.wait(t.Context(), "b", b.JobID, time.Hour)
			time.Sleep(time.Minute)
			slow <- outcome{result: answer("x")}
			wg.Wait()
			other <- outcome{result: answer("x")}
			if g := <-got; g.took != time.Minute || g.err != nil {
				t.Errorf("another's took %v, %v", g.took, g.err)
			}
			synctest.Wait()
			if n := batch.Waiting(w.Runner); n != 0 {
				t.Errorf("in the end %d callers wait", n)
			}
		})
	}
}
