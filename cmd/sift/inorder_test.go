package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"sift.build/sift/internal/sift"
)

func TestResultsComeInOrderWhateverEndsFirst(t *testing.T) {
	const n = 50
	last := make(chan struct{})
	var got []int
	err := inOrder(t.Context(), n, 4, func(_ context.Context, i int) int {
		switch i {
		case 0: // the first one ends after others
			<-last
		case 3:
			close(last)
		}
		return i * i
	}, func(i, v int) error {
		if v != i*i {
			t.Errorf("%d came as %d", v, i)
		}
		got = append(got, i)
		return nil
	})
	if err != nil || len(got) != n || !slices.IsSorted(got) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestNoWorkerRunsFarAheadOfThePrinting(t *testing.T) {
	var started atomic.Int32
	release := make(chan struct{})
	limit := errors.New("enough was started")
	err := inOrder(t.Context(), 1000, 2, func(_ context.Context, i int) int {
		// All that may be held beside the first one, and not one more.
		if started.Add(1) == 4*2 {
			close(release)
		}
		if i == 0 {
			<-release
		}
		return i
	}, func(int, int) error {
		if n := started.Load(); n > 4*2 {
			return fmt.Errorf("%d items were begun before the first was printed", n)
		}
		return limit
	})
	if !errors.Is(err, limit) {
		t.Error(err)
	}
}

func TestAnEndedContextAndAFailedWriteStopTheWork(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	printed := 0
	err := inOrder(ctx, 100, 4, func(ctx context.Context, i int) int {
		if i == 2 {
			cancel()
		}
		if i >= 2 {
			<-ctx.Done()
		}
		return i
	}, func(int, int) error { printed++; return nil })
	if !errors.Is(err, context.Canceled) || printed > 2 {
		t.Errorf("%d printed, %v", printed, err)
	}

	broken := errors.New("the disk is full")
	err = inOrder(t.Context(), 100, 4, func(_ context.Context, i int) int { return i }, func(i int, _ int) error {
		if i == 1 {
			return broken
		}
		return nil
	})
	if !errors.Is(err, broken) {
		t.Error(err)
	}
}

func TestAPanicIsTheFailureOfItsItemAlone(t *testing.T) {
	var sum tally
	var causes []error
	err := inOrder(t.Context(), 3, 2, func(_ context.Context, i int) (f *sift.Failure) {
		defer caught(&f)
		if i == 1 {
			panic("of one item")
		}
		return nil
	}, func(_ int, f *sift.Failure) error {
		code := exitOK
		if f != nil {
			code = exitCode(f.Code)
			causes = append(causes, f.Cause)
		}
		sum.add(code)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if e, ok := errors.AsType[*exitError](sum.result()); !ok || e.code != exitPartial {
		t.Errorf("it ends with %v", sum.result())
	}
	if len(causes) != 1 || !strings.Contains(causes[0].Error(), "of one item") || !strings.Contains(causes[0].Error(), "inorder_test.go") {
		t.Errorf("causes: %v", causes)
	}
}
