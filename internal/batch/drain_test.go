package batch_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"sift.build/sift/internal/batch"
	"sift.build/sift/internal/sift"
)

func TestAJobIsCollectedOnceItIsDone(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		s := w.submit("a", "http://one/", "http://two/")
		if want := (sift.Submitted{JobID: s.JobID, Status: sift.JobQueued, Targets: 2}); s != want {
			t.Errorf("submitted: %+v", s)
		}
		got := w.ended("a", s.JobID)
		want := &sift.Job{
			ID: s.JobID, Status: sift.JobDone, TargetsTotal: 2, TargetsDone: 2, CreatedAt: time.Now().UTC(),
			Targets: []sift.JobTarget{
				{Idx: 0, URL: "http://one/", Status: sift.TargetDone, Result: answer("http://one/").JSON},
				{Idx: 1, URL: "http://two/", Status: sift.TargetDone, Result: answer("http://two/").JSON},
			},
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
	})
}

func TestTheTargetsOfAJobAreFetchedInOrderAndNeverTwoAtOnce(t *testing.T) {
	inWorldWith(t, batch.Config{Workers: 8}, func(t *testing.T, w *world) {
		var list []string
		for i := range 32 {
			url := fmt.Sprintf("http://host/%02d", i)
			list = append(list, url)
			w.pages[url] = func(context.Context, batch.Target) (batch.Result, error) {
				time.Sleep(time.Second) // of the bubble's clock
				if n := w.InFlight(); n != 1 {
					t.Errorf("%d in flight", n)
				}
				return answer("x"), nil
			}
		}
		w.start()
		w.is(w.ended("a", w.submit("a", list...).JobID), "done 32/32:"+strings.Repeat(" done", 32))
		if got := w.fetches(); !slices.Equal(got, list) || w.peak != 1 {
			t.Errorf("fetched %v, at most %d at once", got, w.peak)
		}
		if n := w.InFlight(); n != 0 {
			t.Errorf("%d in flight at the end", n)
		}
	})
}

// Whoever reads while target i+1 is being fetched finds target i.
func TestATargetIsWrittenBeforeTheNextIsBegun(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		second := w.hold("http://two/")
		w.start()
		s := w.submit("a", "http://one/", "http://two/", "http://three/")
		synctest.Wait()
		j := w.job("a", s.JobID)
		w.is(j, "running 1/3: done running pending")
		if string(j.Targets[0].Result) != string(answer("http://one/").JSON) || j.Targets[1].Result != nil || j.Targets[1].Error != "" {
			t.Errorf("targets are %+v", j.Targets)
		}
		second <- outcome{result: answer("x")}
		w.is(w.ended("a", s.JobID), "done 3/3: done done done")
	})
}

func TestOneFailureIsThatTargetsAloneAndTheJobSaysHowManyThereWere(t *testing.T) {
	for want, list := range map[string][]string{
		"done 2/2: done done":                  {"good/1", "good/2"},
		"partial 3/3: done failed done":        {"good/1", "bad", "good/2"},
		"partial 2/2: failed done":             {"bad", "good/1"},
		"partial 2/2: done failed":             {"good/1", "bad"},
		"failed 2/2: failed failed":            {"bad", "bad"},
		"failed 1/1: failed":                   {"panic"},
		"partial 4/4: failed done failed done": {"panic", "good/1", "goexit", "good/2"},
	} {
		inWorld(t, func(t *testing.T, w *world) {
			w.pages["http://bad"] = fails(sift.Fail(sift.CodeBlocked, "private address 10.0.0.7").WithHint(sift.HintBrowser))
			w.pages["http://panic"] = func(context.Context, batch.Target) (batch.Result, error) { panic("no") }
			w.pages["http://goexit"] = func(context.Context, batch.Target) (batch.Result, error) {
				runtime.Goexit()
				return batch.Result{}, nil
			}
			for i := range list {
				list[i] = "http://" + list[i]
			}
			w.start()
			j := w.ended("a", w.submit("a", list...).JobID)
			w.is(j, want)
			if j.Error != "" {
				t.Errorf("the job's own error is %q", j.Error)
			}
			for _, target := range j.Targets {
				got := []string{target.Error, string(target.Hint)}
				want := []string{"", ""}
				switch target.URL {
				case "http://bad":
					want = []string{"blocked: private address 10.0.0.7", "browser"}
				case "http://panic", "http://goexit":
					want = []string{sift.AsFailure(errors.New("")).Error(), ""}
				}
				if !slices.Equal(got, want) {
					t.Errorf("%s: %q", target.URL, got)
				}
			}
			if !slices.Equal(w.fetches(), list) {
				t.Errorf("fetched %v", w.fetches())
			}
			if w.InFlight() != 0 {
				t.Errorf("%d in flight", w.InFlight())
			}
		})
	}
}

