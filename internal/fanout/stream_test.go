package fanout_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sift.build/sift/internal/fanout"
)

type sequence func(ctx context.Context, items []int, workers int, fn func(context.Context, int) (int, error)) iter.Seq2[fanout.Result[int], error]

func streams() map[string]sequence {
	return map[string]sequence{"Stream": fanout.Stream[int, int], "InOrder": fanout.InOrder[int, int]}
}

// Items take longer the earlier they stand.
func backwards(n int) ([]int, work) {
	return items(n), func(_ context.Context, item int) (int, error) {
		time.Sleep(time.Duration(n-(item-100)) * time.Second)
		return item, nil
	}
}

func TestAStreamYieldsAsResultsComeAndInOrderWhenTheirTurnIs(t *testing.T) {
	const n = 6
	for name, want := range map[string][]string{
		"Stream":  {"5 after 1s", "4 after 2s", "3 after 3s", "2 after 4s", "1 after 5s", "0 after 6s"},
		"InOrder": {"0 after 6s", "1 after 6s", "2 after 6s", "3 after 6s", "4 after 6s", "5 after 6s"},
	} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			list, fn := backwards(n)
			var got []string
			for r, err := range streams()[name](t.Context(), list, n, fn) {
				if err != nil || r.Err != nil {
					t.Error(err, r.Err)
				}
				got = append(got, fmt.Sprintf("%d after %v", r.Index, time.Since(start)))
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: %q", name, got)
			}
		})
	}
}

func TestAResultIsYieldedBeforeLaterOnesAreThere(t *testing.T) {
	for name, stream := range streams() {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			var got []time.Duration
			for range stream(t.Context(), items(3), 1, func(context.Context, int) (int, error) {
				time.Sleep(time.Second)
				return 0, nil
			}) {
				got = append(got, time.Since(start))
			}
			if !slices.Equal(got, []time.Duration{time.Second, 2 * time.Second, 3 * time.Second}) {
				t.Errorf("%s yielded after %v", name, got)
			}
		})
	}
}

// The bound on memory: four items a worker, whatever holds things up.
func TestNoWorkerRunsFarAheadOfTheLoop(t *testing.T) {
	const workers, window = 2, 4 * 2
	for name, stream := range streams() {
		synctest.Test(t, func(t *testing.T) {
			var begun atomic.Int64
			yielded := int64(0)
			for range stream(t.Context(), items(100), workers, func(context.Context, int) (int, error) {
				begun.Add(1)
				return 0, nil
			}) {
				synctest.Wait() // the workers do what they can
				if got, want := begun.Load(), min(yielded+window, 100); got != want {
					t.Errorf("%s: %d items were begun with %d behind the loop", name, got, yielded)
				}
				yielded++
			}
			if yielded != 100 {
				t.Errorf("%s: %d results", name, yielded)
			}
		})
	}
	// In order, a slow first item holds everybody up in the end.
	synctest.Test(t, func(t *testing.T) {
		var begun atomic.Int64
		for r := range fanout.InOrder(t.Context(), items(100), workers, func(_ context.Context, n int) (int, error) {
			begun.Add(1)
			if n == 100 {
				time.Sleep(time.Hour)
			}
			return 0, nil
		}) {
			if r.Index == 0 && begun.Load() != window {
				t.Errorf("%d items were begun before the first was done", begun.Load())
			}
		}
	})
}

func TestLeavingTheLoopCancelsWhatIsInFlightAndWaitsForIt(t *testing.T) {
	for name, stream := range streams() {
		for how, leave := range map[string]func(seq iter.Seq2[fanout.Result[int], error]){
			"break": func(seq iter.Seq2[fanout.Result[int], error]) {
				for range seq {
					break
				}
			},
			"panic": func(seq iter.Seq2[fanout.Result[int], error]) {
				defer func() { _ = recover() }()
				for range seq {
					panics("in the loop")
				}
			},
			"Goexit": func(seq iter.Seq2[fanout.Result[int], error]) {
				gone := make(chan struct{})
				go func() {
					defer close(gone)
					for range seq {
						runtime.Goexit()
					}
				}()
				<-gone
			},
			"stop of iter.Pull2": func(seq iter.Seq2[fanout.Result[int], error]) {
				next, stop := iter.Pull2(seq)
				next()
				stop()
			},
		} {
			synctest.Test(t, func(t *testing.T) {
				var running, begun atomic.Int64
				leave(stream(t.Context(), items(100), 3, func(ctx context.Context, n int) (int, error) {
					begun.Add(1)
					if n == 100 {
						return 0, nil
					}
					running.Add(1)
					defer running.Add(-1)
					<-ctx.Done()
					time.Sleep(time.Second) // it takes a while to end
					return 0, ctx.Err()
				}))
				if running.Load() != 0 || begun.Load() > 4 {
					t.Errorf("%s, %s: %d were begun, %d are running still", name, how, begun.Load(), running.Load())
				}
			})
		}
	}
}

