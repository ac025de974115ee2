package batch_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sift.build/sift/internal/batch"
	"sift.build/sift/internal/sift"
)

// put makes p the page of a URL while others are fetched.
func (w *world) put(url string, p page) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pages[url] = p
}

// slow is a page that takes d.
func slow(d time.Duration) page {
	return func(ctx context.Context, _ batch.Target) (batch.Result, error) {
		select {
		case <-time.After(d):
			return answer("x"), nil
		case <-ctx.Done():
			return batch.Result{}, ctx.Err()
		}
	}
}

// busyAtFirst is a page that finds no slot the first n times.
func busyAtFirst(n int) page {
	return func(context.Context, batch.Target) (batch.Result, error) {
		if n--; n >= 0 {
			return batch.Result{}, busy()
		}
		return answer("x"), nil
	}
}

func TestJobsThatWaitForASlotHoldUpNobody(t *testing.T) {
	inWorldWith(t, batch.Config{Workers: 2}, func(t *testing.T, w *world) {
		w.pages["http://busy/"] = fails(busy())
		w.start()
		var waiting []sift.Submitted
		for _, who := range []string{"a", "b", "c"} { // more than there are workers
			waiting = append(waiting, w.submit(who, "http://busy/"))
		}
		time.Sleep(time.Minute)
		for i := range 10 {
			url := fmt.Sprintf("http://good/%d", i)
			w.put(url, slow(time.Second))
			began := time.Now()
			w.is(w.ended("d", w.submit("d", url, "http://good/").JobID), "done 2/2: done done")
			if took := time.Since(began); took != time.Second {
				t.Errorf("beside jobs that wait it took %v", took)
			}
		}
		for i, who := range []string{"a", "b", "c"} {
			w.is(w.job(who, waiting[i].JobID), "running 0/1: running")
		}
		if w.peak > 2 {
			t.Errorf("%d fetches at once", w.peak)
		}
	})
}

func TestAJobIsNotClaimedWhileAllWorkersFetchAndAJobGoesOnBeforeAnotherBegins(t *testing.T) {
	inWorldWith(t, batch.Config{Workers: 2}, func(_ *testing.T, w *world) {
		one, two, other := w.hold("http://one/"), w.hold("http://two/"), w.hold("http://other/")
		w.start()
		a, b := w.submit("a", "http://one/", "http://two/"), w.submit("b", "http://other/")
		synctest.Wait()
		c := w.submit("c", "http://three/")
		time.Sleep(time.Hour)
		w.is(w.job("c", c.JobID), "queued 0/1: pending")
		one <- outcome{result: answer("x")}
		time.Sleep(time.Hour)
		w.is(w.job("a", a.JobID), "running 1/2: done running")
		w.is(w.job("c", c.JobID), "queued 0/1: pending")
		other <- outcome{result: answer("x")}
		synctest.Wait()
		w.is(w.job("b", b.JobID), "done 1/1: done")
		w.is(w.job("c", c.JobID), "done 1/1: done")
		two <- outcome{result: answer("x")}
		w.is(w.ended("a", a.JobID), "done 2/2: done done")
	})
}

// With one worker the order of the fetches tells who had it.
func TestAJobThatWaitedForASlotComesBeforeThoseThatHaveNotBegun(t *testing.T) {
	inWorldWith(t, batch.Config{Workers: 1}, func(t *testing.T, w *world) {
		w.pages["http://a/"], w.pages["http://b/"] = busyAtFirst(1), busyAtFirst(1)
		want := []string{"http://a/", "http://b/", "http://0/"}
		a, b := w.submit("a", "http://a/"), w.submit("b", "http://b/")
		var last sift.Submitted
		for i := range 6 {
			url := fmt.Sprintf("http://%d/", i)
			w.pages[url] = slow(2 * time.Second)
			last = w.submit(fmt.Sprint(i), url)
		}
		w.start()
		w.ended("a", a.JobID)
		w.ended("b", b.JobID)
		w.ended("5", last.JobID)
		got := w.fetches()
		// a and b came back while 0 was fetched, in an order that is chance.
		slices.Sort(got[3:5])
		want = append(want, "http://a/", "http://b/", "http://1/", "http://2/", "http://3/", "http://4/", "http://5/")
		if !slices.Equal(got, want) {
			t.Errorf("fetched %v\nand not %v", got, want)
		}
	})
}