func TestWhatAFailureSaysIsKeptWithinABound(t *testing.T) {
	for name, text := range map[string]string{
		"long":                        strings.Repeat("x", 5000),
		"long, of several bytes each": strings.Repeat("漢", 5000),
		"long, off by one":            "x" + strings.Repeat("漢", 5000),
		"broken":                      strings.Repeat("\xffx", 500),
	} {
		inWorld(t, func(t *testing.T, w *world) {
			w.pages["http://one/"] = fails(sift.Fail(sift.CodeUnreachable, "%s", text))
			w.start()
			got := w.ended("a", w.submit("a", "http://one/").JobID).Targets[0].Error
			if len(got) > 700 || len(got) < 690 || !utf8.ValidString(got) || !strings.HasPrefix(got, "unreachable: ") || !strings.HasSuffix(got, "…") {
				t.Errorf("%s: %d bytes: %q", name, len(got), got)
			}
		})
	}
}

func TestATargetIsFetchedAsItWasSubmittedForItsCaller(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		age, timeout := 0, 2.5
		want := sift.Target{
			URL: "HTTP://One/?q=%20ü", Mode: sift.ModeText, Pages: "1-3,7-", Grep: `a<b>&"\d`, MaxAge: &age,
			MaxChars: 10, Offset: 5, Snapshot: "copy", Timeout: &timeout,
		}
		who := sift.Caller{Name: "secret", Class: "vault", Restricted: true, Anonymous: true}
		got := make(chan batch.Target, 2)
		take := func(_ context.Context, t batch.Target) (batch.Result, error) {
			got <- t
			return answer("x"), nil
		}
		w.pages[want.URL], w.pages["http://plain/"] = take, take
		w.start()
		s, err := w.Submit(t.Context(), who, []sift.Target{want, {URL: "http://plain/"}}, false)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		first, second := <-got, <-got
		if d := cmp.Diff(want, first.Target); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff(sift.Target{URL: "http://plain/", Mode: sift.ModeClean, MaxChars: sift.DefaultMaxChars}, second.Target); d != "" {
			t.Error(d)
		}
		if first.Caller != who || second.Caller != who {
			t.Errorf("callers %+v, %+v", first.Caller, second.Caller)
		}
		if j, err := w.Job(t.Context(), who, s.JobID, -1, 0); err != nil || j.Targets[0].URL != want.URL {
			t.Errorf("%+v, %v", j, err)
		}
	})
}

func TestATargetThatFindsNoSlotWaitsAsLongAsItTakes(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		var tries []time.Time
		w.pages["http://one/"] = func(context.Context, batch.Target) (batch.Result, error) {
			tries = append(tries, time.Now())
			if len(tries) < 2000 {
				return batch.Result{}, busy()
			}
			return answer("x"), nil
		}
		w.start()
		s := w.submit("a", "http://one/", "http://two/")
		w.is(w.ended("a", s.JobID), "done 2/2: done done")
		bound := 100 * time.Millisecond
		var longest time.Duration
		same := 0
		for i := range tries[1:] {
			wait := tries[i+1].Sub(tries[i])
			if wait > bound || wait < bound/2 {
				t.Fatalf("wait %d is %v, with a bound of %v", i, wait, bound)
			}
			if i > 0 && wait == longest {
				same++
			}
			longest = max(longest, wait)
			bound = min(2*bound, 2*time.Second)
		}
		if longest < 1500*time.Millisecond || same > 100 {
			t.Errorf("the longest wait is %v, %d times; so there is no jitter", longest, same)
		}
		if n := w.told("target busy"); n != 0 {
			t.Errorf("told of %d busy targets", n)
		}
	})
}

func TestATargetThatWaitsForASlotIsNotInFlight(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.pages["http://one/"] = fails(busy())
		w.start()
		s := w.submit("a", "http://one/")
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := w.InFlight(); n != 0 {
			t.Errorf("%d in flight", n)
		}
		w.is(w.job("a", s.JobID), "running 0/1: running")
	})
}

