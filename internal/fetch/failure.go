package fetch

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/klauspost/compress/zstd"

	"sift.build/sift/internal/guard"
	"sift.build/sift/internal/sift"
)

// failure says in a sentence why a request to u got no answer. Nothing that
// the server wrote stands in it: an error text is read as ours.
func (ch *chain) failure(u *guard.URL, err error) error {
	if refused, ok := errors.AsType[*guard.AddressError](err); ok {
		if ch.request.Restricted && u.Host() != ch.request.URL.Host() {
			// The server wrote this host, not the caller.
			hidden := *refused
			hidden.Host = ""
			refused = &hidden
		}
		return refused.Failure(ch.request.Restricted)
	}
	if f, ok := guard.Refused(err); ok {
		return f
	}
	e, ok := errors.AsType[*callError](err)
	if !ok {
		return err // a *sift.Failure already, or our own fault
	}
	if e.cause == nil {
		if f, ok := errors.AsType[*sift.Failure](err); ok {
			return f // the guard's, about looking up and connecting
		}
	}
	host := u.Host()
	if ch.request.Restricted {
		host = "the server"
	}
	fail := func(code sift.Code, format string, args ...any) *sift.Failure {
		return sift.Fail(code, format, args...).WithCause(fmt.Errorf("%s: %w", e.phase, err))
	}
	switch {
	case errors.Is(e.cause, errSlow):
		l := ch.client.limits
		return fail(sift.CodeTimeout, "timed out while reading the body: less than %s came in %v; %s had arrived",
			bytesText(l.slowBytes), l.slowWindow, bytesText(e.bytes)).WithHint(sift.HintRetry)
	case errors.Is(e.cause, errDeadline), errors.Is(e.cause, errRobotsDeadline), errors.Is(e.cause, context.DeadlineExceeded):
		text := "timed out " + e.phase.String()
		if errors.Is(e.cause, errDeadline) {
			text = fmt.Sprintf("timed out after %v, %s", ch.limit, e.phase)
		}
		if e.phase == reading {
			text += fmt.Sprintf(": %s had arrived", bytesText(e.bytes))
		}
		return fail(sift.CodeTimeout, "%s", text).WithHint(sift.HintRetry)
	case e.cause != nil:
		return fail(sift.CodeCancel, "the caller went away")
	case errors.Is(e.err, errStatus):
		return fail(sift.CodeUnreachable, "the server answered with status %s, which is no final answer of HTTP",
			strings.TrimPrefix(e.err.Error(), errStatus.Error()+": "))
	case headersTooLarge(e.err):
		return fail(sift.CodeTooLong, "the response headers are larger than %s", bytesText(ch.client.limits.headerBytes))
	case timedOut(e.err):
		limit := ch.client.limits.headers
		if e.phase == handshaking {
			limit = ch.client.limits.handshake
		}
		return fail(sift.CodeTimeout, "timed out after %v, %s", limit, e.phase).WithHint(sift.HintRetry)
	case errors.Is(e.err, errEmpty):
		text := "the connection broke off before the first byte of the body"
		switch {
		case !cutOff(e.err):
			text = "the transfer of the body is malformed from its start"
		case e.bytes > 0:
			text = fmt.Sprintf("the connection broke off after %s, before anything could be read", bytesText(e.bytes))
		}
		return fail(sift.CodeUnreachable, "%s", text).WithHint(sift.HintRetry)
	case e.http2:
		return fail(sift.CodeUnreachable, "the server broke the rules of HTTP/2").WithHint(sift.HintRetry)
	case e.phase == handshaking:
		return fail(sift.CodeUnreachable, "no secure connection to %s: %s", host, tlsReason(e.err, ch.client.now()))
	case !e.connected:
		return fail(sift.CodeUnreachable, "no connection to %s", host).WithHint(sift.HintRetry)
	case !e.answered:
		return fail(sift.CodeUnreachable, "%s closed the connection without an answer", host).WithHint(sift.HintRetry)
	case cutOff(e.err):
		return fail(sift.CodeUnreachable, "%s closed the connection in the middle of the response headers", host).WithHint(sift.HintRetry)
	}
	return fail(sift.CodeUnreachable, "the server's answer is not an HTTP response: its status line or a header is malformed")
}

// timedOut reports whether one of the transport's own timers fired.
func timedOut(err error) bool {
	e, ok := errors.AsType[net.Error](err)
	return ok && e.Timeout()
}

// cutOff reports whether err is what is seen of a connection that the other
// side closed.
func cutOff(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNABORTED)
}

// headersTooLarge recognises the transport's refusal of large headers. It has
// no value or type of its own, so the texts are compared, and tests with such
// servers hold them. Each error of the chain is looked at alone, because
// others quote what the server sent.
func headersTooLarge(err error) bool {
	for ; err != nil; err = errors.Unwrap(err) {
		text := err.Error()
		if strings.HasPrefix(text, "net/http: server response headers exceeded ") ||
			text == "http2: response header list larger than advertised limit" {
			return true
		}
	}
	return false
}

// tlsReason says what was wrong with a TLS connection. The names in a
// certificate are the server's text and not repeated.
func tlsReason(err error, now time.Time) string {
	if e, ok := errors.AsType[x509.CertificateInvalidError](err); ok {
		switch {
		case e.Reason == x509.Expired && e.Cert != nil && now.Before(e.Cert.NotBefore):
			return "its certificate is not valid before " + e.Cert.NotBefore.UTC().Format("2006-01-02")
		case e.Reason == x509.Expired && e.Cert != nil:
			return "its certificate expired on " + e.Cert.NotAfter.UTC().Format("2006-01-02")
		}
		return "its certificate is not valid for a web server"
	}
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return "its certificate is for another name"
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return "its certificate is signed by an unknown authority, or an intermediate certificate is missing"
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return "its certificate cannot be verified"
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return "it does not speak TLS on this port; http:// may work"
	}
	if e, ok := errors.AsType[*net.OpError](err); ok && e.Op == "remote error" {
		// An alert: a number, whose meaning crypto/tls has in words.
		return "it refused the TLS handshake: " + strings.TrimPrefix(e.Err.Error(), "tls: ")
	}
	if cutOff(err) {
		return "it closed the connection during the TLS handshake"
	}
	return "the TLS handshake failed"
}

