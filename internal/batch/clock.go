package batch

import (
	"context"
	"sync"
	"time"
)

// maxDrift is how far the computer's clock may be from ours before the leases
// are moved to it.
const maxDrift = time.Minute

// clock is what leases are measured with: the computer's clock as it was at the
// start and what has passed since, so that one that is set takes nobody's
// results away. The stored leases are moved along with it, for the next start
// begins with the computer's clock again.
type clock struct {
	wall  func() time.Time // the computer's clock, which may be set
	since func() time.Duration

	// mu is held for reading by all that uses a lease: while leases are moved
	// none may be written or judged by the time before.
	mu    sync.RWMutex
	start time.Time
}

func newClock() *clock {
	start := time.Now()
	return &clock{
		wall:  func() time.Time { return time.Now().Round(0) }, // without its monotonic reading
		since: func() time.Duration { return time.Since(start) },
		start: start.Round(0),
	}
}

// hold gives the time, which stays valid until release is called.
func (c *clock) hold() (now time.Time, release func()) {
	c.mu.RLock()
	return c.nowLocked(), c.mu.RUnlock
}

func (c *clock) now() time.Time {
	now, release := c.hold()
	release()
	return now
}

func (c *clock) nowLocked() time.Time { return c.start.Add(c.since()) }

// follow moves the leases, and the clock with them, to a computer's clock that
// has been set. It tells by how much.
func (c *clock) follow(ctx context.Context, move func(context.Context, time.Duration) error) (time.Duration, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	drift := c.wall().Sub(c.nowLocked())
	if drift.Abs() <= maxDrift {
		return 0, nil
	}
	if err := move(ctx, drift); err != nil {
		return 0, err
	}
	c.start = c.start.Add(drift)
	return drift, nil
}