func TestNoMoreJobsAreWorkedOnThanThereAreWorkersAndTheOldestComesFirst(t *testing.T) {
	inWorldWith(t, batch.Config{Workers: 3, JobsTotal: 20}, func(t *testing.T, w *world) {
		var want, ids []string
		for i := range 20 {
			url := fmt.Sprintf("http://job-%02d/", i)
			want = append(want, url)
			w.pages[url] = func(context.Context, batch.Target) (batch.Result, error) {
				time.Sleep(time.Second)
				return answer("x"), nil
			}
			ids = append(ids, w.submit(fmt.Sprint(i), url).JobID)
		}
		began := time.Now()
		w.start()
		for i, id := range ids {
			w.is(w.ended(fmt.Sprint(i), id), "done 1/1: done")
		}
		if w.peak != 3 {
			t.Errorf("%d fetches at once", w.peak)
		}
		if took := time.Since(began); took != 7*time.Second {
			t.Errorf("it took %v", took)
		}
		// Three begin together, and which of those is first is chance.
		got := w.fetches()
		for i := 0; i < len(got); i += 3 {
			slices.Sort(got[i:min(i+3, len(got))])
		}
		if !slices.Equal(got, want) {
			t.Errorf("fetched in the order %v", got)
		}
	})
}

func TestAWorkerBeginsAtOnceWithWhatIsSubmitted(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		for i := range 5 {
			time.Sleep(time.Duration(i) * 7 * time.Second)
			synctest.Wait()
			began := time.Now()
			var jobs []sift.Submitted
			for _, who := range []string{"a", "b"} { // one for each worker
				url := fmt.Sprintf("http://%s/%d", who, i)
				w.put(url, slow(time.Second))
				jobs = append(jobs, w.submit(who, url))
			}
			w.ended("a", jobs[0].JobID)
			w.ended("b", jobs[1].JobID)
			if took := time.Since(began); took != time.Second {
				t.Errorf("it took %v", took)
			}
		}
	})
}

func TestAJobThatNobodyWasWokenForIsFound(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		synctest.Wait()
		other := batch.New(w.conf) // another that hands over to the same store
		s, err := other.Submit(t.Context(), caller("a"), urls("http://one/"), false)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		w.is(w.job("a", s.JobID), "done 1/1: done")
	})
}

func large(n int) batch.Result {
	return batch.Result{JSON: []byte(`"` + strings.Repeat("x", n-2) + `"`)}
}

func TestAResultMayBeAsLongAsATargetIsTold(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		var limits []int
		page := func(longer int) page {
			return func(_ context.Context, t batch.Target) (batch.Result, error) {
				limits = append(limits, t.MaxBytes)
				return large(t.MaxBytes + longer), nil
			}
		}
		w.pages["http://fits/"], w.pages["http://over/"] = page(0), page(1)
		w.start()
		j := w.ended("a", w.submit("a", "http://fits/", "http://over/").JobID)
		w.is(j, "partial 2/2: done failed")
		if !slices.Equal(limits, []int{256 << 10, 256 << 10}) {
			t.Errorf("limits are %v", limits)
		}
		if len(j.Targets[0].Result) != 256<<10 {
			t.Errorf("the result takes %d bytes", len(j.Targets[0].Result))
		}
		if e := j.Targets[1].Error; !strings.HasPrefix(e, "too_long: ") || !strings.Contains(e, "/v1/fetch") {
			t.Errorf("the error is %q", e)
		}
	})
}

func TestAJobStaysWithinItsBytesAndEveryFailureIsStillTold(t *testing.T) {
	inWorldWith(t, batch.Config{TargetsPerJob: 64}, func(t *testing.T, w *world) {
		var list []string
		var limits []int
		for i := range 64 {
			url := fmt.Sprintf("http://host/%d/%s", i, strings.Repeat("x", 1000))
			list = append(list, url)
			w.pages[url] = func(_ context.Context, t batch.Target) (batch.Result, error) {
				limits = append(limits, t.MaxBytes)
				if i > 40 {
					return batch.Result{}, sift.Fail(sift.CodeUnreachable, "%s", strings.Repeat("x", 9000)).WithHint(sift.HintPassword)
				}
				return large(t.MaxBytes), nil
			}
		}
		w.start()
		j := w.ended("a", w.submit("a", list...).JobID)
		n, err := w.store.BatchNbytes(t.Context())
		if err != nil || n > 8<<20 || n < 8<<20-64<<10 {
			t.Errorf("it takes %d bytes, %v", n, err)
		}
		if j.TargetsDone != 64 || limits[0] != 256<<10 || limits[40] > 2<<10 || limits[40] < 1<<10 {
			t.Errorf("%d done with the limits %v", j.TargetsDone, limits)
		}
		for _, target := range j.Targets[41:] {
			if len(target.Error) != 700 {
				t.Fatalf("an error of %d bytes", len(target.Error))
			}
		}
	})
}

