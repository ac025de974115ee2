package batch

import (
	"context"
	"slices"
	"sync"
)

// tokens are what targets are fetched with: as many as there are workers. Jobs
// that are claimed wait for one in the order in which they came. Whoever claims
// jobs waits behind them all, so that none is claimed while one that was
// claimed before could go on.
type tokens struct {
	mu      sync.Mutex
	free    int // while this is not 0 nobody waits
	waiting [ranks][]chan struct{}
}

// Who waits for a token, those that come first before the others.
const (
	forJob = iota // that is claimed
	forClaim
	ranks
)

// take waits for a token. It is false when ctx has ended or broken was closed.
func (t *tokens) take(ctx context.Context, broken <-chan struct{}, rank int) bool {
	t.mu.Lock()
	if t.free > 0 {
		t.free--
		t.mu.Unlock()
		return true
	}
	place := t.queue(rank)
	t.mu.Unlock()
	return t.await(ctx, broken, rank, place)
}

// give gives a token back.
func (t *tokens) give() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.handOver()
}

// turn hands the token of a claimed job to the one that waits longest, and waits
// for another. Where none waits the job keeps it. It is false, and the token is
// gone, when ctx has ended or broken was closed meanwhile.
func (t *tokens) turn(ctx context.Context, broken <-chan struct{}) bool {
	t.mu.Lock()
	if len(t.waiting[forJob]) == 0 {
		t.mu.Unlock()
		return true
	}
	t.handOver()
	place := t.queue(forJob)
	t.mu.Unlock()
	return t.await(ctx, broken, forJob, place)
}

// queue takes the last place of a rank. t.mu is held.
func (t *tokens) queue(rank int) (place chan struct{}) {
	place = make(chan struct{})
	t.waiting[rank] = append(t.waiting[rank], place)
	return place
}

// handOver gives a token to whom it is due. t.mu is held.
func (t *tokens) handOver() {
	for rank, q := range t.waiting {
		if len(q) > 0 {
			close(q[0])
			t.waiting[rank] = slices.Delete(q, 0, 1)
			return
		}
	}
	t.free++
}

func (t *tokens) await(ctx context.Context, broken <-chan struct{}, rank int, place chan struct{}) bool {
	select {
	case <-place:
		return true
	case <-ctx.Done():
	case <-broken:
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if i := slices.Index(t.waiting[rank], place); i >= 0 {
		t.waiting[rank] = slices.Delete(t.waiting[rank], i, i+1)
		return false
	}
	t.handOver() // it came at the same moment
	return false
}
