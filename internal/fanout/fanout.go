// Package fanout runs one function over many items on a fixed number of
// workers and hands back what each item came to, under the item's index.
//
//	           stops at the     workers          results
//	           first failure
//	Process    yes              as many as CPUs  a slice, at the end
//	All        no               as many as said  a slice, at the end
//	Stream     when you break   as many as said  as they come, a bounded number held
//	InOrder    when you break   as many as said  in the order of the items, likewise
//
// What holds for all of them: nothing is started on a context that has ended,
// and when one ends meanwhile no further item is; a panic or a call of
// runtime.Goexit is the failure of its item, a [PanicError], and the others are
// not lost with it; memory is allocated once a call, not once an item; and no
// goroutine outlives the call or the loop. That last one means that a call ends
// when the functions in flight have returned: one that does not heed its
// context holds it up.
//
// docs/fanout.md explains how large the channels must be, and why.
package fanout

import (
	"context"
	"errors"
	"runtime"
	"sync"
)

// Result is what one item came to. Value is what the function returned, also
// beside an error.
type Result[R any] struct {
	Index int // of the item
	Value R
	Err   error
}

// ErrNotRun is the Err of an item that was not begun, because the work stopped
// before its turn. Without it such a Result would look like a success that
// returned the zero value.
var ErrNotRun = errors.New("not run")

// noItem is the Index of a message that is not about an item.
const noItem = -1

// Process runs fn for each item on as many workers as there are CPUs (fewer
// for fewer items) and returns one Result an item, in the order of the items.
//
// The first failure stops the rest: items in flight are waited for, items not
// begun have [ErrNotRun]. That failure is returned. When ctx ends before the
// last item has returned, and no item failed before, ctx.Err() is returned. An
// item that fails after ctx has ended, and not by a mere cancellation, may be
// what ended it: then the error is both.
func Process[T, R any](ctx context.Context, items []T, fn func(T) (R, error)) ([]Result[R], error) {
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

	// One send a job, and one a worker that finds that it has to stop. With
	// less room a worker waits for a reader, who waits for the worker.
	results := make(chan Result[R], len(items)+workers)
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
				// select picks at random among what is ready: it alone would
				// start work on a context that has ended, every other time.
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