func TestAResultForWhichNothingMakesRoomIsAFailureThatSaysSo(t *testing.T) {
	inWorldWith(t, batch.Config{MaxBytes: 100_000}, func(t *testing.T, w *world) {
		w.pages["http://large/"] = func(context.Context, batch.Target) (batch.Result, error) { return large(150_000), nil }
		w.start()
		j := w.ended("a", w.submit("a", "http://large/", "http://small/").JobID)
		w.is(j, "partial 2/2: failed done")
		if e := j.Targets[0].Error; !strings.HasPrefix(e, "too_long: ") || !strings.Contains(e, "room") || !strings.Contains(e, "150000") {
			t.Errorf("the error is %q", e)
		}
		if w.told("target too_long") != 1 || w.told("target ok") != 1 {
			t.Errorf("told of %v", w.outcomes)
		}
	})
}

func TestAResultThatIsNotJSONIsNotStored(t *testing.T) {
	for _, result := range []string{"", "{", "{}{}", "\xff"} {
		inWorld(t, func(t *testing.T, w *world) {
			w.pages["http://one/"] = func(context.Context, batch.Target) (batch.Result, error) {
				return batch.Result{JSON: []byte(result)}, nil
			}
			w.start()
			j := w.ended("a", w.submit("a", "http://one/").JobID)
			w.is(j, "failed 1/1: failed")
			if !strings.HasPrefix(j.Targets[0].Error, "internal: ") {
				t.Errorf("%q: %q", result, j.Targets[0].Error)
			}
		})
	}
}

func TestATargetThatANewerVersionHasWrittenFailsAlone(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		s := w.submit("a", "http://one/", "http://two/")
		w.store.jobs[s.JobID].Targets[0].Options = json.RawMessage(`{"mode":"clean","future":true}`)
		w.start()
		w.is(w.ended("a", s.JobID), "partial 2/2: failed done")
		if !slices.Equal(w.fetches(), []string{"http://two/"}) {
			t.Errorf("fetched %v", w.fetches())
		}
	})
}

func TestAnErrorThatIsNoFailureTellsItsCallerNothing(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.pages["http://one/"] = func(context.Context, batch.Target) (batch.Result, error) {
			return batch.Result{}, errors.New("the database of /var/lib")
		}
		w.start()
		if e := w.ended("a", w.submit("a", "http://one/").JobID).Targets[0].Error; e != sift.AsFailure(errors.New("")).Error() {
			t.Errorf("the error is %q", e)
		}
	})
}

func TestTheTraceIsToldOfEveryJobAndTarget(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.pages["http://bad/"] = fails(missing())
		w.start()
		s := w.submit("a", "http://one/", "http://bad/")
		w.ended("a", s.JobID)
		w.submit("a", "http://one/", "http://bad/")
		w.ended("a", w.submit("a", "http://bad/").JobID)
		w.ended("a", w.submit("a", "http://good/").JobID)
		want := []string{
			"job created", "target ok", fmt.Sprintf("stored %d", len(answer("http://one/").JSON)), "target upstream_4xx", "job partial", "job reused",
			"job created", "target upstream_4xx", "job failed",
			"job created", "target ok", fmt.Sprintf("stored %d", len(answer("http://good/").JSON)), "job done",
		}
		if d := cmp.Diff(want, w.outcomes); d != "" {
			t.Error(d)
		}
	})
}

func TestHowLongAJobAndATargetTookIsFromTheirBeginning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, batch.Config{})
		defer func() { w.end() }()
		var job, target time.Duration
		conf := w.conf
		conf.Trace = &batch.Trace{
			Job: func(outcome string, took time.Duration) {
				if outcome == "done" {
					job = took
				}
			},
			Target: func(_ string, took time.Duration) { target = took },
		}
		w.Runner = batch.New(conf)
		s := w.submit("a", "http://one/")
		began := time.Now()
		w.pages["http://one/"] = func(context.Context, batch.Target) (batch.Result, error) {
			if time.Since(began) < 20*time.Second {
				return batch.Result{}, busy()
			}
			return answer("x"), nil
		}
		time.Sleep(10 * time.Second) // queued
		w.start()
		w.ended("a", s.JobID)
		end := time.Since(began)
		if job.Round(10*time.Millisecond) != end.Round(10*time.Millisecond) || target != end-10*time.Second {
			t.Errorf("a job of %v took %v and its target %v", end, job, target)
		}
	})
}

// A runner without log and trace runs too.
func TestNobodyNeedsToListen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, batch.Config{})
		defer func() { w.end() }()
		conf := w.conf
		conf.Log, conf.Trace = nil, nil
		w.Runner = batch.New(conf)
		w.start()
		w.is(w.ended("a", w.submit("a", "http://one/").JobID), "done 1/1: done")
		conf.Trace = &batch.Trace{}
		w.end()
		w.Runner = batch.New(conf)
		w.start()
		w.is(w.ended("a", w.submit("a", "http://two/").JobID), "done 1/1: done")
	})
}
