package batch

import (
	"context"
	"errors"
	"testing"
	"time"
)

// twoClocks are a computer's clock and the time that has really passed.
type twoClocks struct {
	wall    time.Time
	running time.Duration
}

func (c *twoClocks) pass(d time.Duration) { c.wall, c.running = c.wall.Add(d), c.running+d }

func testClock() (*twoClocks, *clock) {
	now := &twoClocks{wall: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)}
	return now, &clock{wall: func() time.Time { return now.wall }, since: func() time.Duration { return now.running }, start: now.wall}
}

func TestTheLeaseClockGoesOnWhateverTheComputersClockDoes(t *testing.T) {
	now, c := testClock()
	start := c.now()
	for _, jump := range []time.Duration{time.Hour, -48 * time.Hour, 365 * 24 * time.Hour} {
		before := c.now()
		now.wall = now.wall.Add(jump)
		if got := c.now(); got != before {
			t.Errorf("a jump by %v moved it to %v", jump, got.Sub(start))
		}
		now.pass(time.Minute)
		if got := c.now(); got != before.Add(time.Minute) {
			t.Errorf("a minute later it is %v", got.Sub(before))
		}
	}
}

func TestLeasesAreMovedToAClockThatWasSetAndNotToOneThatDrifts(t *testing.T) {
	for _, tt := range []struct{ jump, want time.Duration }{
		{0, 0}, {time.Minute, 0}, {-time.Minute, 0}, {time.Minute + 1, time.Minute + 1}, {-time.Minute - 1, -time.Minute - 1},
		{365 * 24 * time.Hour, 365 * 24 * time.Hour}, {-365 * 24 * time.Hour, -365 * 24 * time.Hour},
	} {
		now, c := testClock()
		now.pass(time.Hour)
		now.wall = now.wall.Add(tt.jump)
		var moved []time.Duration
		move := func(_ context.Context, d time.Duration) error {
			moved = append(moved, d)
			return nil
		}
		before := c.now()
		for range 2 { // once is enough
			if d, err := c.follow(t.Context(), move); err != nil || len(moved) == 1 && d != tt.want && d != 0 {
				t.Errorf("a jump by %v: %v, %v", tt.jump, d, err)
			}
		}
		if (len(moved) == 1) != (tt.want != 0) || len(moved) == 1 && moved[0] != tt.want {
			t.Errorf("a jump by %v moved leases by %v", tt.jump, moved)
		}
		if got := c.now().Sub(before); got != tt.want {
			t.Errorf("a jump by %v moved the clock by %v", tt.jump, got)
		}
	}
}

func TestAClockWhoseLeasesCouldNotBeMovedStaysWhereItIs(t *testing.T) {
	now, c := testClock()
	now.wall = now.wall.Add(time.Hour)
	before := c.now()
	full := errors.New("full")
	if _, err := c.follow(t.Context(), func(context.Context, time.Duration) error { return full }); !errors.Is(err, full) || c.now() != before {
		t.Errorf("%v, moved by %v", err, c.now().Sub(before))
	}
	// It is tried again.
	if d, err := c.follow(t.Context(), func(context.Context, time.Duration) error { return nil }); d != time.Hour || err != nil || c.now() != before.Add(time.Hour) {
		t.Errorf("%v, %v, moved by %v", d, err, c.now().Sub(before))
	}
}

// A lease written by the time before, between the leases' move and the
// clock's, would be off by the whole jump.
func TestNoLeaseIsUsedWhileLeasesAreMoved(t *testing.T) {
	now, c := testClock()
	now.wall = now.wall.Add(time.Hour)
	held, release := c.hold()
	moving, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		if _, err := c.follow(t.Context(), func(context.Context, time.Duration) error {
			close(moving)
			return nil
		}); err != nil {
			t.Error(err)
		}
	}()
	select {
	case <-moving:
		t.Error("leases were moved while one was in use")
	default:
	}
	if c.mu.TryLock() {
		t.Error("the clock is free to move while a lease is in use")
	}
	release()
	<-done
	if got := c.now(); got != held.Add(time.Hour) {
		t.Errorf("the clock is at %v", got)
	}
}
