package fanout

import (
	"context"
	"iter"
	"sync"
)

// ahead bounds what a stream holds: so many items a worker may be in flight or
// wait for their turn. More than one, so that a slow item leaves the other
// workers something to do; not many, since each may be a whole page.
const ahead = 4

// Stream runs fn for each item on workers goroutines (at least one, at most one
// an item) and yields each Result when it is there, whatever the order.
//
//	for r, err := range fanout.Stream(ctx, items, 8, fn) {
//		if err != nil {
//			return err // ctx has ended; what comes before is what was done
//		}
//		…r.Index, r.Value, r.Err…
//	}
//
// The error beside a Result is not the item's, which is in its Err. It comes
// once, as the last pair, when ctx has ended before all results were yielded:
// then it is ctx.Err(), the Result has the Index -1, and no worker is running
// any more. Results that were ready but not yielded by then are dropped, since
// they may be the cancellation itself. A failed item stops nothing; leave the
// loop to do that. The context of those in flight is cancelled then, and the
// loop ends when they have returned.
//
// At most four items a worker are in flight or wait to be yielded, the one that
// the loop is busy with among them. A loop that takes its time therefore holds
// the workers up and does not fill the memory. Ranging over it once more runs
// everything once more.
func Stream[T, R any](ctx context.Context, items []T, workers int, fn func(context.Context, T) (R, error)) iter.Seq2[Result[R], error] {
	return stream(ctx, items, workers, fn, false)
}

// InOrder is [Stream] in the order of the items: each Result is yielded as soon
// as it is there and those of all items before it have been.
func InOrder[T, R any](ctx context.Context, items []T, workers int, fn func(context.Context, T) (R, error)) iter.Seq2[Result[R], error] {
	return stream(ctx, items, workers, fn, true)
}

func stream[T, R any](ctx context.Context, items []T, workers int, fn func(context.Context, T) (R, error), ordered bool) iter.Seq2[Result[R], error] {
	return func(yield func(Result[R], error) bool) {
		workers := min(max(workers, 1), len(items))
		window := min(ahead*workers, len(items))
		l := line[R]{
			// Never more than window jobs have been handed out and not yielded,
			// and each is one send on both, so that no send ever waits.
			jobs:    make(chan int, window),
			results: make(chan Result[R], window),
		}
		inner, cancel := context.WithCancel(ctx)
		defer l.wg.Wait()
		defer cancel() // also when the loop's body panics
		for range workers {
			l.wg.Go(func() { serve(inner, &l, items, fn) })
		}
		handed := 0
		hand := func() {
			if handed < len(items) {
				l.jobs <- handed
				if handed++; handed == len(items) {
					close(l.jobs)
				}
			}
		}
		for range window {
			hand()
		}

		// What has come and waits for its turn; in order, item i is at i modulo
		// window, where nobody else can be.
		waiting := make([]Result[R], window)
		there := make([]bool, window)
		for turn := range items {
			at := turn % window
			err := ctx.Err()
			for err == nil && !there[at] {
				select {
				case r := <-l.results:
					place := at
					if ordered {
						place = r.Index % window
					}
					waiting[place], there[place] = r, true
				case <-ctx.Done():
				}
				err = ctx.Err() // also beside a result: it may be the cancellation
			}
			if err != nil {
				cancel()
				l.wg.Wait()
				yield(Result[R]{Index: noItem, Err: err}, err)
				return
			}
			r := waiting[at]
			waiting[at], there[at] = Result[R]{}, false // held no longer than needed
			if !yield(r, nil) {
				return
			}
			hand()
		}
	}
}

// line is what the workers of a stream share.
type line[R any] struct {
	jobs    chan int // indices
	results chan Result[R]
	wg      sync.WaitGroup
}

// serve is one worker.
func serve[T, R any](ctx context.Context, l *line[R], items []T, fn func(context.Context, T) (R, error)) {
	running := noItem
	defer func() {
		if running == noItem {
			return
		}
		l.results <- Result[R]{Index: running, Err: newPanicError(running, recover())}
		// This goroutine cannot go on after a Goexit; another one can.
		l.wg.Go(func() { serve(ctx, l, items, fn) })
	}()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
			return
		case job, ok := <-l.jobs:
			if !ok {
				return
			}
			running = job
		}
		v, err := fn(ctx, items[running])
		l.results <- Result[R]{Index: running, Value: v, Err: err}
		running = noItem
	}
}