func TestALoopThatStopsReadingHoldsTheWorkersUpAndAContextFreesThem(t *testing.T) {
	for name, stream := range streams() {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var begun atomic.Int64
			var end error
			for r, err := range stream(ctx, items(100), 3, func(_ context.Context, n int) (int, error) {
				begun.Add(1)
				if n == 100 {
					time.Sleep(time.Second) // so that others wait for its turn
				}
				return 0, nil
			}) {
				if err != nil {
					end = err
					continue
				}
				if ctx.Err() != nil {
					t.Errorf("%s: %d came after the end", name, r.Index)
				}
				time.Sleep(time.Hour)
				cancel()
			}
			if end != context.Canceled || begun.Load() != 12 {
				t.Errorf("%s: %v, %d were begun", name, end, begun.Load())
			}
		})
	}
}

func TestWhenTheContextEndsNothingIsRunningAnyMoreAndNoHalfDoneResultComes(t *testing.T) {
	for name, stream := range streams() {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
			defer cancel()
			var running atomic.Int64
			var got []int
			for r, err := range stream(ctx, items(100), 1, func(ctx context.Context, _ int) (int, error) {
				running.Add(1)
				defer running.Add(-1)
				select {
				case <-time.After(time.Second):
					return 0, nil
				case <-ctx.Done():
					time.Sleep(time.Second) // it takes a while to end
					return 0, ctx.Err()
				}
			}) {
				if err != nil {
					if running.Load() != 0 || !errors.Is(err, context.DeadlineExceeded) || r.Index != -1 {
						t.Errorf("%s: the end is %+v, %v with %d running", name, r, err, running.Load())
					}
					continue
				}
				if r.Err != nil {
					t.Errorf("%s: %+v", name, r)
				}
				got = append(got, r.Index)
			}
			if !slices.Equal(got, []int{0, 1}) {
				t.Errorf("%s: %v", name, got)
			}
		})
	}
}

// endsAfterALook is a context that ends right after somebody has seen, for the
// third time, that it has not.
type endsAfterALook struct {
	context.Context //nolint:containedctx // it is a context
	end             func()
	looks           atomic.Int64
}

func (c *endsAfterALook) Err() error {
	err := c.Context.Err()
	if c.looks.Add(1) == 3 {
		c.end()
		synctest.Wait() // whoever is cancelled has sent its result
	}
	return err
}

// The result of an item that was cancelled, and the end of the context, are
// both there when the stream looks; which it takes is chance.
func TestACancellationIsNeverHandedOutAsAResult(t *testing.T) {
	for name, stream := range streams() {
		for range 50 {
			synctest.Test(t, func(t *testing.T) {
				inner, cancel := context.WithCancel(t.Context())
				defer cancel()
				ctx := &endsAfterALook{Context: inner, end: cancel}
				var got []fanout.Result[int]
				for r := range stream(ctx, items(8), 2, func(ctx context.Context, n int) (int, error) {
					if n >= 102 {
						<-ctx.Done()
					}
					return 0, ctx.Err()
				}) {
					got = append(got, r)
				}
				if n := len(got); n == 0 || n > 3 || got[n-1].Index != -1 {
					t.Errorf("%s: %+v", name, got)
				}
				for _, r := range got[:len(got)-1] {
					if r.Err != nil {
						t.Errorf("%s: %+v", name, r)
					}
				}
			})
		}
	}
}

func TestAStreamCanBeRangedOverAgain(t *testing.T) {
	for name, stream := range streams() {
		seq := stream(t.Context(), items(10), 3, square)
		for range 2 {
			n := 0
			for r, err := range seq {
				if err != nil || r != squared(r.Index) {
					t.Errorf("%s: %+v, %v", name, r, err)
				}
				n++
			}
			if n != 10 {
				t.Errorf("%s: %d results", name, n)
			}
		}
	}
}
