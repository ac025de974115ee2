package fanout_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"

	"sift.build/sift/internal/fanout"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type (
	result = fanout.Result[int]
	work   = func(context.Context, int) (int, error)
)

// way is one of the four, in a form that a table can hold. results has one
// entry an item; what a stream did not yield is ErrNotRun there. err is what
// the call as a whole says, where it says anything.
type way struct {
	name string
	run  func(ctx context.Context, items []int, workers int, fn work) (results []result, err error)
}

func process(ctx context.Context, items []int, _ int, fn work) ([]result, error) {
	return fanout.Process(ctx, items, func(n int) (int, error) { return fn(ctx, n) })
}

func all(ctx context.Context, items []int, workers int, fn work) ([]result, error) {
	values, errs := fanout.All(ctx, items, workers, fn)
	out := make([]result, len(values))
	for i, v := range values {
		out[i] = result{Index: i, Value: v}
		if errs != nil {
			out[i].Err = errs[i]
		}
	}
	return out, ctx.Err()
}

func stream(ctx context.Context, items []int, workers int, fn work) ([]result, error) {
	return collect(len(items), fanout.Stream(ctx, items, workers, fn))
}

func inOrder(ctx context.Context, items []int, workers int, fn work) ([]result, error) {
	return collect(len(items), fanout.InOrder(ctx, items, workers, fn))
}

func collect(n int, seq func(func(result, error) bool)) (out []result, err error) {
	for i := range n {
		out = append(out, result{Index: i, Err: fanout.ErrNotRun})
	}
	for r, e := range seq {
		if err != nil {
			return nil, fmt.Errorf("something came after the end: %+v, %w", r, e)
		}
		if e != nil {
			if r.Index != -1 || r.Err != e {
				return nil, fmt.Errorf("the end is %+v, %w", r, e)
			}
			err = e
			continue
		}
		if !errors.Is(out[r.Index].Err, fanout.ErrNotRun) {
			return nil, fmt.Errorf("item %d came twice", r.Index)
		}
		out[r.Index] = r
	}
	return out, err
}

func variants() []way {
	return []way{{"All", all}, {"Stream", stream}, {"InOrder", inOrder}}
}

func ways() []way { return append(variants(), way{"Process", process}) }

func items(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i + 100 // so that an item is not taken for its index
	}
	return out
}

func square(_ context.Context, n int) (int, error) { return n * n, nil }

// check compares results. want gives the expected one of an item.
func check(t *testing.T, got []result, n int, want func(i int) result) {
	t.Helper()
	var all []result
	for i := range n {
		all = append(all, want(i))
	}
	if d := cmp.Diff(all, got, cmpopts.EquateErrors(), cmpopts.EquateEmpty()); d != "" {
		t.Errorf("results (-want +got):\n%s", d)
	}
}

func squared(i int) result { return result{Index: i, Value: (i + 100) * (i + 100)} }
func notRun(i int) result  { return result{Index: i, Err: fanout.ErrNotRun} }

var errBoom = errors.New("boom")

func TestEachResultStandsAtItsItem(t *testing.T) {
	for _, w := range ways() {
		for _, n := range []int{0, 1, 2, 5, 150} {
			for _, workers := range []int{-1, 0, 1, 3, 300} {
				got, err := w.run(t.Context(), items(n), workers, square)
				if err != nil {
					t.Errorf("%s of %d items: %v", w.name, n, err)
				}
				check(t, got, n, squared)
			}
		}
	}
}

func TestNoItemsNeedNoContextAndNoFunction(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	got, err := fanout.Process[int, int](ctx, nil, nil)
	if err != nil || got == nil || len(got) != 0 {
		t.Errorf("Process: %v, %v", got, err)
	}
	values, errs := fanout.All[int, int](ctx, nil, 3, nil)
	if errs != nil || values == nil || len(values) != 0 {
		t.Errorf("All: %v, %v", values, errs)
	}
	for r, err := range fanout.InOrder[int, int](ctx, nil, 3, nil) {
		t.Errorf("InOrder: %v, %v", r, err)
	}
	for r, err := range fanout.Stream[int, int](ctx, nil, 3, nil) {
		t.Errorf("Stream: %v, %v", r, err)
	}
}

