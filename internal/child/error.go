package child

import (
	"errors"
	"fmt"
	"strings"
)

// Reason says in a word why a child did not end well.
type Reason string

// The reasons.
const (
	ReasonStart  Reason = "start"  // it could not be started
	ReasonCancel Reason = "cancel" // the context ended
	ReasonWall   Reason = "wall"   // it ran longer than its wall time
	ReasonCPU    Reason = "cpu"    // it took more than its processor time
	ReasonMemory Reason = "memory" // it needed more than its memory
	ReasonOutput Reason = "output" // it wrote more than its output may have
	ReasonRead   Reason = "read"   // the reader of its output failed, or left before the end
	ReasonCrash  Reason = "crash"  // a panic, a fatal error, or a signal that was not ours
	ReasonFailed Reason = "failed" // it ended with a failure of its own
)

// Reasons lists every reason, for metrics.
func Reasons() []Reason {
	return []Reason{ReasonStart, ReasonCancel, ReasonWall, ReasonCPU, ReasonMemory, ReasonOutput, ReasonRead, ReasonCrash, ReasonFailed}
}

// What an *Error is, by errors.Is.
var (
	ErrStart   = errors.New("the child could not be started")
	ErrTimeout = errors.New("the child ran out of time") // of either kind
	ErrCPU     = errors.New("the child ran out of processor time")
	ErrMemory  = errors.New("the child ran out of memory")
	ErrOutput  = errors.New("the child wrote too much")
	ErrCrashed = errors.New("the child crashed")
	ErrFailed  = errors.New("the child failed")
)

// Error says why a child did not end well. Its text holds nothing that the
// child wrote (as long as the reader's errors do not): it can be shown to
// whoever asked.
type Error struct {
	Name     string // of the worker or program
	Reason   Reason
	ExitCode int    // of a child that ended by itself; 0: it did not, or did well
	Signal   string // of a child that a signal ended
	// Stderr is what the child wrote to standard error, its first kilobyte and
	// its last three, free of control characters. It may quote hostile input:
	// it is for the log.
	Stderr string
	Err    error // the context's or the reader's error, or why it could not start
}

func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "child %s: ", e.Name)
	switch e.Reason {
	case ReasonStart:
		b.WriteString("cannot be started")
	case ReasonCancel:
		b.WriteString("stopped")
	case ReasonWall:
		b.WriteString("killed after its time")
	case ReasonCPU:
		b.WriteString("killed after its processor time")
	case ReasonMemory:
		b.WriteString("out of memory")
	case ReasonOutput:
		b.WriteString("killed for writing too much")
	case ReasonRead:
		b.WriteString("its output could not be used")
	case ReasonCrash:
		b.WriteString("crashed")
	case ReasonFailed:
		b.WriteString("failed")
	}
	if e.ExitCode != 0 {
		fmt.Fprintf(&b, " (exit status %d)", e.ExitCode)
	}
	if e.Signal != "" && (e.Reason == ReasonCrash || e.Reason == ReasonMemory) {
		fmt.Fprintf(&b, " (%s)", e.Signal)
	}
	// That a reader stumbled over the end of a child that died is no news.
	if e.Err != nil && (e.Reason == ReasonStart || e.Reason == ReasonCancel || e.Reason == ReasonRead) {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	return b.String()
}

// Unwrap gives the context's or the reader's error, or why the child could not
// be started.
func (e *Error) Unwrap() error { return e.Err }

// Is tells the classes of the Err values above.
func (e *Error) Is(target error) bool {
	switch target {
	case ErrStart:
		return e.Reason == ReasonStart
	case ErrTimeout:
		return e.Reason == ReasonWall || e.Reason == ReasonCPU
	case ErrCPU:
		return e.Reason == ReasonCPU
	case ErrMemory:
		return e.Reason == ReasonMemory
	case ErrOutput:
		return e.Reason == ReasonOutput
	case ErrCrashed:
		return e.Reason == ReasonCrash
	case ErrFailed:
		return e.Reason == ReasonFailed
	}
	return false
}