func TestAJobThatWaitedForASlotHasItsTurnBetweenTheTargetsOfAnother(t *testing.T) {
	inWorldWith(t, batch.Config{Workers: 1}, func(t *testing.T, w *world) {
		w.pages["http://a/"] = busyAtFirst(1)
		list := []string{"http://b/1", "http://b/2", "http://b/3"}
		for _, url := range list {
			w.pages[url] = slow(2 * time.Second)
		}
		w.pages["http://a/2"] = slow(2 * time.Second)
		a, b := w.submit("a", "http://a/", "http://a/2"), w.submit("b", list...)
		w.start()
		w.is(w.ended("a", a.JobID), "done 2/2: done done")
		w.is(w.ended("b", b.JobID), "done 3/3: done done done")
		want := []string{"http://a/", "http://b/1", "http://a/", "http://b/2", "http://a/2", "http://b/3"}
		if got := w.fetches(); !slices.Equal(got, want) {
			t.Errorf("fetched %v\nand not %v", got, want)
		}
	})
}

// Jobs that wait are many, jobs come without end, and each of those that were
// claimed goes on.
func TestNoJobThatWasClaimedStarvesWhileOthersCome(t *testing.T) {
	inWorldWith(t, batch.Config{Workers: 2, JobsTotal: 6}, func(t *testing.T, w *world) {
		var waiting []sift.Submitted
		for i := range 3 {
			url := fmt.Sprintf("http://busy/%d", i)
			w.pages[url] = busyAtFirst(20)
			waiting = append(waiting, w.submit(fmt.Sprint("w", i), url))
		}
		w.start()
		synctest.Wait()
		began := time.Now()
		var others sync.WaitGroup
		for i := range 3 { // each keeps a job in the queue
			others.Go(func() {
				for n := 0; time.Since(began) < 5*time.Minute; n++ {
					url := fmt.Sprintf("http://%d/%d", i, n)
					w.put(url, slow(3*time.Second))
					s := w.submit(fmt.Sprint(i), url)
					for status := s.Status; status.Live(); {
						j, err := w.Job(t.Context(), caller(fmt.Sprint(i)), s.JobID, -1, time.Hour)
						if err != nil {
							t.Error(err)
							return
						}
						status = j.Status
					}
				}
			})
		}
		for i, s := range waiting {
			w.is(w.ended(fmt.Sprint("w", i), s.JobID), "done 1/1: done")
		}
		// 20 tries, each after 2 seconds at most and one target of another.
		if took := time.Since(began); took > 20*(2+3)*time.Second {
			t.Errorf("it took %v", took)
		}
		others.Wait()
		if w.peak > 2 {
			t.Errorf("%d fetches at once", w.peak)
		}
	})
}

func TestTriesForASlotAreNeverMoreAtOnceThanThereAreWorkers(t *testing.T) {
	inWorldWith(t, batch.Config{Workers: 2}, func(t *testing.T, w *world) {
		began := time.Now()
		var jobs []sift.Submitted
		for i := range 8 {
			url := fmt.Sprintf("http://%d/", i)
			w.pages[url] = func(context.Context, batch.Target) (batch.Result, error) {
				time.Sleep(300 * time.Millisecond) // of the bubble's clock
				if n := w.InFlight(); n > 2 {
					t.Errorf("%d in flight", n)
				}
				if time.Since(began) < time.Minute {
					return batch.Result{}, busy()
				}
				return answer("x"), nil
			}
			jobs = append(jobs, w.submit(fmt.Sprint(i), url))
		}
		w.start()
		time.Sleep(30 * time.Second)
		synctest.Wait()
		for i, s := range jobs {
			w.is(w.job(fmt.Sprint(i), s.JobID), "running 0/1: running")
		}
		for i, s := range jobs {
			w.is(w.ended(fmt.Sprint(i), s.JobID), "done 1/1: done")
		}
		if w.peak != 2 {
			t.Errorf("%d fetches at once", w.peak)
		}
	})
}

func TestCancellingBreaksTheWaitForAWorker(t *testing.T) {
	inWorldWith(t, batch.Config{Workers: 1}, func(t *testing.T, w *world) {
		w.pages["http://busy/"] = fails(busy())
		b := w.hold("http://b/")
		w.start()
		waits := w.submit("a", "http://busy/", "http://two/")
		synctest.Wait()
		fetching := w.submit("b", "http://b/")
		time.Sleep(time.Minute)
		w.is(w.job("a", waits.JobID), "running 0/2: running pending")
		w.cancel("a", waits.JobID)
		synctest.Wait()
		w.is(w.job("a", waits.JobID), "cancelled 0/2: pending pending")
		if n := batch.ClaimedJobs(w.Runner); n != 1 {
			t.Errorf("%d jobs are worked on", n)
		}
		b <- outcome{result: answer("x")}
		w.is(w.ended("b", fetching.JobID), "done 1/1: done")
		w.is(w.ended("a", w.submit("a", "http://three/").JobID), "done 1/1: done") // with the same worker
	})
}