func TestAtMostSoManyWorkersRunAtOnce(t *testing.T) {
	for _, w := range ways() {
		for _, workers := range []int{0, 1, 3, 50} {
			synctest.Test(t, func(t *testing.T) {
				var now, most atomic.Int64
				_, err := w.run(t.Context(), items(20), workers, func(context.Context, int) (int, error) {
					n := now.Add(1)
					defer now.Add(-1)
					for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
					}
					time.Sleep(time.Second)
					return 0, nil
				})
				want := min(max(workers, 1), 20)
				if w.name == "Process" {
					want = min(runtime.NumCPU(), 20)
				}
				if err != nil || most.Load() != int64(want) {
					t.Errorf("%s with %d workers had %d at work, %v", w.name, workers, most.Load(), err)
				}
			})
		}
	}
}

func TestNoMoreWorkersAreStartedThanThereAreItems(t *testing.T) {
	for _, w := range ways() {
		before := runtime.NumGoroutine()
		got, err := w.run(t.Context(), items(2), 10_000, func(context.Context, int) (int, error) { return runtime.NumGoroutine(), nil })
		for _, r := range got {
			if err != nil || r.Value > before+10 {
				t.Errorf("%s: %d goroutines before and %d for two items, %v", w.name, before, r.Value, err)
			}
		}
	}
}

func TestTheFirstErrorOfProcessIsReturnedAndTheRestIsNotBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// As many as there are workers are in flight when the first one fails;
		// those may finish.
		inFlight := runtime.NumCPU()
		got, err := fanout.Process(t.Context(), items(50*inFlight), func(n int) (int, error) {
			if n == 100 {
				time.Sleep(time.Second)
				return 7, fmt.Errorf("item: %w", errBoom)
			}
			time.Sleep(2 * time.Second)
			return n * n, nil
		})
		if !errors.Is(err, errBoom) {
			t.Errorf("the error is %v", err)
		}
		check(t, got, 50*inFlight, func(i int) result {
			switch {
			case i == 0:
				return result{Value: 7, Err: errBoom}
			case i < inFlight:
				return squared(i)
			}
			return notRun(i)
		})
	})
}

func TestAFailureOfAnItemStopsNothingInTheVariants(t *testing.T) {
	for _, w := range variants() {
		got, err := w.run(t.Context(), items(30), 4, func(ctx context.Context, n int) (int, error) {
			if n%3 == 0 {
				return n, fmt.Errorf("item: %w", errBoom)
			}
			return square(ctx, n)
		})
		if err != nil {
			t.Errorf("%s: %v", w.name, err)
		}
		check(t, got, 30, func(i int) result {
			if (i+100)%3 == 0 {
				return result{Index: i, Value: i + 100, Err: errBoom}
			}
			return squared(i)
		})
	}
}

func TestAContextThatHasEndedStartsNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	late, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	for _, w := range ways() {
		// select alone would start something every other time.
		for range 30 {
			for _, ctx := range []context.Context{ctx, late} {
				got, err := w.run(ctx, items(5), 3, func(context.Context, int) (int, error) {
					t.Errorf("%s started an item", w.name)
					return 0, nil
				})
				if err != ctx.Err() {
					t.Errorf("%s returned %v", w.name, err)
				}
				check(t, got, 5, notRun)
			}
		}
	}
}

func TestACancelInTheFirstItemLetsOnlyThoseInFlightFinish(t *testing.T) {
	for _, w := range ways() {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var begun atomic.Int64
			_, err := w.run(ctx, items(1000), 3, func(_ context.Context, n int) (int, error) {
				begun.Add(1)
				time.Sleep(time.Second)
				if n == 100 {
					cancel()
				}
				return n, nil
			})
			if err != context.Canceled {
				t.Errorf("%s returned %v", w.name, err)
			}
			// All of them return in the same instant; another one may begin before
			// the cancel.
			workers := 3
			if w.name == "Process" {
				workers = runtime.NumCPU()
			}
			if n := begun.Load(); n < int64(workers) || n >= int64(2*workers) {
				t.Errorf("%s with %d workers began %d items", w.name, workers, n)
			}
		})
	}
}

