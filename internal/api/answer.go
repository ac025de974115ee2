package api

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"sift.build/sift/internal/sift"
)

const (
	// maxBody is how long a request's body may be. A target is a URL and a
	// few options; a question or a program is the longest of them.
	maxBody = 64 << 10

	// maxBatchBody is the same for POST /v1/batch, which holds a list of them.
	maxBatchBody = 256 << 10

	// maxPooled is the largest buffer that is kept for the next request: an
	// answer of the default size fits, a 10-million-character one must not
	// stay behind in each of them.
	maxPooled = 1 << 20

	// What is written at once (an answer, or a result of a job) has this long to
	// be taken, and a second more for each of these bytes. Whoever reads more
	// slowly than that is cut off, so that a caller who never reads cannot hold
	// a connection and its buffer for good.
	writeTime     = 30 * time.Second
	bytesASecond  = 32 << 10
	metricsWeight = 1 << 20 // an assumed size, for an answer that is written as it is made
)

// The headers of an answer that is the content alone.
const (
	headerNextOffset = "X-Sift-Next-Offset" // where the next window starts; absent when there is no more
	headerSnapshot   = "X-Sift-Snapshot"    // the copy to go on reading; absent when it could not be kept
	headerWarnings   = "X-Sift-Warnings"    // the codes, comma-separated; absent when there are none
	headerHint       = "X-Sift-Hint"        // what to try next; absent when there is none
	headerRecovered  = "X-Sift-Recovered"   // source, moment and URL of the copy; absent when recovering was not asked for
)

func (s *Server) postFetch(w http.ResponseWriter, r *http.Request, x *exchange) error {
	buf := s.buffer()
	defer s.release(buf)
	if err := s.readPost(w, r, buf, maxBody); err != nil {
		return err
	}
	var err error
	x.target, err = decodeJSON(s.fields, *buf)
	if err != nil {
		return err
	}
	return s.fetch(w, r, x)
}

func (s *Server) getFetch(w http.ResponseWriter, r *http.Request, x *exchange) error {
	if err := noBody(r); err != nil {
		return err
	}
	var err error
	x.target, err = decodeQuery(s.fields, r.URL.RawQuery)
	if err != nil {
		return err
	}
	return s.fetch(w, r, x)
}

// noBody refuses a body where there is none to have.
func noBody(r *http.Request) error {
	if r.ContentLength != 0 {
		return sift.Fail(sift.CodeInvalid, "a %s takes its fields from the query; it must not have a body", r.Method)
	}
	return nil
}

// readPost reads the body of a POST, at most that many bytes of it, into buf.
func (s *Server) readPost(w http.ResponseWriter, r *http.Request, buf *[]byte, most int64) error {
	if r.URL.RawQuery != "" {
		return sift.Fail(sift.CodeInvalid, "a POST takes its fields from the body; the query must be empty")
	}
	if coding := r.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return sift.Fail(sift.CodeInvalid, "the body must not be compressed (Content-Encoding)")
	}
	body, err := s.readBody(w, r, (*buf)[:0], most)
	*buf = body
	return err
}

// readBody appends the request's body to buf. It reads on to the very end:
// only then does net/http watch for the caller to go away.
func (s *Server) readBody(w http.ResponseWriter, r *http.Request, buf []byte, most int64) ([]byte, error) {
	if r.ContentLength > most {
		if r.ContentLength <= maxUnread {
			s.discard(w, r.Body)
		}
		return buf, errBodyTooLong(most)
	}
	src := http.MaxBytesReader(w, r.Body, most)
	for {
		if len(buf) == cap(buf) {
			buf = slices.Grow(buf, 1024)
		}
		n, err := src.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if err == io.EOF {
			return buf, nil
		}
		if _, over := errors.AsType[*http.MaxBytesError](err); over {
			s.discard(w, r.Body)
			return buf, errBodyTooLong(most)
		}
		if err != nil {
			return buf, sift.Fail(sift.CodeInvalid, "the request's body broke off or did not come in time").WithCause(err)
		}
	}
}

// A body that is too long is still taken in up to here, unread. Where a
// connection is closed with more of it on the way, its sender may find that
// instead of the answer.
const (
	maxUnread  = 2 << 20
	unreadTime = 2 * time.Second
)

func (s *Server) discard(w http.ResponseWriter, body io.Reader) {
	_ = http.NewResponseController(w).SetReadDeadline(s.now().Add(unreadTime))
	_, _ = io.CopyN(io.Discard, body, maxUnread) // what does not come is no loss
}

// errBody is the cause of what is wrong with a request's body. It holds also
// when the caller has gone away, as it seems to when a body does not come in time.
var errBody = errors.New("request body")

func errBodyTooLong(most int64) error {
	return sift.Fail(sift.CodeTooLong, "the request's body is longer than %d bytes", most).WithCause(errBody)
}

// fetch hands the target on and writes what comes back.
func (s *Server) fetch(w http.ResponseWriter, r *http.Request, x *exchange) error {
	answer, err := s.fetcher.FetchTarget(r.Context(), x.caller, x.target)
	if err != nil {
		return err
	}
	h := w.Header()
	buf := s.buffer()
	defer s.release(buf)
	switch negotiate(r.Header["Accept"]) {
	case formMarkdown:
		h["Content-Type"] = []string{"text/markdown; charset=utf-8"}
		*buf = contentAlone(h, (*buf)[:0], answer)
	case formPlain:
		h["Content-Type"] = []string{"text/plain; charset=utf-8"}
		*buf = contentAlone(h, (*buf)[:0], answer)
	default:
		h["Content-Type"] = s.typeJSON
		*buf = answer.AppendJSON((*buf)[:0])
	}
	s.write(w, x, http.StatusOK, *buf)
	return nil
}

