package api

import (
	"net/http"

	"sift.build/sift/internal/sift"
)

// statusClientClosedRequest is what a call is logged and counted with when its
// caller went away. Nobody is left to read it.
const statusClientClosedRequest = 499

// Status is the HTTP status of a failure, after the table in SPEC section 2.
// Two answers of this package stand outside it: a wrong method is a 405 with
// code invalid, and /readyz says 503.
func Status(f *sift.Failure) int {
	switch f.Code {
	case sift.CodeInvalid:
		return http.StatusBadRequest
	case sift.CodeUnauthorized:
		return http.StatusUnauthorized
	case sift.CodeBlocked:
		return http.StatusUnprocessableEntity
	case sift.CodeBusy:
		return http.StatusTooManyRequests
	case sift.CodeTimeout:
		return http.StatusGatewayTimeout
	case sift.CodeUpstream4xx, sift.CodeUpstream5xx, sift.CodeUnreachable:
		return http.StatusBadGateway
	case sift.CodeUnsupported:
		return http.StatusUnsupportedMediaType
	case sift.CodeTooLong:
		return http.StatusRequestEntityTooLarge
	case sift.CodeCap:
		// A cap that empties by itself is worth another try; one on the size
		// of the request is not. Whoever sets the cap knows which, and says so
		// with a time or the hint.
		if f.RetryAfter > 0 || f.Hint == sift.HintRetry {
			return http.StatusTooManyRequests
		}
		return http.StatusUnprocessableEntity
	case sift.CodeNotFound, sift.CodeGone:
		return http.StatusNotFound
	case sift.CodeCancel:
		return statusClientClosedRequest
	default: // CodeInternal, and a code that this table was not told of
		return http.StatusInternalServerError
	}
}