// The classic: a hundred items of 10 ms each, cancelled after 50 ms.
func TestACancelMidRunReturnsAsSoonAsTheItemsInFlightHave(t *testing.T) {
	for _, w := range ways() {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			time.AfterFunc(55*time.Millisecond, cancel)
			workers := runtime.NumCPU()
			got, err := w.run(ctx, items(100*workers), workers, func(_ context.Context, n int) (int, error) {
				time.Sleep(10 * time.Millisecond)
				return n * n, nil
			})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s returned %v", w.name, err)
			}
			if took := time.Since(start); took != 60*time.Millisecond {
				t.Errorf("%s took %v", w.name, took)
			}
			done := 6 * workers // the sixth of each was in flight
			if w.name == "Stream" || w.name == "InOrder" {
				done = 5 * workers // which nobody asks a stream for any more
			}
			check(t, got, 100*workers, func(i int) result {
				if i < done {
					return squared(i)
				}
				return notRun(i)
			})
		})
	}
}

func TestACancelMidRunReturnsWellWithinTwoSecondsOnARealClock(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := fanout.Process(ctx, items(100*runtime.NumCPU()), func(n int) (int, error) {
		<-time.After(10 * time.Millisecond)
		return n, nil
	})
	if took := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || took > 2*time.Second {
		t.Errorf("%v after %v", err, took)
	}
}

func TestACancelInTheLastItemLosesNoResult(t *testing.T) {
	for _, w := range ways() {
		ctx, cancel := context.WithCancel(t.Context())
		got, err := w.run(ctx, items(20), 1, func(_ context.Context, n int) (int, error) {
			if n == 119 {
				cancel()
			}
			return n * n, nil
		})
		switch w.name {
		case "Stream", "InOrder":
			// The last one was made while ctx was ending, and may be the
			// cancellation itself.
			if err != context.Canceled || got[19].Err == nil {
				t.Errorf("%s: %v, %+v", w.name, err, got[19])
			}
		case "Process":
			if err != context.Canceled {
				t.Errorf("Process returned %v", err)
			}
			check(t, got, 20, squared)
		case "All":
			check(t, got, 20, squared)
		}
	}
}

func TestACancelAfterTheLastItemChangesNothing(t *testing.T) {
	for _, w := range ways() {
		ctx, cancel := context.WithCancel(t.Context())
		got, err := w.run(ctx, items(20), 3, square)
		cancel()
		if err != nil {
			t.Errorf("%s: %v", w.name, err)
		}
		check(t, got, 20, squared)
	}
}

func TestAFunctionThatIgnoresItsContextIsWaitedFor(t *testing.T) {
	for _, w := range ways() {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			var running atomic.Int64
			_, err := w.run(ctx, items(3), 3, func(context.Context, int) (int, error) {
				running.Add(1)
				defer running.Add(-1)
				time.Sleep(time.Hour)
				return 0, nil
			})
			if time.Since(start) < time.Hour || running.Load() != 0 || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: %v after %v, %d running", w.name, err, time.Since(start), running.Load())
			}
		})
	}
}

func TestTheFirstRealCauseWinsOverTheCancellationsItCauses(t *testing.T) {
	fails := func(ctx context.Context, n int) (int, error) {
		if n == 100 {
			time.Sleep(time.Second)
			return 0, errBoom
		}
		<-ctx.Done()
		return 0, fmt.Errorf("item: %w", ctx.Err())
	}
	t.Run("the caller cancels because an item has failed", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(2*time.Second, cancel)
			_, err := process(ctx, items(100), 0, fails)
			if err != errBoom {
				t.Errorf("it returned %v", err)
			}
		})
	})
	// Then each of the others fails with a cancellation, and may be first.
	for _, first := range []bool{true, false} {
		t.Run(fmt.Sprintf("the item itself cancels, and returns first: %v", first), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				_, err := process(ctx, items(100), 0, func(ctx context.Context, n int) (int, error) {
					v, err := fails(ctx, n)
					if errors.Is(err, errBoom) {
						cancel()
						if !first {
							synctest.Wait()
						}
					}
					return v, err
				})
				if !errors.Is(err, errBoom) || !errors.Is(err, context.Canceled) || err.Error() != "boom (context canceled)" {
					t.Errorf("it returned %v", err)
				}
			})
		})
	}
	t.Run("nothing but cancellations", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Second/2, cancel)
			_, err := process(ctx, items(100)[1:], 0, fails)
			if err != context.Canceled {
				t.Errorf("it returned %v", err)
			}
		})
	})
	t.Run("a deadline of the item's own is a failure like any other", func(t *testing.T) {
		_, err := process(t.Context(), items(100), 0, func(context.Context, int) (int, error) { return 0, context.DeadlineExceeded })
		if err != context.DeadlineExceeded {
			t.Errorf("it returned %v", err)
		}
	})
	t.Run("a panic with a cancellation in it is a panic", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := process(ctx, items(1), 0, func(ctx context.Context, _ int) (int, error) {
			cancel()
			panic(ctx.Err())
		})
		if _, ok := errors.AsType[*fanout.PanicError](err); !ok {
			t.Errorf("it returned %v", err)
		}
	})
}

