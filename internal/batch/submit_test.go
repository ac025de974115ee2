package batch_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sift.build/sift/internal/batch"
	"sift.build/sift/internal/sift"
)

func TestTheSameListOfTheSameCallerIsTheSameJobAndIsFetchedOnce(t *testing.T) {
	inWorldWith(t, batch.Config{JobsPerCaller: 2}, func(t *testing.T, w *world) {
		s := w.submit("a", "http://one/", "HTTP://TWO/")
		again := sift.Submitted{JobID: s.JobID, Status: sift.JobQueued, Targets: 2, Reused: true}
		if got := w.submit("a", "http://ONE/", "http://two/"); got != again { // the same to the guard's parser
			t.Errorf("again: %+v", got)
		}
		w.start()
		w.ended("a", s.JobID)
		again.Status = sift.JobDone
		if got := w.submit("a", "http://one/", "http://two/"); got != again {
			t.Errorf("once it is done: %+v", got)
		}
		w.ended("a", s.JobID)
		if got := w.fetches(); len(got) != 2 {
			t.Errorf("fetched %v", got)
		}
		// In another order, of another caller or with another option it is another list.
		for name, other := range map[string]func() (sift.Submitted, error){
			"turned round": func() (sift.Submitted, error) {
				return w.Submit(t.Context(), caller("a"), urls("http://two/", "http://one/"), false)
			},
			"another caller's": func() (sift.Submitted, error) {
				return w.Submit(t.Context(), caller("b"), urls("http://one/", "http://two/"), false)
			},
			"a text": func() (sift.Submitted, error) {
				list := urls("http://one/", "http://two/")
				list[1].Mode = sift.ModeText
				return w.Submit(t.Context(), caller("a"), list, false)
			},
		} {
			if got, err := other(); err != nil || got.Reused || got.JobID == s.JobID {
				t.Errorf("%s: %+v, %v", name, got, err)
			}
			synctest.Wait()
		}
	})
}

func TestAJobThatHasFailedOrWasCancelledComesBackWithTheWayOut(t *testing.T) {
	inWorldWith(t, batch.Config{JobsPerCaller: 9}, func(t *testing.T, w *world) {
		w.pages["http://bad/"] = fails(missing())
		w.start()
		failed := w.submit("a", "http://bad/")
		w.ended("a", failed.JobID)
		partial := w.submit("a", "http://bad/", "http://good/")
		w.ended("a", partial.JobID)
		w.pages["http://slow/"] = w.hold("http://slow/").page
		cancelled := w.submit("a", "http://slow/")
		w.cancel("a", cancelled.JobID)
		for _, tt := range []struct {
			want sift.Submitted
			list []string
		}{
			{sift.Submitted{JobID: failed.JobID, Status: sift.JobFailed, Targets: 1, Reused: true, Hint: sift.HintFresh}, []string{"http://bad/"}},
			{sift.Submitted{JobID: partial.JobID, Status: sift.JobPartial, Targets: 2, Reused: true}, []string{"http://bad/", "http://good/"}},
			{sift.Submitted{JobID: cancelled.JobID, Status: sift.JobCancelled, Targets: 1, Reused: true, Hint: sift.HintFresh}, []string{"http://slow/"}},
		} {
			if got := w.submit("a", tt.list...); got != tt.want {
				t.Errorf("%v: %+v", tt.list, got)
			}
		}
		fresh, err := w.Submit(t.Context(), caller("a"), urls("http://bad/"), true)
		if err != nil || fresh.Reused || fresh.Hint != "" || fresh.JobID == failed.JobID {
			t.Fatalf("fresh: %+v, %v", fresh, err)
		}
		if got := w.submit("a", "http://bad/"); got.JobID != fresh.JobID {
			t.Errorf("the newest is %s, not %s", got.JobID, fresh.JobID)
		}
		w.is(w.job("a", failed.JobID), "failed 1/1: failed")
	})
}

func TestManySubmitsOfOneListAtOnceMakeOneJob(t *testing.T) {
	for range 50 {
		inWorld(t, func(t *testing.T, w *world) {
			w.start()
			var wg sync.WaitGroup
			got := make([]sift.Submitted, 64)
			for i := range got {
				wg.Go(func() { got[i] = w.submit("a", "http://one/", "http://two/") })
			}
			wg.Wait()
			made := 0
			for _, s := range got {
				if !s.Reused {
					made++
				}
				if s.JobID != got[0].JobID {
					t.Errorf("jobs %s and %s", s.JobID, got[0].JobID)
				}
			}
			w.is(w.ended("a", got[0].JobID), "done 2/2: done done")
			if n := len(w.fetches()); made != 1 || n != 2 || w.told("job created") != 1 || w.told("job reused") != 63 {
				t.Errorf("%d made, %d fetched, told of %v", made, n, w.outcomes)
			}
		})
	}
}

