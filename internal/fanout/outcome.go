package fanout

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
)

// PanicError says that the function did not return: it panicked, or it ended
// its goroutine with runtime.Goexit, as a failed assertion of package testing
// does. errors.Is finds [ErrGoexit], or what it panicked with if that was an
// error.
type PanicError struct {
	Index int    // of the item
	Value any    // what it panicked with; ErrGoexit for a Goexit
	Stack []byte // where
}

// ErrGoexit is the Value of a PanicError for runtime.Goexit.
var ErrGoexit = errors.New("runtime.Goexit was called")

// newPanicError is for the deferred function that found that fn has not
// returned. recovered is what recover gave it: nil says Goexit, since a
// panic(nil) comes as a *runtime.PanicNilError.
func newPanicError(i int, recovered any) *PanicError {
	if recovered == nil {
		recovered = ErrGoexit
	}
	return &PanicError{Index: i, Value: recovered, Stack: debug.Stack()}
}

// Error gives the stack too: a panic is a mistake in the program, and who reads
// of it wants to know where.
func (e *PanicError) Error() string {
	what := "panic: "
	if e.Value == ErrGoexit {
		what = ""
	}
	return fmt.Sprintf("item %d: %s%v\n\n%s", e.Index, what, e.Value, e.Stack)
}

// Unwrap gives what it panicked with, if that was an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// outcome decides which error a call returns: the first real cause, and not
// the cancellations that follow from it.
type outcome struct {
	failed atomic.Pointer[error] // the first failure while ctx lived
	late   atomic.Pointer[error] // the first one after that was more than a cancellation
}

// add notes that an item has just failed with err.
func (o *outcome) add(ctx context.Context, err error) {
	ended := ctx.Err()
	switch {
	case ended == nil && o.failed.Load() == nil:
		first := err // only what is kept goes to the heap
		o.failed.CompareAndSwap(nil, &first)
	case ended != nil && o.late.Load() == nil && !isCancellation(err):
		// Was ctx ended by this very item, or did the item fail because ctx
		// had ended? Nobody can tell, and neither may hide the other.
		both := fmt.Errorf("%w (%w)", err, ended)
		o.late.CompareAndSwap(nil, &both)
	}
}

// err is what the call returns. ended is ctx.Err() if that has stopped a worker.
func (o *outcome) err(ended error) error {
	if err := o.failed.Load(); err != nil {
		return *err
	}
	if err := o.late.Load(); err != nil {
		return *err
	}
	return ended
}

// isCancellation reports whether err says no more than that a context ended.
func isCancellation(err error) bool {
	if _, ok := errors.AsType[*PanicError](err); ok {
		return false
	}
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
