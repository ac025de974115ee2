package fanout

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// watchdog runs f and reports whether it has returned within a minute. A hang
// has no other sign: nothing crashes, nothing is printed, and in a program that
// does anything else Go's own deadlock detector sees nothing either. In a
// synctest bubble the minute passes as soon as everybody is stuck.
func watchdog(f func()) (returned bool) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	bark := time.NewTimer(time.Minute)
	defer bark.Stop()
	select {
	case <-done:
		return true
	case <-bark.C:
		return false
	}
}

// together gives an fn whose item who cancels once n items are in flight, and
// which returns only then.
func together(n, who int, cancel func()) func(int) (int, error) {
	var inFlight sync.WaitGroup
	inFlight.Add(n)
	cancelled := make(chan struct{})
	return func(i int) (int, error) {
		inFlight.Done()
		inFlight.Wait()
		if i == who {
			cancel()
			close(cancelled)
		}
		<-cancelled
		return i, nil
	}
}

func upTo(n int) []int {
	items := make([]int, n)
	for i := range items {
		items[i] = i
	}
	return items
}

// As many items as workers, all in flight when one of them cancels: each worker
// sends its result, and then that it has been stopped. That is as many sends as
// there can be. Cancelling a hundred items after a few proves nothing, since
// the results that are missing leave room enough.
func TestProcessReturnsWhenItIsCancelledWithTheLastItemsInFlight(t *testing.T) {
	n := runtime.NumCPU()
	for who := range n {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var got []Result[int]
			var err error
			if !watchdog(func() { got, err = Process(ctx, upTo(n), together(n, who, cancel)) }) {
				// The bubble would end with a panic that does not say this.
				panic("Process hangs: its results channel is too small for the worst case")
			}
			if !errors.Is(err, context.Canceled) {
				t.Errorf("it returned %v", err)
			}
			for i, r := range got {
				if r != (Result[int]{Index: i, Value: i}) {
					t.Errorf("item %d came to %+v", i, r)
				}
			}
		})
	}
}

func TestProcessReturnsWhateverItemCancelsAmongHowManyItems(t *testing.T) {
	workers := runtime.NumCPU()
	for n := 1; n <= 3*workers+1; n++ {
		for who := range n {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				returned := watchdog(func() {
					_, _ = Process(ctx, upTo(n), func(i int) (int, error) {
						if i == who {
							cancel()
						}
						return i, nil
					})
				})
				if !returned {
					panic("Process hangs")
				}
			})
		}
	}
}

// The watchdog must be able to bark, or the tests above prove nothing.
func TestTheWatchdogCatchesAnUndersizedResultsChannel(t *testing.T) {
	n := runtime.NumCPU()
	run := func(t *testing.T, room int, fn func(cancel func()) func(int) (int, error), items int) (returned bool) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			results := make(chan Result[int], room)
			returned = watchdog(func() { _, _ = undersized(ctx, upTo(items), fn(cancel), results) })
			// Whoever is stuck gets room, so that the bubble can end.
			for !returned {
				synctest.Wait()
				select {
				case _, open := <-results:
					if !open {
						return
					}
				default:
					t.Fatal("it hangs, and not for want of room")
				}
			}
		})
		return returned
	}
	lastInFlight := func(cancel func()) func(int) (int, error) { return together(n, 0, cancel) }
	afterAFew := func(cancel func()) func(int) (int, error) {
		return func(i int) (int, error) {
			time.Sleep(10 * time.Millisecond) // of the bubble's clock
			if i == 1 {
				cancel()
			}
			return i, nil
		}
	}

	if run(t, n, lastInFlight, n) {
		t.Error("room for one send an item: the watchdog did not notice that two each were wanted")
	}
	if run(t, 2*n-1, lastInFlight, n) {
		t.Error("room for all sends but one: the watchdog did not notice")
	}
	if !run(t, 2*n, lastInFlight, n) {
		t.Error("room for one send an item and one a worker: it hangs nevertheless")
	}
	// What would have proved nothing.
	if !run(t, 50*n, afterAFew, 50*n) {
		t.Error("cancelling many items after a few hangs too; so the reason given for these tests is wrong")
	}
}

// undersized is a copy of Process, with results handed in instead of made with
// room for the worst case.
func undersized[T, R any](ctx context.Context, items []T, fn func(T) (R, error), results chan Result[R]) ([]Result[R], error) {
	out := make([]Result[R], len(items))
	for i := range out {
		out[i] = Result[R]{Index: i, Err: ErrNotRun}
	}
	workers := min(runtime.NumCPU(), len(items))
	if workers == 0 {
		return out, nil
	}
	jobs := make(chan int, len(items))
	for i := range items {
		jobs <- i
	}
	close(jobs)

	inner, stop := context.WithCancel(ctx)
	defer stop()
	var first outcome
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			running := noItem
			defer func() {
				if running == noItem {
					return
				}
				err := newPanicError(running, recover())
				first.add(ctx, err)
				stop()
				results <- Result[R]{Index: running, Err: err}
			}()
			for {
				if inner.Err() != nil {
					results <- Result[R]{Index: noItem, Err: ctx.Err()}
					return
				}
				select {
				case <-inner.Done():
					results <- Result[R]{Index: noItem, Err: ctx.Err()}
					return
				case job, ok := <-jobs:
					if !ok {
						return
					}
					running = job
				}
				v, err := fn(items[running])
				if err != nil {
					first.add(ctx, err)
					stop()
				}
				results <- Result[R]{Index: running, Value: v, Err: err}
				running = noItem
			}
		})
	}
	wg.Wait()
	close(results)

	var ended error
	for r := range results {
		switch {
		case r.Index != noItem:
			out[r.Index] = r
		case r.Err != nil:
			ended = r.Err
		}
	}
	return out, first.err(ended)
}

// A copy that has drifted from the original shows nothing about it.
func TestTheUndersizedCopyDoesWhatProcessDoes(t *testing.T) {
	odd := errors.New("odd")
	fn := func(i int) (int, error) {
		if i == 7 {
			return 0, odd
		}
		return i * i, nil
	}
	for _, items := range [][]int{nil, {5}, upTo(7)} {
		want, wantErr := Process(t.Context(), items, fn)
		got, err := undersized(t.Context(), items, fn, make(chan Result[int], len(items)+runtime.NumCPU()))
		if !slices.Equal(got, want) || err != wantErr {
			t.Errorf("%v, %v; Process: %v, %v", got, err, want, wantErr)
		}
	}
	_, wantErr := Process(t.Context(), upTo(9), fn)
	_, err := undersized(t.Context(), upTo(9), fn, make(chan Result[int], 9+runtime.NumCPU()))
	if !errors.Is(err, odd) || err != wantErr {
		t.Errorf("%v; Process: %v", err, wantErr)
	}
}