// refusedCoding reports whether a decoder refused on principle, rather than
// for damaged data.
func refusedCoding(err error) bool {
	return errors.Is(err, zstd.ErrWindowSizeExceeded) || errors.Is(err, zstd.ErrUnknownDictionary) ||
		errors.Is(err, errManyMembers)
}

// codingFailure is a body that cannot be decoded.
func codingFailure(err error) *sift.Failure {
	f := sift.Fail(sift.CodeUnreachable, "the body is damaged: it cannot be decompressed").WithHint(sift.HintRetry)
	unknown, isUnknown := errors.AsType[*unknownCodingError](err)
	switch {
	case isUnknown:
		f = sift.Fail(sift.CodeUnsupported, "content encoding %s; sift reads gzip, deflate, br and zstd", unknown.token)
	case errors.Is(err, errManyCodings):
		f = sift.Fail(sift.CodeUnsupported, "content encoding: more than %d on top of each other", maxCodings)
	case errors.Is(err, errManyMembers):
		f = sift.Fail(sift.CodeUnsupported, "content encoding gzip with more than %d members", maxMembers)
	case errors.Is(err, zstd.ErrWindowSizeExceeded):
		f = sift.Fail(sift.CodeUnsupported, "content encoding zstd with a window over %s, which RFC 9659 forbids", bytesText(zstdWindow))
	case errors.Is(err, zstd.ErrUnknownDictionary):
		f = sift.Fail(sift.CodeUnsupported, "content encoding with a dictionary that was not asked for")
	case errors.Is(err, errMislabelled):
		f = sift.Fail(sift.CodeUnreachable, "the body is not what its Content-Encoding says, and not readable without it")
	}
	return f.WithCause(err)
}

// spoolFailure is a fault of our own disk.
func spoolFailure(err error) *sift.Failure {
	return sift.Fail(sift.CodeInternal, "the body could not be stored on sift's disk; the operator's log has the details").
		WithHint(sift.HintRetry).WithCause(err)
}

// tooLong is a body over its budget; length is what the server announced, -1
// where it did not. A larger budget would not help with a film: that is said
// instead.
func tooLong(decoded bool, b *budget, mediaType string, head []byte, length int64) *sift.Failure {
	if kind := nothingToRead(mediaType, head); kind != "" {
		size := "more than " + bytesText(b.max)
		if length > 0 {
			size = bytesText(length)
		}
		return sift.Fail(sift.CodeUnsupported, "%s, %s: there is no text in it to read", kind, size)
	}
	where, key := "", "max_bytes"
	if decoded {
		where = " after decompression"
	}
	if b.pdf {
		key = "max_pdf_bytes"
	}
	return sift.Fail(sift.CodeTooLong, "the body is larger than %s%s; the operator can raise [fetch] %s", bytesText(b.max), where, key)
}

// cutReason says why what came is not the whole.
func cutReason(w *wire, resp *http.Response, err error) string {
	n := w.n.Load()
	if f, ok := errors.AsType[*sift.Failure](err); ok {
		return f.Message
	}
	switch {
	case w.err != nil && resp.ContentLength > 0:
		return fmt.Sprintf("the transfer was cut short after %d of %s", n, bytesText(resp.ContentLength))
	case w.err != nil:
		return "the transfer was cut short after " + bytesText(n)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "the compressed body was cut short after " + bytesText(n)
	}
	return "the compressed body is damaged, and was read as far as that"
}

// nothingToRead names the kind of a body in which there is certainly no text:
// a picture, sound, film, font or archive. "": there may be.
func nothingToRead(mediaType string, head []byte) string {
	sniffed := mediaTypeOf(http.DetectContentType(head))
	for _, t := range []string{"image/", "video/", "audio/", "font/", "application/zip", "application/x-gzip", "application/x-rar", "application/wasm", "application/ogg"} {
		if strings.HasPrefix(sniffed, t) {
			return sniffed
		}
	}
	if sniffed != "application/octet-stream" {
		return ""
	}
	for _, t := range []string{"image/", "video/", "audio/", "font/"} {
		if strings.HasPrefix(mediaType, t) {
			return clip(mediaType, 60)
		}
	}
	return ""
}

// isPDF decides by the first bytes, which readers of PDF look for in the
// first kilobyte, and by the type where they say nothing.
func isPDF(mediaType string, head []byte) bool {
	magic := []byte("%PDF-")
	if bytes.HasPrefix(bytes.TrimLeft(head, "\x00\t\n\f\r \xef\xbb\xbf"), magic) {
		return true
	}
	named := mediaType == "application/pdf" || mediaType == "application/x-pdf"
	return named && (bytes.Contains(head, magic) || !looksText(head))
}

// bytesText writes a size: "10 MiB", "64 KiB", "123 bytes".
func bytesText(n int64) string {
	switch {
	case n == 1:
		return "1 byte"
	case n >= 1<<20 && n%(1<<20) == 0:
		return strconv.FormatInt(n>>20, 10) + " MiB"
	case n >= 1<<10 && n%(1<<10) == 0:
		return strconv.FormatInt(n>>10, 10) + " KiB"
	}
	return strconv.FormatInt(n, 10) + " bytes"
}
