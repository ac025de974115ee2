package main

import (
	"context"
	"errors"
	"fmt"

	"sift.build/sift/internal/sift"
)

// Exit codes. docs/cli.md and `sift help exit-codes` list them; a test holds
// both against this file.
const (
	exitOK          = 0
	exitFailure     = 1   // our fault, or anything without a code of its own
	exitUsage       = 2   // wrong command, flag, argument or configuration
	exitBlocked     = 3   // the guard refused
	exitTimeout     = 4   // out of time
	exitUpstream    = 5   // the server answered 4xx or 5xx
	exitUnreachable = 6   // no such name, refused, TLS failure, broken transfer
	exitUnsupported = 7   // nothing to read in it, or over a size limit
	exitBusy        = 8   // a gate or a cap: try again later
	exitAuth        = 9   // no key, or not a known one
	exitGone        = 10  // the snapshot or job is not held
	exitPartial     = 11  // of several targets some were answered and some failed
	exitInterrupted = 130 // Ctrl-C
)

// exitCode is the exit code of a failure's code.
func exitCode(c sift.Code) int {
	switch c {
	case sift.CodeInvalid:
		return exitUsage
	case sift.CodeUnauthorized:
		return exitAuth
	case sift.CodeBlocked:
		return exitBlocked
	case sift.CodeBusy, sift.CodeCap:
		return exitBusy
	case sift.CodeTimeout:
		return exitTimeout
	case sift.CodeUpstream4xx, sift.CodeUpstream5xx:
		return exitUpstream
	case sift.CodeUnreachable:
		return exitUnreachable
	case sift.CodeUnsupported, sift.CodeTooLong:
		return exitUnsupported
	case sift.CodeNotFound, sift.CodeGone:
		return exitGone
	case sift.CodeCancel:
		return exitInterrupted
	case sift.CodeInternal:
		return exitFailure
	}
	return exitFailure
}

// exitError ends the program with a code. Its text, if any, has been printed
// where the code was decided.
type exitError struct{ code int }

func (e *exitError) Error() string { return fmt.Sprintf("exit %d", e.code) }

// usageError is a mistake in how sift was called.
type usageError struct {
	err       error
	elsewhere bool // the help of the command would not help: it is in a file
}

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return &usageError{err: fmt.Errorf(format, args...)} }

// codeOf decides how the program ends. print says whether the error's text
// still has to be shown.
func codeOf(ctx context.Context, err error) (code int, show bool) {
	if err == nil {
		return exitOK, false
	}
	if e, ok := errors.AsType[*exitError](err); ok {
		return e.code, false
	}
	// What else went wrong after a signal is still worth a word.
	f, failed := errors.AsType[*sift.Failure](err)
	if ctx.Err() != nil && (errors.Is(err, context.Canceled) || failed && f.Code == sift.CodeCancel) {
		return exitInterrupted, false
	}
	if _, ok := errors.AsType[*usageError](err); ok {
		return exitUsage, true
	}
	if failed {
		return exitCode(f.Code), true
	}
	return exitFailure, true
}
