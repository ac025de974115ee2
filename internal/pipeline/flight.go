package pipeline

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"

	"sift.build/sift/internal/sift"
)

// flights shares downloads: callers that want the same copy at the same time
// get one. A download belongs to all who wait for it, so one impatient caller
// does not end it for the others; it is cancelled when the last has left.
type flights struct {
	wg sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	byKey   map[copyKey]*flight
	running map[*flight]struct{} // also those that lost their key and are being torn down
}

type flight struct {
	cancel  context.CancelFunc
	waiters int // guarded by flights.mu

	done   chan struct{} // closed once result and err are set
	result *copied
	err    error
}

func newFlights() *flights {
	return &flights{byKey: make(map[copyKey]*flight), running: make(map[*flight]struct{})}
}

// do waits for the download under key, starting it if none is under way.
// start is called with the lock held: it decides at once whether a new
// download may begin and returns the work. shared says that another caller
// had started it.
func (f *flights) do(ctx context.Context, key copyKey, start func() (func(context.Context) (*copied, error), error)) (result *copied, shared bool, err error) {
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return nil, false, sift.Fail(sift.CodeCancel, "sift is stopping; try again when it is back").WithHint(sift.HintRetry)
	}
	fl, shared := f.byKey[key]
	if !shared {
		work, err := start()
		if err != nil {
			f.mu.Unlock()
			return nil, false, err
		}
		// The work keeps nothing of this caller's context but its values.
		workCtx, cancel := context.WithCancel(context.WithoutCancel(ctx))
		fl = &flight{cancel: cancel, done: make(chan struct{})}
		f.byKey[key] = fl
		f.running[fl] = struct{}{}
		f.wg.Go(func() {
			defer cancel()
			f.run(workCtx, key, fl, work)
		})
	}
	fl.waiters++
	f.mu.Unlock()

	defer f.leave(key, fl)
	select {
	case <-fl.done:
		return fl.result, shared, fl.err
	case <-ctx.Done():
		return nil, shared, ctx.Err()
	}
}

func (f *flights) run(ctx context.Context, key copyKey, fl *flight, work func(context.Context) (*copied, error)) {
	finished := false
	defer func() {
		if !finished { // a panic or a Goexit must not leave the waiters behind
			fl.err = sift.AsFailure(fmt.Errorf("download panicked: %v\n%s", recover(), debug.Stack()))
		}
		f.mu.Lock()
		delete(f.running, fl)
		if f.byKey[key] == fl {
			delete(f.byKey, key)
		}
		f.mu.Unlock()
		close(fl.done)
	}()
	fl.result, fl.err = work(ctx)
	finished = true
}

// leave ends one caller's wait. The last to leave an unfinished download
// cancels it and frees its key, so that the next caller starts anew instead
// of joining what is being torn down.
func (f *flights) leave(key copyKey, fl *flight) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if fl.waiters--; fl.waiters == 0 {
		fl.cancel()
		if f.byKey[key] == fl {
			delete(f.byKey, key)
		}
	}
}

func (f *flights) close() {
	f.mu.Lock()
	f.closed = true
	for fl := range f.running {
		fl.cancel()
	}
	f.mu.Unlock()
	f.wg.Wait()
}
