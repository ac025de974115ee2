package main

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"

	"sift.build/sift/internal/sift"
)

// inOrder runs work for 0 to n-1 on several workers and hands each result to
// emit, in order and as soon as its turn has come. It ends early when ctx does
// or emit fails; when it returns, no worker is running.
func inOrder[T any](ctx context.Context, n, workers int, work func(ctx context.Context, i int) T, emit func(i int, v T) error) error {
	results := make([]chan T, n)
	for i := range results {
		results[i] = make(chan T, 1)
	}
	workers = min(workers, n)
	// No worker runs far ahead of emit: what is finished is held in memory
	// until its turn.
	ahead := make(chan struct{}, 4*workers)
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	next := make(chan int)
	wg.Go(func() {
		defer close(next)
		for i := range n {
			select {
			case ahead <- struct{}{}:
			case <-ctx.Done():
				return
			}
			select {
			case next <- i:
			case <-ctx.Done():
				return
			}
		}
	})
	for range workers {
		wg.Go(func() {
			for i := range next {
				results[i] <- work(ctx, i)
			}
		})
	}
	for i := range n {
		select {
		case v := <-results[i]:
			// A result that was made while the program was being stopped may be
			// the stop itself; nobody asks for it any more.
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := emit(i, v); err != nil {
				return err
			}
			<-ahead
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// caught makes a panic in one item that item's failure: the others are not to
// be lost with it. It is deferred.
func caught(failure **sift.Failure) {
	if p := recover(); p != nil {
		*failure = sift.AsFailure(fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
	}
}

// tally counts what many items came to.
type tally struct {
	items, failed int
	code          int // of the first failure
}

func (t *tally) add(code int) {
	t.items++
	if code == exitOK {
		return
	}
	t.failed++
	if t.code == exitOK {
		t.code = code
	}
}

// result is how the program ends: well, with the code of the first failure
// when nothing was answered, or partly.
func (t *tally) result() error {
	switch t.failed {
	case 0:
		return nil
	case t.items:
		return &exitError{t.code}
	default:
		return &exitError{exitPartial}
	}
}
