package batch

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
)

// A token that is handed over at the moment at which nobody wants it any more
// must not get lost, nor be there twice.
func TestNoTokenIsLostOrMadeWhoeverStopsWaitingForOne(t *testing.T) {
	const most = 3
	tok := tokens{free: most}
	var held atomic.Int64
	hold := func() {
		if n := held.Add(1); n > most {
			t.Errorf("%d tokens are held", n)
		}
	}
	var wg sync.WaitGroup
	for i := range uint64(24) {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(i, 0))
			for range 500 {
				ctx, end := context.WithCancel(t.Context())
				broken := make(chan struct{})
				stopped := make(chan struct{})
				go func() {
					defer close(stopped)
					if r.IntN(2) == 0 {
						end()
					} else {
						close(broken)
					}
				}()
				rank := forJob
				if i%4 == 0 {
					rank = forClaim
				}
				if tok.take(ctx, broken, rank) {
					hold()
					held.Add(-1)
					if tok.turn(ctx, broken) {
						hold()
						held.Add(-1)
						tok.give()
					}
				}
				<-stopped
				end()
			}
		})
	}
	wg.Wait()
	if tok.free != most || len(tok.waiting[forJob])+len(tok.waiting[forClaim]) != 0 {
		t.Errorf("in the end %d of %d are free, and %d and %d wait", tok.free, most, len(tok.waiting[forJob]), len(tok.waiting[forClaim]))
	}
}

func TestATokenThatComesAsTheWaitEndsIsThereForOthers(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	end()
	for range 100 { // both are ready: which is seen is chance
		var tok tokens
		place := tok.queue(forJob)
		tok.give()
		if tok.await(ctx, nil, forJob, place) {
			tok.give()
		}
		if tok.free != 1 {
			t.Fatalf("%d are free", tok.free)
		}
	}
}