// contentAlone appends the content and sets the headers that stand in for what
// a reader of the envelope would need: how to read on, and that this may not
// be the page.
func contentAlone(h http.Header, dst []byte, answer *sift.Envelope) []byte {
	if answer.NextOffset != nil {
		h.Set(headerNextOffset, strconv.Itoa(*answer.NextOffset))
	}
	if answer.Snapshot != "" {
		h.Set(headerSnapshot, answer.Snapshot)
	}
	if len(answer.Warnings) > 0 {
		var codes []string
		for _, warning := range answer.Warnings {
			codes = append(codes, string(warning.Code))
		}
		h.Set(headerWarnings, strings.Join(codes, ", "))
	}
	if answer.Hint != "" {
		h.Set(headerHint, string(answer.Hint))
	}
	if r := answer.Recovered; r != nil {
		h.Set(headerRecovered, strings.Map(headerByte, string(r.Source)+" "+r.CapturedAt.Format(time.RFC3339)+" "+r.URL))
	}
	return append(dst, answer.Content...)
}

// headerByte leaves out what does not belong into a header: an archive's word for
// where its copy is may hold anything.
func headerByte(r rune) rune {
	if r < ' ' || r > '~' {
		return -1
	}
	return r
}

func (s *Server) getHealth(w http.ResponseWriter, _ *http.Request, x *exchange) error {
	s.writeState(w, x, http.StatusOK, "ok")
	return nil
}

func (s *Server) getReady(w http.ResponseWriter, _ *http.Request, x *exchange) error {
	if err := s.ready(); err != nil {
		// What is missing is the operator's business: it may name a path.
		x.cause, x.level = err, slog.LevelWarn
		s.writeState(w, x, http.StatusServiceUnavailable, "not ready")
		return nil //nolint:nilerr // it has been answered, and the cause is logged with the request
	}
	s.writeState(w, x, http.StatusOK, "ready")
	return nil
}

func (s *Server) writeState(w http.ResponseWriter, x *exchange, status int, state string) {
	s.writeJSON(w, x, status, struct {
		Status  string `json:"status"`
		Version string `json:"version"`
	}{state, s.version})
}

func (s *Server) getMetrics(w http.ResponseWriter, r *http.Request, x *exchange) error {
	s.setWriteDeadline(w, metricsWeight)
	s.metrics.ServeHTTP(&recorder{ResponseWriter: w, x: x}, r)
	if x.status == 0 { // an empty answer, which net/http sends as a 200
		x.status = http.StatusOK
	}
	return nil
}

// recorder notes the status that another handler answers with.
type recorder struct {
	http.ResponseWriter
	x *exchange
}

func (w *recorder) WriteHeader(status int) {
	if w.x.status == 0 {
		w.x.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *recorder) Write(b []byte) (int, error) {
	if w.x.status == 0 {
		w.x.status = http.StatusOK
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap is for http.ResponseController.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// writeFailure answers with a failure, always as JSON.
func (s *Server) writeFailure(w http.ResponseWriter, x *exchange, status int, f *sift.Failure) {
	x.code = f.Code
	s.writeJSON(w, x, status, f.JSON())
}

func (s *Server) writeJSON(w http.ResponseWriter, x *exchange, status int, v any) {
	w.Header()["Content-Type"] = s.typeJSON
	s.write(w, x, status, encode(v))
}

// encode gives the JSON of a plain struct.
func encode(v any) []byte {
	b, err := sift.EncodeJSON(v)
	if err != nil {
		panic("api: plain structs cannot fail to encode: " + err.Error())
	}
	return b
}

// write sends a whole answer.
func (s *Server) write(w http.ResponseWriter, x *exchange, status int, body []byte) {
	s.begin(w, x, status, len(body))
	s.send(w, x, body)
}

// begin sends the head of an answer. What is sent after it must have that size.
func (s *Server) begin(w http.ResponseWriter, x *exchange, status, size int) {
	w.Header()["Content-Length"] = []string{strconv.Itoa(size)}
	x.status = status
	w.WriteHeader(status)
}

// send sends a piece of an answer, and reports whether the caller has taken it
// in time. Each piece has a time of its own, so that it is not for how long an
// answer goes on that somebody is cut off, but for standing still.
func (s *Server) send(w http.ResponseWriter, x *exchange, piece []byte) bool {
	s.setWriteDeadline(w, len(piece))
	_, err := w.Write(piece)
	if err != nil && !errors.Is(err, http.ErrBodyNotAllowed) && x.cause == nil { // HEAD wants no body
		x.cause = fmt.Errorf("write the answer: %w", err)
	}
	return err == nil
}

// setWriteDeadline bounds how long the caller may take to read that much.
// net/http lifts it before the next request of the connection. A
// ResponseWriter that cannot do it is a test's.
func (s *Server) setWriteDeadline(w http.ResponseWriter, size int) {
	_ = http.NewResponseController(w).SetWriteDeadline(s.now().Add(writeTime + time.Duration(size/bytesASecond)*time.Second))
}

func (s *Server) buffer() *[]byte { return s.buffers.Get().(*[]byte) }

func (s *Server) release(b *[]byte) {
	if cap(*b) <= maxPooled {
		s.buffers.Put(b)
	}
}
