package batch_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"sift.build/sift/internal/batch"
	"sift.build/sift/internal/sift"
)

// stopped ends Run and says how long that took.
func (w *world) stopped() time.Duration {
	began := time.Now()
	w.end()
	return time.Since(began)
}

func TestStoppingAnIdleRunnerTakesNoTime(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		synctest.Wait()
		if took := w.stopped(); took != 0 {
			t.Errorf("it took %v", took)
		}
		// What is submitted while nothing runs is left to the next start.
		s := w.submit("a", "http://one/")
		w.restart()
		w.is(w.job("a", s.JobID), "failed 0/1: pending")
	})
}

func TestStoppingLetsTheTargetInFlightFinishAndStartsNoOther(t *testing.T) {
	inWorldWith(t, batch.Config{Workers: 1}, func(t *testing.T, w *world) {
		w.pages["http://one/"] = func(ctx context.Context, _ batch.Target) (batch.Result, error) {
			select {
			case <-time.After(4 * time.Second):
				return answer("kept"), nil
			case <-ctx.Done():
				return batch.Result{}, ctx.Err()
			}
		}
		w.start()
		s := w.submit("a", "http://one/", "http://two/")
		synctest.Wait()
		queued := w.submit("b", "http://three/")
		if took := w.stopped(); took != 4*time.Second {
			t.Errorf("it took %v", took)
		}
		if got := w.fetches(); !slices.Equal(got, []string{"http://one/"}) {
			t.Errorf("fetched %v", got)
		}
		w.is(w.job("a", s.JobID), "running 1/2: done pending")
		w.is(w.job("b", queued.JobID), "queued 0/1: pending")

		w.restart()
		j := w.job("a", s.JobID)
		w.is(j, "failed 1/2: done pending")
		if j.Error != "restart" || string(j.Targets[0].Result) != string(answer("kept").JSON) || j.Targets[1].Error != "" {
			t.Errorf("%+v", j)
		}
		w.is(w.job("b", queued.JobID), "failed 0/1: pending")
		if w.told("job restart") != 2 {
			t.Errorf("told of %v", w.outcomes)
		}
		// Never resumed.
		w.start()
		time.Sleep(time.Hour)
		w.is(w.job("a", s.JobID), "failed 1/2: done pending")
		if len(w.fetches()) != 1 {
			t.Errorf("fetched %v", w.fetches())
		}
		// The way out.
		again := w.submit("a", "http://one/", "http://two/")
		if want := (sift.Submitted{JobID: s.JobID, Status: sift.JobFailed, Targets: 2, Reused: true, Hint: sift.HintFresh}); again != want {
			t.Errorf("again: %+v", again)
		}
	})
}

func TestStoppingWhileTheLastTargetIsInFlightEndsTheJob(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		one := w.hold("http://one/")
		w.start()
		s := w.submit("a", "http://one/")
		synctest.Wait()
		go func() {
			time.Sleep(time.Second)
			one <- outcome{err: missing()}
		}()
		if took := w.stopped(); took != time.Second {
			t.Errorf("it took %v", took)
		}
		w.is(w.job("a", s.JobID), "failed 1/1: failed")
		if w.told("job failed") != 1 {
			t.Errorf("told of %v", w.outcomes)
		}
	})
}

func TestATargetThatTheStopCutsOffHasNotFailed(t *testing.T) {
	for name, slow := range map[string]page{
		"cancelled": held(nil).page,
		"late": func(ctx context.Context, _ batch.Target) (batch.Result, error) {
			<-ctx.Done()
			time.Sleep(time.Second)
			return batch.Result{}, missing()
		},
		"busy": func(ctx context.Context, _ batch.Target) (batch.Result, error) {
			<-ctx.Done()
			return batch.Result{}, busy()
		},
		"panics": func(ctx context.Context, _ batch.Target) (batch.Result, error) { <-ctx.Done(); panic("stopped") },
	} {
		inWorld(t, func(t *testing.T, w *world) {
			w.pages["http://slow/"] = slow
			w.start()
			s := w.submit("a", "http://one/", "http://slow/", "http://two/")
			synctest.Wait()
			if took := w.stopped(); took < 5*time.Second || took > 6*time.Second {
				t.Errorf("%s: it took %v", name, took)
			}
			w.is(w.job("a", s.JobID), "running 1/3: done running pending")
			if w.told("target ok") != 1 || len(w.outcomes) != 3 { // with job created and stored
				t.Errorf("%s: told of %v", name, w.outcomes)
			}
			w.restart()
			j := w.job("a", s.JobID)
			w.is(j, "failed 2/3: done failed pending")
			want := sift.JobTarget{Idx: 1, URL: "http://slow/", Status: sift.TargetFailed, Error: "restart", Hint: sift.HintFresh}
			if d := cmp.Diff(want, j.Targets[1]); d != "" || j.Error != "restart" {
				t.Errorf("%s: %q, %s", name, j.Error, d)
			}
		})
	}
}

