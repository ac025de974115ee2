package main

import (
	"context"
	"fmt"

	"sift.build/sift/internal/fanout"
	"sift.build/sift/internal/sift"
)

// each runs work for every item on several workers and hands what it came to,
// or its failure, to show: in the order of the items, and as soon as its turn
// has come. It counts them on a terminal and decides how the program ends. An
// error of show ends it early; so does ctx, and then people are told how far it
// came, which is what show was given.
func each[R any](ctx context.Context, p *program, items []string, workers int,
	work func(ctx context.Context, item string) (R, error),
	show func(i int, v R, f *sift.Failure) error,
) error {
	var sum tally
	bar := p.newProgress(len(items))
	defer bar.clear()
	for r, err := range fanout.InOrder(ctx, items, workers, work) {
		bar.clear()
		if err != nil {
			if len(items) > 1 {
				fmt.Fprintf(p.err, "sift: stopped: %s\n", sum.of(len(items)))
			}
			return err
		}
		var f *sift.Failure
		code := exitOK
		if r.Err != nil {
			f = sift.AsFailure(r.Err)
			code = exitCode(f.Code)
		}
		sum.add(code)
		if err := show(r.Index, r.Value, f); err != nil {
			return err
		}
		bar.step()
	}
	return sum.result()
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

// of says in words how far it came of a total.
func (t *tally) of(total int) string {
	s := fmt.Sprintf("%d of %d done", t.items, total)
	if t.failed > 0 {
		s += fmt.Sprintf(", %d failed", t.failed)
	}
	return s
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
