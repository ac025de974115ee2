package fanout

import (
	"context"
	"sync"
	"sync/atomic"
)

// All runs fn for each item on workers goroutines (at least one, at most one
// an item) and returns the values, each in its item's place. It is for when
// every result is wanted, whatever fails: a failure stops nothing, only the end
// of ctx does.
//
// errs is nil when every item succeeded. Else it has an entry an item, which is
// nil for those that succeeded and [ErrNotRun] for those that were not begun.
// errors.Join makes one error of it.
//
// Each worker writes into the slots of its own items, and takes the next index
// from a counter. There is no lock, and no channel that could be too small, so
// that it is the cheapest of the four for many tiny items.
func All[T, R any](ctx context.Context, items []T, workers int, fn func(context.Context, T) (R, error)) (values []R, errs []error) {
	values = make([]R, len(items))
	s := slots{items: len(items)}
	for range min(max(workers, 1), len(items)) {
		s.wg.Go(func() { fill(ctx, &s, values, items, fn) })
	}
	s.wg.Wait()
	// An index is taken only to be run, so that what was not run is the rest.
	for i := int(s.next.Load()); i < len(items); i++ {
		s.fail(i, ErrNotRun)
	}
	if errs := s.errs.Load(); errs != nil {
		return values, *errs
	}
	return values, nil
}

// slots is what the workers of All share.
type slots struct {
	next atomic.Int64 // index
	_    [56]byte     // next changes all the time; what follows shall not share its cache line

	items int
	errs  atomic.Pointer[[]error]
	wg    sync.WaitGroup
}

// fail notes the error of item i. Room for errors is made when the first one
// comes, which is never as a rule.
func (s *slots) fail(i int, err error) {
	errs := s.errs.Load()
	if errs == nil {
		fresh := make([]error, s.items)
		s.errs.CompareAndSwap(nil, &fresh)
		errs = s.errs.Load() // another worker's, if that was quicker
	}
	(*errs)[i] = err
}

// fill is one worker. Recovering is set up once a worker and not once an item,
// which would cost more than tiny work itself.
func fill[T, R any](ctx context.Context, s *slots, values []R, items []T, fn func(context.Context, T) (R, error)) {
	running := noItem
	defer func() {
		if running == noItem {
			return
		}
		s.fail(running, newPanicError(running, recover()))
		// This goroutine cannot go on after a Goexit; another one can.
		s.wg.Go(func() { fill(ctx, s, values, items, fn) })
	}()
	for ctx.Err() == nil {
		i := int(s.next.Add(1)) - 1
		if i >= len(items) {
			break
		}
		running = i
		v, err := fn(ctx, items[i])
		values[i] = v
		if err != nil {
			s.fail(i, err)
		}
	}
	running = noItem
}
