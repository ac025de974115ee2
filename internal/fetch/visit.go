package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"sift.build/sift/internal/guard"
	"sift.build/sift/internal/sift"
)

// page is the answer to one request.
type page struct {
	status  int
	header  http.Header
	body    *Body  // nil where the status has none, and for redirects
	partial string // why body is not the whole; "": it is
	wire    int64
	http2   bool
	address string
}

func (p *page) close() { _ = p.body.Close() }

// keep says how much of a body is wanted.
type keep int64

// keepPage is the whole body within the configured limits, and the start of
// it for an error page. A positive number is that many bytes of any body.
const keepPage keep = 0

// callError is how a request ended without an answer.
type callError struct {
	progress
	bytes int64 // of the body that came
	cause error // what ended the context, where it was that
	err   error
}

func (e *callError) Error() string { return e.err.Error() }
func (e *callError) Unwrap() error { return e.err }

var (
	// errSlow is the cause of a context that ended for want of bytes.
	errSlow = errors.New("too few bytes a second")
	// errStatus is a status code outside HTTP.
	errStatus = errors.New("not a final status")
	// errEmpty is a body that ended before its first byte, which it should
	// have had.
	errEmpty = errors.New("the body ended before its first byte")
)

// visit makes one request, and a second one where the first died of a
// connection that the server closed too early or of a broken HTTP/2.
func (ch *chain) visit(ctx context.Context, u *guard.URL, header http.Header, k keep, retried *bool) (*page, error) {
	p, err := ch.call(ctx, ch.client.either, u, header, k)
	e, ok := errors.AsType[*callError](err)
	if !ok || *retried || !e.worthRetrying() {
		return p, err
	}
	*retried = true
	engine := ch.client.either
	if e.http2 {
		engine = ch.client.http1
	}
	return ch.call(ctx, engine, u, header, k)
}

// worthRetrying reports whether the same request may work on a new
// connection: this one was there, and nothing of a body has come over it.
func (e *callError) worthRetrying() bool {
	if e.cause != nil || e.bytes > 0 || timedOut(e.err) || headersTooLarge(e.err) || errors.Is(e.err, errStatus) {
		return false
	}
	switch {
	case e.http2:
		return true // whatever went wrong, HTTP/1.1 is another way
	case !e.connected:
		return false // the guard has tried every address
	}
	return !e.answered || cutOff(e.err)
}

// call makes one request. When it returns, everything it started has ended.
func (ch *chain) call(ctx context.Context, engine http.RoundTripper, u *guard.URL, header http.Header, k keep) (*page, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	traced, call := withCall(ctx, u.Scheme() == "https")
	req := (&http.Request{
		Method: http.MethodGet,
		URL:    u.HTTP(),
		Header: header.Clone(),
		// A restricted caller's connection is not kept: an idle one ties two
		// fetches together, and what a server sends over it unasked is
		// printed by net/http to the standard log.
		Close: ch.request.Restricted,
	}).WithContext(traced)
	fail := func(bytes int64, err error) error {
		e := &callError{progress: call.progress(), bytes: bytes, err: err}
		if ctx.Err() != nil {
			e.cause = context.Cause(ctx)
		}
		return e
	}
	resp, err := engine.RoundTrip(req)
	if err != nil {
		return nil, fail(0, err)
	}
	defer func() {
		cancel(nil) // first: Close may otherwise wait for the rest of the body
		_ = resp.Body.Close()
	}()
	p := &page{status: resp.StatusCode, header: resp.Header}
	at := call.progress()
	p.http2, p.address = at.http2, at.address
	switch {
	case p.status < 200 || p.status > 599:
		return nil, fail(0, fmt.Errorf("%w: %d", errStatus, p.status))
	case p.status/100 == 3:
		ch.discard(resp.Body, cancel)
		return p, nil
	case p.status == http.StatusNoContent || p.status == http.StatusResetContent:
		p.body = &Body{}
		return p, nil
	}
	call.enter(reading)
	if k == keepPage && p.status >= 400 {
		k = keep(ch.client.limits.errors)
	}
	w := &wire{r: resp.Body}
	stop := w.watch(ch.client.limits, cancel)
	err = ch.read(ctx, w, resp, u, k, p)
	stop()
	p.wire = w.n.Load()
	switch {
	case err == nil:
		ch.discard(resp.Body, cancel)
		return p, nil
	case k != keepPage && !callerGone(ctx):
		// Of an error page or robots.txt, what came is worth more than why
		// the rest did not.
		if p.partial = cutReason(w, resp, err); p.body == nil {
			p.body = &Body{}
		}
		return p, nil
	}
	p.close()
	if f, ok := errors.AsType[*sift.Failure](err); ok {
		return nil, f
	}
	return nil, fail(p.wire, err)
}

// callerGone reports whether ctx was cancelled from outside, rather than out
// of time.
func callerGone(ctx context.Context) bool {
	return errors.Is(ctx.Err(), context.Canceled) && !errors.Is(context.Cause(ctx), errSlow)
}