func TestAnAnswerThatComesAsTheGraceEndsIsKept(t *testing.T) {
	inWorld(t, func(_ *testing.T, w *world) {
		w.pages["http://slow/"] = func(ctx context.Context, _ batch.Target) (batch.Result, error) {
			<-ctx.Done()
			return answer("kept"), nil
		}
		w.start()
		s := w.submit("a", "http://slow/", "http://two/")
		synctest.Wait()
		w.end()
		w.is(w.job("a", s.JobID), "running 1/2: done pending")
	})
}

func TestStoppingBreaksTheWaitForASlot(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.pages["http://one/"] = fails(busy())
		w.start()
		s := w.submit("a", "http://one/")
		time.Sleep(time.Minute + 33*time.Millisecond)
		synctest.Wait()
		if took := w.stopped(); took != 0 {
			t.Errorf("it took %v", took)
		}
		w.is(w.job("a", s.JobID), "running 0/1: running")
		w.restart()
		w.is(w.job("a", s.JobID), "failed 1/1: failed")
	})
}

func TestACancelledTargetInFlightIsCutOffByTheStopToo(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.hold("http://one/")
		w.start()
		s := w.submit("a", "http://one/", "http://two/")
		synctest.Wait()
		w.cancel("a", s.JobID)
		w.end()
		w.is(w.job("a", s.JobID), "cancelled 0/2: running pending")
		w.restart()
		j := w.job("a", s.JobID)
		w.is(j, "cancelled 1/2: failed pending")
		if j.Error != "" || j.Targets[0].Error != "restart" || w.told("job restart") != 0 {
			t.Errorf("%+v, told of %v", j, w.outcomes)
		}
	})
}

func TestResultsSurviveARestart(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.pages["http://bad/"] = fails(missing())
		w.start()
		before := w.ended("a", w.submit("a", "http://one/", "http://bad/").JobID)
		w.restart()
		w.start()
		if d := cmp.Diff(before, w.job("a", before.ID)); d != "" {
			t.Error(d)
		}
		if again := w.submit("a", "http://one/", "http://bad/"); again.JobID != before.ID || !again.Reused {
			t.Errorf("again: %+v", again)
		}
		if len(w.fetches()) != 2 {
			t.Errorf("fetched %v", w.fetches())
		}
	})
}

func TestARunnerWithoutWorkersOnlyKeepsJobs(t *testing.T) {
	inWorldWith(t, batch.Config{Workers: -1}, func(t *testing.T, w *world) {
		w.start()
		s := w.submit("a", "http://one/")
		time.Sleep(time.Hour)
		w.is(w.job("a", s.JobID), "queued 0/1: pending")
		if took := w.stopped(); took != 0 {
			t.Errorf("it took %v", took)
		}
	})
}

func TestAClockThatIsSetTakesNobodysJobAway(t *testing.T) {
	for _, jump := range []time.Duration{10 * 365 * 24 * time.Hour, -10 * 365 * 24 * time.Hour, 2 * time.Hour} {
		inWorldWith(t, batch.Config{TTL: time.Hour}, func(t *testing.T, w *world) {
			var set time.Duration
			wall := func() time.Time { return time.Now().Add(set) }
			batch.SetWall(w.Runner, wall)
			w.start()
			w.ended("a", w.submit("a", "http://one/").JobID)
			there := func(want bool) {
				t.Helper()
				jobs, err := w.Jobs(t.Context(), caller("a"))
				if err != nil || (len(jobs) == 1) != want {
					t.Fatalf("after a jump by %v and %v: %d jobs, %v", jump, set, len(jobs), err)
				}
			}
			time.Sleep(30 * time.Second)
			set = jump
			there(true) // before it was noticed
			time.Sleep(29 * time.Minute)
			there(true)
			// Half of its lease has gone, and the other half goes by this clock.
			time.Sleep(30 * time.Minute)
			there(true)
			time.Sleep(time.Minute)
			there(false)
			// And a lease that was renewed by the new clock is as long as any.
			id := w.ended("a", w.submit("a", "http://one/").JobID).ID
			time.Sleep(59 * time.Minute)
			there(true)
			if j := w.job("a", id); j.CreatedAt.Sub(wall()).Abs() > time.Hour {
				t.Errorf("created at %v, and it is %v", j.CreatedAt, wall())
			}

			// The next process begins with the clock as it is then.
			set += jump
			w.end()
			w.Runner = batch.New(w.conf)
			batch.SetStart(w.Runner, wall())
			batch.SetWall(w.Runner, wall)
			if err := w.Recover(t.Context()); err != nil {
				t.Fatal(err)
			}
			w.start()
			time.Sleep(59 * time.Minute)
			there(true)
			time.Sleep(time.Minute)
			there(false)
		})
	}
}