func TestAListIsRefusedByItsCap(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		list := slices.Repeat([]string{"http://one/"}, 33)
		_, err := w.Submit(t.Context(), caller("a"), urls(list...), false)
		f := w.wantFailure(err, sift.CodeCap, "33", "32", "several")
		over, ok := errors.AsType[*batch.CapError](err)
		if !ok || *over != (batch.CapError{Cap: batch.CapTargets, Limit: 32}) || f.RetryAfter != 0 || f.Hint != "" {
			t.Errorf("%+v, %+v", f, over)
		}
		if s := w.submit("a", list[1:]...); s.Targets != 32 {
			t.Errorf("%+v", s)
		}
	})
}

func TestACallerWithALiveJobIsToldWhichItIs(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		first := w.submit("a", "http://one/")
		_, err := w.Submit(t.Context(), caller("a"), urls("http://two/"), false)
		f := w.wantFailure(err, sift.CodeCap, first.JobID, "cancel", "wait", "jobs_per_caller")
		over, _ := errors.AsType[*batch.CapError](err)
		if *over != (batch.CapError{Cap: batch.CapPerCaller, Limit: 1, JobID: first.JobID}) || f.Hint != sift.HintRetry || f.RetryAfter <= 0 {
			t.Errorf("%+v, %+v", f, over)
		}
		if _, err := w.Submit(t.Context(), caller("a"), urls("http://one/"), true); err == nil {
			t.Error("fresh is over the cap too, and was accepted")
		}
		w.submit("b", "http://two/")
		w.cancel("a", first.JobID)
		w.submit("a", "http://two/")
	})
}

func TestAllCallersTogetherHaveACapThatNamesNobodysJob(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		var ids []string
		for i := range 8 {
			ids = append(ids, w.submit(fmt.Sprint(i), "http://one/").JobID)
		}
		_, err := w.Submit(t.Context(), caller("late"), urls("http://one/"), false)
		f := w.wantFailure(err, sift.CodeCap, "jobs_total", "8", "again")
		over, _ := errors.AsType[*batch.CapError](err)
		if *over != (batch.CapError{Cap: batch.CapTotal, Limit: 8}) || f.Hint != sift.HintRetry || f.RetryAfter <= 0 {
			t.Errorf("%+v, %+v", f, over)
		}
		for _, id := range ids {
			if strings.Contains(f.Message, id) {
				t.Errorf("another's job is named: %s", f.Message)
			}
		}
		w.start()
		w.ended("0", ids[0])
		w.submit("late", "http://one/")
	})
}

func TestTheListsOfLiveJobsCanTakeTooMuchForAnother(t *testing.T) {
	inWorldWith(t, batch.Config{ListBytes: 2000, JobsPerCaller: 2}, func(t *testing.T, w *world) {
		w.submit("b", "http://one/")
		w.submit("a", "http://"+strings.Repeat("x", 900)) // another's do not count
		_, err := w.Submit(t.Context(), caller("b"), urls("http://"+strings.Repeat("x", 1000)), false)
		f := w.wantFailure(err, sift.CodeCap, "lists")
		if over, _ := errors.AsType[*batch.CapError](err); over.Cap != batch.CapLists || f.Hint != sift.HintRetry || f.RetryAfter <= 0 {
			t.Errorf("%+v, %+v", f, over)
		}
	})
}

func TestWithoutAnyPlaceACallerIsNotToldToWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, batch.Config{})
		conf := w.conf
		conf.JobsPerCaller = 0
		w.Runner = batch.New(conf)
		_, err := w.Submit(t.Context(), caller("a"), urls("http://one/"), false)
		if f := w.wantFailure(err, sift.CodeCap, "operator"); strings.Contains(f.Message, "wait") {
			t.Error(f.Message)
		}
	})
}