func panics(what any) { panic(what) }

func TestAnItemThatDoesNotReturnIsAFailureWithItsIndexAndStack(t *testing.T) {
	for name, c := range map[string]struct {
		crash func()
		value func(v any) bool
		is    error
		stack string
		text  string
	}{
		"panic":            {func() { panics("of one item") }, func(v any) bool { return v == "of one item" }, nil, "fanout_test.panics", "item 3: panic: of one item\n\ngoroutine "},
		"panic, an error":  {func() { panics(errBoom) }, func(v any) bool { return v == errBoom }, errBoom, "fanout_test.panics", "item 3: panic: boom\n\ngoroutine "},
		"panic, a slice":   {func() { panics([]int{1}) }, func(v any) bool { _, ok := v.([]int); return ok }, nil, "fanout_test.panics", "item 3: panic: [1]\n\ngoroutine "},
		"panic, nil":       {func() { panics(nil) }, func(v any) bool { _, ok := v.(*runtime.PanicNilError); return ok }, nil, "fanout_test.panics", "item 3: panic: panic called with nil"},
		"panic of runtime": {func() { _ = items(1)[len(items(1))] }, func(v any) bool { _, ok := v.(runtime.Error); return ok }, nil, "fanout_test.Test", "item 3: panic: runtime error: index out of range"},
		"Goexit":           {runtime.Goexit, func(v any) bool { return v == fanout.ErrGoexit }, fanout.ErrGoexit, "runtime.Goexit", "item 3: runtime.Goexit was called\n\ngoroutine "},
		"panic while Goexit is under way": {func() { defer panics("on the way"); runtime.Goexit() },
			func(v any) bool { return v == "on the way" }, nil, "fanout_test.panics", "item 3: panic: on the way"},
	} {
		for _, w := range ways() {
			// One worker: the others are done by whoever takes its place.
			for _, workers := range []int{1, 3} {
				t.Run(fmt.Sprintf("%s in %s, %d workers", name, w.name, workers), func(t *testing.T) {
					got, err := w.run(t.Context(), items(8), workers, func(ctx context.Context, n int) (int, error) {
						if n == 103 {
							c.crash()
						}
						return square(ctx, n)
					})
					p, ok := errors.AsType[*fanout.PanicError](got[3].Err)
					if !ok {
						t.Fatalf("item 3 came to %+v", got[3])
					}
					if p.Index != 3 || !c.value(p.Value) || !strings.Contains(string(p.Stack), c.stack) || c.is != nil && !errors.Is(p, c.is) || !strings.HasPrefix(p.Error(), c.text) {
						t.Errorf("it is %d, %v, %v", p.Index, p.Value, p)
					}
					if w.name == "Process" {
						if err != error(p) {
							t.Errorf("it returned %v", err)
						}
						return
					}
					if err != nil {
						t.Errorf("it returned %v", err)
					}
					check(t, got, 8, func(i int) result {
						if i == 3 {
							return result{Index: 3, Err: p}
						}
						return squared(i)
					})
				})
			}
		}
	}
}

