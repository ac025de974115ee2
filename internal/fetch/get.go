package fetch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"sift.build/sift/internal/guard"
	"sift.build/sift/internal/sift"
)

// Request is what to get.
type Request struct {
	URL *guard.URL

	// ETag and LastModified make the request conditional. They go with the
	// first request only: after a redirect they would speak of another page.
	ETag, LastModified string

	// AcceptDatetime asks an archive for the copy of about this time (RFC 7089,
	// section 2.1.1). It goes with every hop; zero: it is not sent.
	AcceptDatetime time.Time

	Restricted bool          // no address and no cause in errors, no address in the Response
	Timeout    time.Duration // of the whole Get; zero, or above the configured one: that

	// OnHost, where set, is called before the first request and before a
	// redirect leads to another host. Its error ends the Get as it is.
	OnHost func(ctx context.Context, host string) error
}

// Response is what came. Its Body must be closed.
type Response struct {
	FinalURL *guard.URL
	Status   int // 200 to 299, or 400 to 599; 304 with NotModified

	// NotModified answers a conditional request: what the caller has is
	// still current. There is no Body.
	NotModified bool

	// Headers as the server sent them, without what does not print and cut
	// to a sane length. Validators that could not be sent back are left out.
	ContentType, ContentLanguage string
	ETag, LastModified           string
	CacheControl                 string
	RetryAfter                   time.Duration

	// Memento says that this is an archived copy, and of when
	// (Memento-Datetime; UTC). Zero: it does not say so.
	Memento time.Time
	// Link is the Link header, its values joined by ", ". Of one over 8 KiB
	// the links at its end are left out.
	Link string

	Body *Body // after content decoding; of a status of 400 and more at most 64 KiB

	// Partial says that Body is not the whole, and PartialReason why, in a
	// sentence that can follow “only part of the page arrived: ”.
	Partial       bool
	PartialReason string

	Hops      []sift.Hop // redirects that were followed
	Protocol  string     // http/1.1 or h2
	Address   string     // of the socket, without port; "" for a restricted caller
	WireBytes int64      // of the body, before content decoding
}

const (
	accept         = "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, */*;q=0.8"
	acceptEncoding = "gzip, deflate, br, zstd"
)

// errDeadline is the cause of a context that ended with the Get's own time.
var errDeadline = errors.New("the time for the whole fetch is up")

// Get fetches a URL and what it redirects to. A status of 400 and more is a
// Response, not an error: the caller knows what to make of it. The error is a
// *sift.Failure, except for one of OnHost.
func (c *Client) Get(ctx context.Context, r Request) (*Response, error) {
	limit := c.cfg.Timeout
	if r.Timeout > 0 {
		limit = min(limit, r.Timeout)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errDeadline)
	defer cancel()
	ch := &chain{client: c, request: r, limit: limit}
	resp, err := ch.follow(ctx)
	if err == nil {
		return resp, nil
	}
	if e, ok := errors.AsType[*hostError](err); ok {
		return nil, e.err
	}
	f := sift.AsFailure(err)
	if r.Restricted {
		// Causes name hosts and addresses.
		f = f.WithCause(nil)
	}
	return nil, f
}

// hostError is an error of Request.OnHost.
type hostError struct{ err error }

func (e *hostError) Error() string { return e.err.Error() }

// chain is one Get: a chain of requests, each to where the one before it
// redirected.
type chain struct {
	client  *Client
	request Request
	limit   time.Duration // of all of it

	cookies cookies
	hops    []sift.Hop
	robots  map[string]*robotsRules // by origin; what this chain has read
	retried bool
}