func TestTheCapsHoldWhenManyAskAtOnce(t *testing.T) {
	for range 10 {
		inWorldWith(t, batch.Config{JobsPerCaller: 2, Workers: 1}, func(t *testing.T, w *world) {
			w.pages["http://slow/"] = fails(busy())
			var wg sync.WaitGroup
			made := make([]bool, 96)
			for i := range made {
				wg.Go(func() {
					_, err := w.Submit(t.Context(), caller(fmt.Sprint(i%12)), urls("http://slow/", fmt.Sprintf("http://%d/", i)), false)
					if _, over := errors.AsType[*batch.CapError](err); err != nil && !over {
						t.Error(err)
					}
					made[i] = err == nil
				})
			}
			w.start()
			wg.Wait()
			count, of := 0, map[int]int{}
			for i, made := range made {
				if made {
					count++
					of[i%12]++
				}
			}
			if count != 8 {
				t.Errorf("%d jobs", count)
			}
			for who, n := range of {
				if n > 2 {
					t.Errorf("%d has %d jobs", who, n)
				}
			}
		})
	}
}

func TestATargetThatFailsThePreCheckRefusesTheListAndIsNamed(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		_, err := w.Submit(t.Context(), caller("a"), urls("http://one/", "http://two:8080/", "http://three:8080/"), false)
		f := w.wantFailure(err, sift.CodeBlocked)
		if f.Message != "targets[1]: port 8080 is not allowed" || f.URL != "http://two:8080/" || f.Cause == nil {
			t.Errorf("%+v", f)
		}
		if jobs, err := w.Jobs(t.Context(), caller("a")); err != nil || len(jobs) != 0 {
			t.Errorf("%+v, %v", jobs, err)
		}
	})
}

func TestATargetThatCannotBeStoredAsItIsIsRefusedAndNamed(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for word, target := range map[string]sift.Target{
		"password":  {URL: "http://one/", Password: "secret"},
		"UTF-8":     {URL: "http://one/", Grep: "\xff"},
		"UTF-8 ":    {URL: "http://one/\xfe"},
		"timeout":   {URL: "http://one/", Timeout: &nan},
		"timeout i": {URL: "http://one/", Timeout: &inf},
	} {
		inWorld(t, func(t *testing.T, w *world) {
			_, err := w.Submit(t.Context(), caller("a"), []sift.Target{{URL: "http://zero/"}, target}, false)
			f := w.wantFailure(err, sift.CodeInvalid, "targets[1]: ", strings.Fields(word)[0])
			if strings.Contains(f.Error(), "secret") {
				t.Error("the password is in the text")
			}
		})
	}
}

func TestAnEmptyListAndOneTooLargeAreRefused(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		_, err := w.Submit(t.Context(), caller("a"), nil, false)
		w.wantFailure(err, sift.CodeInvalid, "targets")
		_, err = w.Submit(t.Context(), caller("a"), urls("http://"+strings.Repeat("x", 1<<20)), false)
		w.wantFailure(err, sift.CodeTooLong, "several")
	})
}

func TestAnIdSaysNothingAndComesOnce(t *testing.T) {
	inWorldWith(t, batch.Config{JobsPerCaller: 1000, JobsTotal: 1000}, func(t *testing.T, w *world) {
		seen := map[string]bool{}
		for i := range 500 {
			id := w.submit("a", fmt.Sprintf("http://%d/", i)).JobID
			if !regexp.MustCompile(`^[a-z0-9]{26,64}$`).MatchString(id) || seen[id] {
				t.Errorf("the id is %q", id)
			}
			seen[id] = true
		}
	})
}

func TestACallerThatHasLeftSubmitsNothing(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := w.Submit(ctx, caller("a"), urls("http://one/"), false)
		w.wantFailure(err, sift.CodeCancel)
		if jobs, err := w.Jobs(t.Context(), caller("a")); err != nil || len(jobs) != 0 {
			t.Errorf("%+v, %v", jobs, err)
		}
	})
}

func TestAStoreThatFailsIsOurFault(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		s := w.submit("a", "http://one/")
		secret := errors.New("the disk of /var/lib")
		w.store.fault = func(string) error { return secret }
		_, submit := w.Submit(t.Context(), caller("a"), urls("http://one/"), false)
		_, job := w.Job(t.Context(), caller("a"), s.JobID, -1, 0)
		_, waiting := w.Job(t.Context(), caller("a"), s.JobID, -1, time.Minute)
		_, jobs := w.Jobs(t.Context(), caller("a"))
		_, cancel := w.Cancel(t.Context(), caller("a"), s.JobID)
		for i, err := range []error{submit, job, waiting, jobs, cancel} {
			if f := w.wantFailure(err, sift.CodeInternal); strings.Contains(f.Error(), "disk") || !errors.Is(err, secret) {
				t.Errorf("%d: %v", i, err)
			}
		}
		if err := w.Recover(t.Context()); !errors.Is(err, secret) {
			t.Error(err)
		}
		w.store.fault = nil
	})
}