// discard reads the little that is left of a body, so that its connection can
// be used for the next hop. It is never decoded, and never waited for.
func (ch *chain) discard(body io.Reader, cancel context.CancelCauseFunc) {
	t := time.AfterFunc(ch.client.limits.leftoverTime, func() { cancel(nil) })
	defer t.Stop()
	_, _ = io.CopyN(io.Discard, body, ch.client.limits.leftoverBytes)
}

// read decodes the body into p. Its error is a *sift.Failure where the body
// is at fault, else what ended the transfer.
func (ch *chain) read(ctx context.Context, w *wire, resp *http.Response, u *guard.URL, k keep, p *page) error {
	c := ch.client
	mediaType := mediaTypeOf(resp.Header.Get("Content-Type"))
	b := &budget{max: c.cfg.MaxBytes}
	declared, err := codings(resp.Header.Values("Content-Encoding"))
	if err != nil {
		return codingFailure(err)
	}
	d, err := decode(&capped{r: w, budget: b}, declared, isCompressedFile(mediaType, u.HTTP().Path))
	s := &spool{memory: c.limits.memory, create: c.create}
	p.body = &s.body
	if err == nil {
		defer d.Close()
		var src io.Reader = d
		if k != keepPage {
			src = io.LimitReader(d, int64(k))
		}
		err = c.fill(s, src, b, mediaType, resp.ContentLength)
	}
	if err == nil {
		err = d.over()
	}
	if err == nil {
		if k != keepPage && s.body.size == int64(k) {
			p.partial = fmt.Sprintf("only its first %s were read", bytesText(int64(k)))
		}
		return nil
	}
	over, isOver := errors.AsType[*overError](err)
	_, isSpool := errors.AsType[*spoolError](err)
	switch {
	case isOver:
		head, err := s.body.head(sniffBytes)
		if err != nil {
			return spoolFailure(err)
		}
		decoded := over.decoded && d != nil && len(d.layers) > 1
		return tooLong(decoded, b, mediaType, head, resp.ContentLength)
	case isSpool:
		return spoolFailure(err)
	case ctx.Err() != nil:
		return err
	case w.err == nil && (s.body.size == 0 || refusedCoding(err)):
		return codingFailure(err)
	case s.body.size == 0:
		return fmt.Errorf("%w: %w", errEmpty, w.err)
	}
	p.partial = cutReason(w, resp, err)
	return nil
}

// sniffBytes is what is needed of a body to tell a PDF and the other kinds.
const sniffBytes = 1024

// fill moves a body into dst. Once its first bytes are there it knows which
// budget it has: a PDF gets a larger one.
func (c *Client) fill(dst *spool, src io.Reader, b *budget, mediaType string, length int64) error {
	buf := make([]byte, 32<<10)
	known := false
	for idle := 0; idle < 100; {
		n, err := src.Read(buf)
		if n > 0 {
			idle = 0
			if _, err := dst.Write(buf[:n]); err != nil {
				return err
			}
		} else if err == nil {
			idle++
		}
		if !known && (dst.body.size >= sniffBytes || err != nil) {
			known = true
			head, err := dst.body.head(sniffBytes)
			if err != nil {
				return &spoolError{err}
			}
			if isPDF(mediaType, head) {
				b.max, b.pdf = c.cfg.MaxPDFBytes, true
			} else if length > b.max && nothingToRead(mediaType, head) != "" {
				return &overError{} // a film: it will be refused, be it 10 MiB or all of it
			}
		}
		switch {
		case known && dst.body.size > b.max:
			return &overError{decoded: true}
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
	return io.ErrNoProgress
}

// wire is a body as it comes from the connection, its transfer coding undone.
type wire struct {
	r   io.Reader
	n   atomic.Int64
	err error // what ended it other than its end; from then on it gives nothing more
}

func (w *wire) Read(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	n, err := w.r.Read(p)
	w.n.Add(int64(n))
	if err != nil && err != io.EOF {
		w.err = err
	}
	return n, err
}

// watch ends the request when too little came for too long. It looks ten
// times in that time, so a stall is noticed soon after it is long enough.
func (w *wire) watch(l limits, cancel context.CancelCauseFunc) (stop func()) {
	const looks = 10
	var (
		mu      sync.Mutex
		stopped bool
		past    [looks]int64 // the counts at the latest looks, the oldest at i
		i, seen int
		timer   *time.Timer
	)
	mu.Lock()
	defer mu.Unlock()
	timer = time.AfterFunc(l.slowWindow/looks, func() {
		mu.Lock()
		defer mu.Unlock()
		if stopped {
			return
		}
		n := w.n.Load()
		seen++
		if seen >= looks && n-past[i] < l.slowBytes {
			cancel(errSlow)
			return
		}
		past[i] = n
		i = (i + 1) % looks
		timer.Reset(l.slowWindow / looks)
	})
	return func() {
		mu.Lock()
		defer mu.Unlock()
		stopped = true
		timer.Stop()
	}
}