func TestEveryItemMayCrash(t *testing.T) {
	for _, w := range ways() {
		for _, crash := range []func(){func() { panics("all") }, runtime.Goexit} {
			got, err := w.run(t.Context(), items(200), 4, func(context.Context, int) (int, error) { crash(); return 0, nil })
			crashed := 0
			for i, r := range got {
				if p, ok := errors.AsType[*fanout.PanicError](r.Err); ok && p.Index == i {
					crashed++
				} else if w.name != "Process" || r.Err != fanout.ErrNotRun {
					t.Errorf("%s: item %d came to %+v", w.name, i, r)
				}
			}
			if _, ok := errors.AsType[*fanout.PanicError](err); w.name == "Process" && (!ok || crashed == 0) || w.name != "Process" && err != nil {
				t.Errorf("%s: %v, %d crashed", w.name, err, crashed)
			}
		}
	}
}

func TestMemoryIsAllocatedOnceACallAndNotOnceAnItem(t *testing.T) {
	for _, w := range []struct {
		name string
		run  func(items []int)
	}{
		{"Process", func(items []int) {
			_, _ = fanout.Process(t.Context(), items, func(n int) (int, error) { return n, nil })
		}},
		{"All", func(items []int) { fanout.All(t.Context(), items, 4, square) }},
		{"All, all failing", func(items []int) {
			fanout.All(t.Context(), items, 4, func(context.Context, int) (int, error) { return 0, errBoom })
		}},
		{"Stream", func(items []int) {
			for r := range fanout.Stream(t.Context(), items, 4, square) {
				_ = r
			}
		}},
		{"InOrder", func(items []int) {
			for r := range fanout.InOrder(t.Context(), items, 4, square) {
				_ = r
			}
		}},
	} {
		few, many := items(50), items(1000)
		a := testing.AllocsPerRun(5, func() { w.run(few) })
		b := testing.AllocsPerRun(5, func() { w.run(many) })
		if a > 40 || b > a+5 { // goroutines are reused, mostly
			t.Errorf("%s: %v allocations for 50 items, %v for 1000", w.name, a, b)
		}
	}
}

func TestAnythingAtOnceKeepsTheRules(t *testing.T) {
	const seeds = 300
	for seed := range uint64(seeds) {
		for _, w := range ways() {
			rnd := rand.New(rand.NewPCG(seed, 1))
			n, workers := rnd.IntN(40), rnd.IntN(12)
			cancelAt, failAt, crashAt, exitAt := rnd.IntN(80), rnd.IntN(80), rnd.IntN(80), rnd.IntN(80)
			ctx, cancel := context.WithCancel(t.Context())
			var mu sync.Mutex
			runs := make([]int, n)
			got, err := w.run(ctx, items(n), workers, func(_ context.Context, item int) (int, error) {
				i := item - 100
				mu.Lock()
				runs[i]++
				mu.Unlock()
				if i%5 == 0 {
					runtime.Gosched()
				}
				if i == cancelAt {
					cancel()
				}
				switch i {
				case failAt:
					return 0, errBoom
				case crashAt:
					panics("seed")
				case exitAt:
					runtime.Goexit()
				}
				return item * item, nil
			})
			cancel()
			if len(got) != n {
				t.Fatalf("seed %d, %s: %d results of %d: %v", seed, w.name, len(got), n, err)
			}
			streamed := w.name == "Stream" || w.name == "InOrder"
			for i, r := range got {
				ran := runs[i] == 1
				_, crashed := errors.AsType[*fanout.PanicError](r.Err)
				bad := runs[i] > 1 || r.Index != i ||
					!ran && r.Err != fanout.ErrNotRun ||
					// A stream that was cancelled does not yield all that ran.
					ran && r.Err == fanout.ErrNotRun && !(streamed && cancelAt < n) ||
					ran && r.Err != fanout.ErrNotRun && i != failAt && (i == crashAt || i == exitAt) != crashed ||
					r.Err == nil && r != squared(i)
				if bad {
					t.Errorf("seed %d, %s: item %d ran %d times and came to %+v", seed, w.name, i, runs[i], r)
				}
				if !ran && cancelAt >= n && (w.name != "Process" || err == nil) {
					t.Errorf("seed %d, %s: item %d was not run, though nothing stopped it", seed, w.name, i)
				}
			}
		}
	}
}