func TestASubmitThatFindsADiskFullIsOverACapThatEmpties(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		f := w.faults()
		f.set(errFull, "CreateJob")
		_, err := w.Submit(t.Context(), caller("a"), urls("http://one/"), false)
		full := w.wantFailure(err, sift.CodeCap)
		const want = "the disk of the server is full, so that no batch can be taken; fetches go on. Try again once there is room"
		if full.Message != want || full.Hint != sift.HintRetry || full.RetryAfter != time.Minute || !errors.Is(err, batch.ErrFull) {
			t.Errorf("%+v", full)
		}
	})
}

func TestACallerWhosePlaceIsTakenByAJobThatIsOnlyShownAsFailedIsToldWhy(t *testing.T) {
	for _, cause := range []error{errFull, errOdd} {
		inWorld(t, func(t *testing.T, w *world) {
			f := w.faults()
			f.set(cause, "FinishTarget", "FailJob")
			w.start()
			s := w.submit("a", "http://one/")
			w.ended("a", s.JobID)
			_, err := w.Submit(t.Context(), caller("a"), urls("http://two/"), false)
			refused := w.wantFailure(err, sift.CodeCap, s.JobID, "cannot be recorded yet", "try again later", "jobs_per_caller")
			for _, word := range []string{"has not ended", "cancel"} {
				if strings.Contains(refused.Message, word) {
					t.Errorf("%q says %q", refused.Message, word)
				}
			}
			over, _ := errors.AsType[*batch.CapError](err)
			if strings.Contains(refused.Message, "disk of the server is full") != (cause == errFull) || refused.RetryAfter != time.Minute || refused.Hint != sift.HintRetry ||
				*over != (batch.CapError{Cap: batch.CapPerCaller, Limit: 1, JobID: s.JobID}) {
				t.Errorf("%+v, %+v", refused, over)
			}
			f.set(nil, "FinishTarget", "FailJob")
			time.Sleep(time.Minute)
			w.submit("a", "http://two/")
		})
	}
}

func TestAListWithDefaultsWrittenOutIsTheSameJob(t *testing.T) {
	inWorldWith(t, batch.Config{MaxAge: 3600, Timeout: 20, JobsPerCaller: 9, JobsTotal: 99}, func(t *testing.T, w *world) {
		age, other, timeout, more, less := 3600, 60, 20.0, 90.0, 5.0
		submit := func(target sift.Target) sift.Submitted {
			t.Helper()
			target.URL = "http://one/"
			s, err := w.Submit(t.Context(), caller("a"), []sift.Target{target}, false)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		plain := submit(sift.Target{})
		for name, same := range map[string]sift.Target{
			"max_age":          {MaxAge: &age},
			"timeout":          {Timeout: &timeout},
			"a timeout beyond": {Timeout: &more},
			"all":              {Mode: sift.ModeClean, MaxAge: &age, MaxChars: sift.DefaultMaxChars, Timeout: &timeout},
		} {
			if s := submit(same); s.JobID != plain.JobID || !s.Reused {
				t.Errorf("with %s: %+v", name, s)
			}
		}
		pages := submit(sift.Target{Pages: "1-3,5"})
		if s := submit(sift.Target{Pages: " 5, 1-2 ,3"}); s.JobID != pages.JobID {
			t.Errorf("other words for the same pages: %+v", s)
		}
		for name, another := range map[string]sift.Target{
			"max_age": {MaxAge: &other}, "timeout": {Timeout: &less}, "pages": {Pages: "1-4"},
		} {
			if s := submit(another); s.Reused {
				t.Errorf("with another %s: %+v", name, s)
			}
		}
		// What is fetched is what was asked for.
		var mu sync.Mutex // several of these jobs are fetched at once
		var got batch.Target
		w.pages["http://one/"] = func(_ context.Context, t batch.Target) (batch.Result, error) {
			mu.Lock()
			defer mu.Unlock()
			got = t
			return answer("x"), nil
		}
		w.start()
		w.ended("a", plain.JobID)
		w.end()
		if got.MaxAge != nil && *got.MaxAge == 3600 || got.Timeout != nil && *got.Timeout == 20 {
			t.Errorf("fetched %+v", got)
		}
	})
}