// follow goes from hop to hop. Its error is a *sift.Failure or a *hostError.
func (ch *chain) follow(ctx context.Context) (*Response, error) {
	at := ch.request.URL
	seen := map[string]bool{}
	for host := ""; ; {
		if at.Host() != host {
			host = at.Host()
			if f := ch.request.OnHost; f != nil {
				if err := f(ctx, host); err != nil {
					return nil, &hostError{err}
				}
			}
		}
		if err := ch.askRobots(ctx, at); err != nil {
			return nil, err
		}
		before := ch.cookies.header(at.HTTP())
		seen[at.String()+"\n"+before] = true
		header, conditional := ch.header(before)
		p, err := ch.visit(ctx, at, header, keepPage, &ch.retried)
		if err != nil {
			return nil, ch.failure(at, err)
		}
		if err := ch.cookies.set(at.HTTP(), p.header); err != nil {
			p.close()
			return nil, err
		}
		to, err := ch.next(at, p, before)
		switch {
		case err != nil:
			p.close()
			return nil, err
		case to == nil:
			resp, err := ch.response(at, p, conditional)
			if err != nil {
				p.close()
				return nil, err
			}
			return resp, nil
		}
		p.close()
		if len(ch.hops) >= ch.client.cfg.MaxRedirects {
			return nil, ch.tooMany(at, to, seen[to.String()+"\n"+ch.cookies.header(to.HTTP())])
		}
		ch.hops = append(ch.hops, sift.Hop{URL: at.String(), Status: p.status})
		at = to
	}
}

// header makes a request's header; conditional says that it asks for a 304.
func (ch *chain) header(cookie string) (h http.Header, conditional bool) {
	h = http.Header{
		"User-Agent":      {ch.client.cfg.UserAgent},
		"Accept":          {accept},
		"Accept-Encoding": {acceptEncoding},
	}
	if cookie != "" {
		h.Set("Cookie", cookie)
	}
	if t := ch.request.AcceptDatetime; !t.IsZero() {
		h.Set("Accept-Datetime", t.UTC().Format(http.TimeFormat))
	}
	if len(ch.hops) > 0 {
		return h, false
	}
	if v := validator(ch.request.ETag); v != "" {
		h.Set("If-None-Match", v)
		conditional = true
	}
	if v := validator(ch.request.LastModified); v != "" {
		h.Set("If-Modified-Since", v)
		conditional = true
	}
	return h, conditional
}

// next says where a page sends its reader; nil: nowhere, it is the page. The
// cookies of the page have been taken already, before is what they were.
func (ch *chain) next(at *guard.URL, p *page, before string) (*guard.URL, error) {
	switch p.status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		location := strings.TrimSpace(p.header.Get("Location"))
		if location == "" {
			return nil, sift.Fail(sift.CodeUnreachable, "the server answered %d, a redirect, but did not say where to", p.status)
		}
		return ch.reference(at, location)
	}
	if p.status/100 != 2 || p.body == nil {
		return nil, nil
	}
	if p.header.Get("Memento-Datetime") != "" {
		// An archived page is what it was. Its refresh would lead to the page
		// of today, where it is not to another copy.
		return nil, nil
	}
	r, base, ok := refresh{}, "", false
	if v := p.header.Get("Refresh"); v != "" {
		r, ok = parseRefresh(v)
	}
	if !ok {
		head, err := p.body.head(refreshScan)
		if err != nil {
			return nil, err
		}
		if contentType := p.header.Get("Content-Type"); isHTML(mediaTypeOf(contentType), head) {
			r, base, ok = metaRefresh(head, contentType)
		}
	}
	if !ok || r.delay > refreshDelay {
		return nil, nil
	}
	from := at
	if base != "" {
		// A base that is itself not allowed counts for nothing, as the HTML
		// standard has it for one that cannot be parsed.
		if u, err := ch.client.cfg.Guard.CheckReference(at, base); err == nil {
			from = u
		}
	}
	if r.url == "" {
		from = at // the page itself, whatever its base
	}
	if _, ok := cutPrefixFold(strings.TrimLeft(r.url, htmlSpace), "javascript:"); ok {
		return nil, nil // the standard has it ignored
	}
	to, err := ch.reference(from, r.url)
	if err != nil {
		return nil, err
	}
	if to.String() == at.String() && ch.cookies.header(to.HTTP()) == before {
		return nil, nil // a page that reloads itself is what it is
	}
	return to, nil
}

// reference takes a redirect through the guard's pre-check.
func (ch *chain) reference(at *guard.URL, ref string) (*guard.URL, error) {
	to, err := ch.client.cfg.Guard.CheckReference(at, ref)
	if err == nil {
		return to, nil
	}
	if ch.request.Restricted {
		// The guard's sentence quotes what the server wrote.
		return nil, sift.Fail(sift.CodeBlocked, "the page redirects to a URL that is not allowed")
	}
	f := *sift.AsFailure(err)
	f.Message = "redirect to a URL that is not allowed: " + f.Message
	return nil, &f
}