func TestCancellingBreaksTheWaitForAWorkerBetweenTwoTargets(t *testing.T) {
	inWorldWith(t, batch.Config{Workers: 1}, func(t *testing.T, w *world) {
		first := true
		h := make(held)
		w.pages["http://a/"] = func(ctx context.Context, t batch.Target) (batch.Result, error) {
			if first {
				first = false
				return batch.Result{}, busy()
			}
			return h.page(ctx, t)
		}
		w.pages["http://b/1"] = slow(10 * time.Second)
		a, b := w.submit("a", "http://a/"), w.submit("b", "http://b/1", "http://b/2")
		w.start()
		time.Sleep(time.Minute)
		synctest.Wait()
		w.is(w.job("a", a.JobID), "running 0/1: running")
		w.is(w.job("b", b.JobID), "running 1/2: done pending")
		w.cancel("b", b.JobID)
		synctest.Wait()
		if n := batch.ClaimedJobs(w.Runner); n != 1 {
			t.Errorf("%d jobs are worked on", n)
		}
		h <- outcome{result: answer("x")}
		w.is(w.ended("a", a.JobID), "done 1/1: done")
		w.is(w.job("b", b.JobID), "cancelled 1/2: done pending")
		if slices.Contains(w.fetches(), "http://b/2") {
			t.Error("it was fetched")
		}
	})
}

func TestStoppingBreaksTheWaitForAWorker(t *testing.T) {
	inWorldWith(t, batch.Config{Workers: 1}, func(t *testing.T, w *world) {
		w.pages["http://busy/"] = fails(busy())
		w.pages["http://b/"] = slow(time.Minute)
		w.start()
		a := w.submit("a", "http://busy/")
		synctest.Wait()
		b := w.submit("b", "http://b/")
		time.Sleep(57 * time.Second)
		tries := len(w.fetches())
		if took := w.stopped(); took != 3*time.Second {
			t.Errorf("it took %v", took)
		}
		w.is(w.job("a", a.JobID), "running 0/1: running")
		w.is(w.job("b", b.JobID), "done 1/1: done")
		if n := len(w.fetches()); n != tries {
			t.Errorf("%d more fetches", n-tries)
		}
	})
}

// Cancelled jobs leave their place under the caps while their target in flight
// finishes: so many of them must not add up.
func TestNoMoreJobsAreDrainedAtOnceThanMayBeLive(t *testing.T) {
	inWorldWith(t, batch.Config{Workers: 4, JobsTotal: 2}, func(t *testing.T, w *world) {
		var flying []held
		w.start()
		for i := range 2 {
			url := fmt.Sprintf("http://%d/", i)
			flying = append(flying, w.hold(url))
			s := w.submit("a", url)
			synctest.Wait()
			w.cancel("a", s.JobID)
		}
		s := w.submit("a", "http://three/")
		time.Sleep(time.Minute)
		w.is(w.job("a", s.JobID), "queued 0/1: pending")
		if n := batch.ClaimedJobs(w.Runner); n != 2 {
			t.Errorf("%d jobs are worked on", n)
		}
		flying[1] <- outcome{result: answer("x")}
		w.is(w.ended("a", s.JobID), "done 1/1: done")
		flying[0] <- outcome{result: answer("x")}
	})
}

// worldOfCallers is a world in which forget makes a caller unknown.
func worldOfCallers(t *testing.T, c batch.Config, fn func(t *testing.T, w *world, forget func(string))) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, c)
		defer func() { w.end() }()
		forgotten := map[string]bool{}
		w.conf.Known = func(caller string) bool {
			w.mu.Lock()
			defer w.mu.Unlock()
			return !forgotten[caller]
		}
		w.Runner = batch.New(w.conf)
		fn(t, w, func(caller string) {
			w.mu.Lock()
			defer w.mu.Unlock()
			forgotten[caller] = true
		})
	})
}

const reasonForgotten = "unauthorized: this caller is not known to the service any more"

func TestAJobWhoseCallerIsForgottenEndsBeforeItsNextTarget(t *testing.T) {
	worldOfCallers(t, batch.Config{}, func(t *testing.T, w *world, forget func(string)) {
		two, other := w.hold("http://two/"), w.hold("http://other/")
		w.start()
		a, b := w.submit("a", "http://one/", "http://two/", "http://three/"), w.submit("b", "http://other/", "http://four/")
		synctest.Wait()
		forget("a")
		two <- outcome{result: answer("kept")}
		synctest.Wait()
		j := w.job("a", a.JobID)
		w.is(j, "failed 2/3: done done pending")
		if j.Error != reasonForgotten || string(j.Targets[1].Result) != string(answer("kept").JSON) || j.Targets[2].Error != "" {
			t.Errorf("%+v", j)
		}
		other <- outcome{result: answer("x")}
		w.is(w.ended("b", b.JobID), "done 2/2: done done")
		if slices.Contains(w.fetches(), "http://three/") || w.told("job failed") != 1 || w.told("target unauthorized") != 0 {
			t.Errorf("fetched %v, told of %v", w.fetches(), w.outcomes)
		}
	})
}

