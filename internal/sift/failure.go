package sift

import (
	"errors"
	"fmt"
	"time"
)

// Code is the class of a failure: the short word in front of an error text.
// The list is closed; the table in SPEC section 2 says when each is used.
type Code string

// The codes of a failure.
const (
	CodeInvalid      Code = "invalid"      // the request is malformed
	CodeUnauthorized Code = "unauthorized" // no key, or not a known one
	CodeBlocked      Code = "blocked"      // the guard refused, before or at connect, at any redirect
	CodeBusy         Code = "busy"         // a gate or a pool is full
	CodeTimeout      Code = "timeout"      // the target, or its extraction, ran out of time
	CodeUpstream4xx  Code = "upstream_4xx" // the server answered with a client error
	CodeUpstream5xx  Code = "upstream_5xx" // the server answered with a server error
	CodeUnreachable  Code = "unreachable"  // no such name, refused, TLS failure, broken transfer
	CodeUnsupported  Code = "unsupported"  // a content type with nothing to read in it
	CodeTooLong      Code = "too_long"     // over a size limit
	CodeCap          Code = "cap"          // over a batch cap
	CodeNotFound     Code = "not_found"    // no such job of this caller
	CodeGone         Code = "gone"         // the snapshot asked for is no longer held
	CodeCancel       Code = "cancel"       // the caller went away
	CodeInternal     Code = "internal"     // our fault
)

// Codes lists every code, in the order of SPEC section 2.
func Codes() []Code {
	return []Code{
		CodeInvalid, CodeUnauthorized, CodeBlocked, CodeBusy, CodeTimeout, CodeUpstream4xx, CodeUpstream5xx,
		CodeUnreachable, CodeUnsupported, CodeTooLong, CodeCap, CodeNotFound, CodeGone, CodeCancel, CodeInternal,
	}
}

// Hint tells an agent what to try next. The list is closed; "" is no hint.
type Hint string

// The hints.
const (
	HintBrowser  Hint = "browser"  // needs a real browser
	HintRecover  Hint = "recover"  // ask again with recover
	HintRetry    Hint = "retry"    // the same request may work later
	HintPages    Hint = "pages"    // ask for a page range
	HintOCR      Hint = "ocr"      // the pages are pictures
	HintPassword Hint = "password" // the file is protected
	HintFresh    Hint = "fresh"    // ask for a new copy or a new job
	HintAuth     Hint = "auth"     // the site wants a login, or sift wants a key
)

// Hints lists every hint, in the order of SPEC section 2.
func Hints() []Hint {
	return []Hint{HintBrowser, HintRecover, HintRetry, HintPages, HintOCR, HintPassword, HintFresh, HintAuth}
}

// Failure is why a target was not answered. It is the one error type that
// crosses package borders; decide by its Code, never by its text.
type Failure struct {
	Code    Code
	Message string // one sentence for the caller, without the code: what happened and what to do
	Hint    Hint
	URL     string // the URL as the caller wrote it; filled in at the pipeline

	Status       int           // of an upstream_4xx or upstream_5xx: which
	RetryAfter   time.Duration // what the server (or our gate) asked for; 0: nothing
	UpstreamBody string        // bounded, cleaned excerpt of the error page; never part of Message

	// Cause is for the operator's log, never for the caller. It may hold a
	// URL or an address: do not log it for a restricted caller.
	Cause error
}

// Fail makes a Failure with a formatted message.
func Fail(code Code, format string, args ...any) *Failure {
	return &Failure{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Error is the text the caller sees: the code, a colon, the message.
func (f *Failure) Error() string { return string(f.Code) + ": " + f.Message }

// Unwrap gives the cause to errors.Is and errors.As.
func (f *Failure) Unwrap() error { return f.Cause }

// WithCause returns a copy that carries cause for the log.
func (f *Failure) WithCause(cause error) *Failure {
	c := *f
	c.Cause = cause
	return &c
}

// WithHint returns a copy with the hint set.
func (f *Failure) WithHint(h Hint) *Failure {
	c := *f
	c.Hint = h
	return &c
}

// AsFailure finds the Failure in err. An error without one is our fault: it
// becomes CodeInternal, whose text says no more than that, with err as cause.
func AsFailure(err error) *Failure {
	if f, ok := errors.AsType[*Failure](err); ok {
		return f
	}
	return &Failure{Code: CodeInternal, Message: "something went wrong inside sift; the operator's log has the details", Cause: err}
}