// tooMany is the failure for a redirect at at that is one too many.
func (ch *chain) tooMany(at, to *guard.URL, loop bool) *sift.Failure {
	text := "too many redirects"
	if loop {
		text += " (they run in a loop)"
	}
	text += fmt.Sprintf(": %d followed", len(ch.hops))
	if !ch.request.Restricted {
		text += fmt.Sprintf(", and %s redirects again, to %s", at, to)
	}
	return sift.Fail(sift.CodeUnreachable, "%s", text).WithHint(sift.HintBrowser)
}

// response makes the answer of a page that redirects nowhere.
func (ch *chain) response(at *guard.URL, p *page, conditional bool) (*Response, error) {
	resp := &Response{
		FinalURL:        at,
		Status:          p.status,
		ContentType:     clip(p.header.Get("Content-Type"), 256),
		ContentLanguage: clip(p.header.Get("Content-Language"), 64),
		CacheControl:    clip(strings.Join(p.header.Values("Cache-Control"), ", "), 1024),
		ETag:            validator(p.header.Get("ETag")),
		LastModified:    validator(p.header.Get("Last-Modified")),
		RetryAfter:      retryAfter(p.header.Get("Retry-After"), ch.client.now()),
		Memento:         memento(p.header.Get("Memento-Datetime")),
		Link:            links(p.header.Values("Link")),
		Body:            p.body,
		Partial:         p.partial != "",
		PartialReason:   p.partial,
		Hops:            ch.hops,
		Protocol:        "http/1.1",
		WireBytes:       p.wire,
	}
	if p.http2 {
		resp.Protocol = "h2"
	}
	if !ch.request.Restricted {
		resp.Address = p.address
	}
	switch {
	case p.status == http.StatusNotModified && conditional:
		resp.NotModified, resp.Body = true, nil
	case p.status == http.StatusNotModified:
		return nil, sift.Fail(sift.CodeUnreachable, "the server answered 304 (not modified) to a request that had no condition; there is no page in that answer").WithHint(sift.HintRetry)
	case p.status/100 == 3:
		return nil, sift.Fail(sift.CodeUnreachable, "the server answered %d, which is neither a page nor a redirect that can be followed", p.status)
	case p.status == http.StatusPartialContent && resp.PartialReason == "":
		resp.Partial, resp.PartialReason = true, "the server sent a part (206) although the whole was asked for"
	}
	return resp, nil
}

// validator lets an ETag or date pass that can be sent back byte for byte;
// any other is as good as none.
func validator(s string) string {
	if len(s) > 1024 || clip(s, len(s)) != s || strings.Contains(s, "\t") {
		return ""
	}
	return s
}

// memento reads a Memento-Datetime; one that is no date is as good as none.
func memento(s string) time.Time {
	t, err := http.ParseTime(strings.TrimSpace(s))
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}

// maxLink bounds the Link header that is handed on.
const maxLink = 8 << 10

// links joins the values of a Link header. What is too long is cut between
// two links: half a link would be a wrong one.
func links(values []string) string {
	s := strings.Join(values, ", ")
	if s = clip(s, 3*len(s)); len(s) <= maxLink {
		return s
	}
	end, inURI, quoted := 0, false, false
	for i := 0; i <= maxLink; i++ {
		switch c := s[i]; {
		case inURI:
			inURI = c != '>'
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '<':
			inURI = true
		case c == ',':
			end = i
		}
	}
	return strings.TrimSpace(s[:end])
}

// retryAfter reads a Retry-After: seconds or a date.
func retryAfter(s string, now time.Time) time.Duration {
	const most = 100 * 365 * 24 * time.Hour
	s = strings.TrimSpace(s)
	if t, err := http.ParseTime(s); err == nil {
		return min(max(t.Sub(now), 0), most)
	}
	if s == "" || strings.Trim(s, "0123456789") != "" {
		return 0
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n > int64(most/time.Second) {
		return most
	}
	return time.Duration(n) * time.Second
}