func TestAJobWhoseCallerIsForgottenDoesNotWaitForASlotAnyMore(t *testing.T) {
	worldOfCallers(t, batch.Config{}, func(t *testing.T, w *world, forget func(string)) {
		w.pages["http://busy/"] = fails(busy())
		w.start()
		s := w.submit("a", "http://busy/", "http://two/")
		time.Sleep(time.Minute)
		synctest.Wait()
		tries := len(w.fetches())
		forget("a")
		time.Sleep(2 * time.Second)
		synctest.Wait()
		j := w.job("a", s.JobID)
		w.is(j, "failed 1/2: failed pending")
		if j.Error != reasonForgotten || j.Targets[0].Error != reasonForgotten || j.Targets[0].Hint != sift.HintFresh {
			t.Errorf("%+v", j)
		}
		if n := len(w.fetches()); n != tries || w.told("target unauthorized") != 1 {
			t.Errorf("%d more tries, told of %v", n-tries, w.outcomes)
		}
	})
}

func TestAJobWhoseCallerIsForgottenWhileItWaitsForAWorkerIsNotFetched(t *testing.T) {
	worldOfCallers(t, batch.Config{Workers: 1}, func(_ *testing.T, w *world, forget func(string)) {
		w.pages["http://a/"] = busyAtFirst(1)
		b := w.hold("http://b/")
		w.start()
		s := w.submit("a", "http://a/")
		synctest.Wait()
		w.submit("b", "http://b/")
		time.Sleep(time.Minute) // a waits for the worker that b has
		forget("a")
		b <- outcome{result: answer("x")}
		synctest.Wait()
		w.is(w.job("a", s.JobID), "failed 1/1: failed")
		if got := w.fetches(); !slices.Equal(got, []string{"http://a/", "http://b/"}) {
			w.Errorf("fetched %v", got)
		}
	})
}

func TestAQueuedJobWhoseCallerIsForgottenFetchesNothing(t *testing.T) {
	worldOfCallers(t, batch.Config{}, func(t *testing.T, w *world, forget func(string)) {
		s := w.submit("a", "http://one/")
		forget("a")
		w.start()
		synctest.Wait()
		j := w.job("a", s.JobID)
		w.is(j, "failed 0/1: pending")
		if j.Error != reasonForgotten || len(w.fetches()) != 0 {
			t.Errorf("%q, fetched %v", j.Error, w.fetches())
		}
	})
}

func TestTheEndOfAForgottenCallersJobIsShownUntilItCanBeWritten(t *testing.T) {
	worldOfCallers(t, batch.Config{}, func(t *testing.T, w *world, forget func(string)) {
		f := w.faults()
		f.set(errFull, "FailJob")
		w.pages["http://busy/"] = fails(busy())
		w.start()
		s := w.submit("a", "http://busy/")
		synctest.Wait()
		forget("a")
		for range 2 {
			time.Sleep(time.Minute)
			j := w.job("a", s.JobID)
			w.is(j, "failed 1/1: failed")
			if j.Error != reasonForgotten || w.told("job failed") != 0 {
				t.Errorf("%q, told of %v", j.Error, w.outcomes)
			}
		}
		f.set(nil, "FailJob")
		time.Sleep(time.Minute)
		w.is(w.job("a", s.JobID), "failed 1/1: failed")
		if w.told("job failed") != 1 || batch.Lost(w.Runner) != 0 {
			t.Errorf("told of %v, %d lost", w.outcomes, batch.Lost(w.Runner))
		}
	})
}

// What waited for a slot when both came is pending: nothing was fetched.
func TestAJobThatIsCancelledAsItsCallerIsForgottenIsCancelled(t *testing.T) {
	worldOfCallers(t, batch.Config{}, func(_ *testing.T, w *world, forget func(string)) {
		w.pages["http://busy/"] = fails(busy())
		w.start()
		s := w.submit("a", "http://busy/")
		synctest.Wait()
		w.store.fault = func(op string) error {
			if op == "FailJob" {
				w.cancel("a", s.JobID)
			}
			return nil
		}
		forget("a")
		time.Sleep(time.Minute)
		synctest.Wait()
		w.is(w.job("a", s.JobID), "cancelled 0/1: pending")
		if !strings.Contains(w.log.String(), "cancelled") || w.told("job failed") != 0 {
			w.Errorf("told of %v", w.outcomes)
		}
	})
}
