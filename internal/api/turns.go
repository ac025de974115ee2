package api

import (
	"context"
	"slices"
	"sync"

	"sift.build/sift/internal/sift"
)

// A job's results are up to 8 MiB, and they are in memory from when they are
// read until the last of them has been taken. This many are at once.
const (
	turnsPerCaller = 2
	turnsTotal     = 8
)

// turns is a line for holding something large: first come, first served, but
// that a caller who has all of their share lets others pass.
type turns struct {
	mu      sync.Mutex
	held    int
	by      map[string]int // what each caller holds of it
	waiting []*turn
}

type turn struct {
	caller  string // "": counts against no caller's share
	granted chan struct{}
}

// take waits for a turn, or for ctx to end. Whoever got one gives it back.
func (t *turns) take(ctx context.Context, c sift.Caller) (giveBack func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	mine := &turn{granted: make(chan struct{})}
	if !c.Anonymous {
		mine.caller = c.Name
	}
	t.mu.Lock()
	t.waiting = append(t.waiting, mine)
	t.grantLocked()
	t.mu.Unlock()
	select {
	case <-mine.granted:
		return func() { t.giveBack(mine) }, nil
	case <-ctx.Done():
	}
	t.mu.Lock()
	i := slices.Index(t.waiting, mine)
	if i >= 0 {
		t.waiting = slices.Delete(t.waiting, i, i+1)
	}
	t.mu.Unlock()
	if i < 0 { // granted at the same moment
		t.giveBack(mine)
	}
	return nil, ctx.Err()
}

func (t *turns) giveBack(mine *turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.held--
	if mine.caller != "" {
		if t.by[mine.caller]--; t.by[mine.caller] == 0 {
			delete(t.by, mine.caller)
		}
	}
	t.grantLocked()
}

// grantLocked gives turns to the first in line who may have one.
func (t *turns) grantLocked() {
	t.waiting = slices.DeleteFunc(t.waiting, func(next *turn) bool {
		if t.held >= turnsTotal || next.caller != "" && t.by[next.caller] >= turnsPerCaller {
			return false
		}
		t.held++
		if next.caller != "" {
			if t.by == nil {
				t.by = map[string]int{}
			}
			t.by[next.caller]++
		}
		close(next.granted)
		return true
	})
}
