package archive

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"sift.build/sift/internal/fetch"
	"sift.build/sift/internal/sift"
)

// Find gets the copy of a page that suits best. The page's URL should be in
// the form in which it would be fetched; its fragment is not sent.
//
// It asks the TimeGate, the availability interface and the TimeMap in this
// order, as far as the archive has them, until one leads to a copy. The error
// is an ErrNone or a *sift.Failure.
func (c *Client) Find(ctx context.Context, page string, q Wanted) (*Copy, error) {
	target, fragment, hasFragment := strings.Cut(page, "#")
	s := &search{client: c, doors: c.doors, page: target, want: q, now: c.now(), tried: map[string]error{}}
	found, err := s.run(ctx)
	if d := c.doors.otherwise; d != nil && s.knowsNothing(err) {
		// Nothing there spoke like the Wayback Machine. The bounds hold for both.
		s.doors, s.timemap = *d, ""
		found, err = s.run(ctx)
	}
	if err != nil {
		return nil, err
	}
	if hasFragment {
		base, _, _ := strings.Cut(found.Original, "#")
		found.Original = base + "#" + fragment
	}
	return found, nil
}

// search is one Find.
type search struct {
	client *Client
	doors  doors  // the client's, or otherwise of them
	page   string // without fragment
	want   Wanted
	now    time.Time

	requests int
	tried    map[string]error // by the URL of a copy
	timemap  string           // as the TimeGate names it

	// What was learned without finding a copy.
	failure *sift.Failure // the first thing that went wrong
	old     time.Time     // the newest copy that is too old
	spoke   bool          // the availability interface is there
	spoiled bool          // there are captures, of errors, redirects or another page
}

// Why a copy, or an answer in the place of one, will not do.
var (
	errNotHeld = errors.New("not held")                            // the archive has none, or not this one
	errSpoiled = errors.New("a capture of an error or of nothing") // or of another page
	errOld     = errors.New("too old")
)

// stop is an error that ends the search: asking on would be of no use, or is
// not wanted.
type stop struct{ err error }

func (e *stop) Error() string { return e.err.Error() }
func (e *stop) Unwrap() error { return e.err }

func (s *search) run(ctx context.Context) (*Copy, error) {
	ways := []func(context.Context) (*Copy, error){s.askTimeGate, s.askAvailability, s.askTimeMap}
	for _, way := range ways {
		found, err := way(ctx)
		if err == nil && found != nil {
			return found, nil
		}
		if e, ok := errors.AsType[*stop](err); ok {
			return nil, e.err
		}
		if errors.Is(err, ErrNone) {
			return nil, err
		}
		s.note(err)
	}
	return nil, s.conclusion()
}

// knowsNothing says that the archive was asked and has said nothing of the page at
// all, which an archive of another layout does too.
func (s *search) knowsNothing(err error) bool {
	return errors.Is(err, ErrNone) && s.failure == nil && !s.spoiled && s.old.IsZero() && len(s.tried) == 0 && !s.spoke
}

// note remembers why something did not lead to a copy.
func (s *search) note(err error) {
	if f, ok := errors.AsType[*sift.Failure](err); ok && s.failure == nil {
		s.failure = f
	}
	if errors.Is(err, errSpoiled) {
		s.spoiled = true
	}
}

// conclusion is what a search that found nothing has to say. What went wrong
// comes first: behind it there may be a copy.
func (s *search) conclusion() error {
	host := s.doors.host
	switch {
	case s.failure != nil:
		return s.failure
	case !s.old.IsZero():
		return &miss{fmt.Sprintf("the archive %s has no copy of it from %s on; one of %s would be too old",
			host, s.want.NotBefore.UTC().Format(time.DateOnly), s.old.Format(time.DateOnly))}
	case s.spoiled:
		return &miss{fmt.Sprintf("the archive %s has only captures of errors, of redirects or of other pages in its place", host)}
	}
	return &miss{fmt.Sprintf("the archive %s has no copy of it", host)}
}

// around is the time of the copy that is wanted.
func (s *search) around() time.Time {
	if s.want.Around.IsZero() {
		return s.now
	}
	return s.want.Around
}

// get makes one request to the archive. Its errors are *stop or *sift.Failure.
func (s *search) get(ctx context.Context, raw string, accept time.Time) (*fetch.Response, error) {
	c := s.client
	if s.requests >= maxRequests {
		if s.failure == nil && !s.spoiled {
			return nil, &stop{c.fail(sift.CodeUnreachable, "led to no copy in %d requests", maxRequests)}
		}
		return nil, &stop{s.conclusion()}
	}
	if d := c.holds(raw); d > 0 {
		f := c.fail(sift.CodeUpstream4xx, "asked to be left alone for another %s", seconds(d)).WithHint(sift.HintRetry)
		f.Status, f.RetryAfter = http.StatusTooManyRequests, d
		return nil, &stop{f}
	}
	s.requests++
	resp, err := c.get(ctx, raw, accept)
	if err != nil {
		return nil, s.unanswered(ctx, err)
	}
	memento := !resp.Memento.IsZero() // then its status is the page's, not the archive's
	limited := resp.Status == http.StatusTooManyRequests || resp.Status == http.StatusServiceUnavailable && resp.RetryAfter > 0
	if limited && !memento {
		s.close(resp)
		d := c.hold(resp.FinalURL.Host(), resp.RetryAfter)
		f := c.fail(statusCode(resp.Status), "answered %d and asked to be left alone for %s", resp.Status, seconds(d)).WithHint(sift.HintRetry)
		f.Status, f.RetryAfter = resp.Status, d
		return nil, &stop{f}
	}
	return resp, nil
}

// unanswered is an error of the Getter as one of ours.
func (s *search) unanswered(ctx context.Context, err error) error {
	f := *sift.AsFailure(err)
	switch {
	case ctx.Err() != nil, f.Code == sift.CodeCancel, f.Code == sift.CodeBusy, f.Code == sift.CodeInternal, f.Code == sift.CodeBlocked:
		// The caller's time is up, or it is we who cannot go on. Where the
		// guard refused, the archive led out of what may be reached.
		if f.Code == sift.CodeBlocked {
			f.Message = "the archive " + s.doors.host + " is not reached, or leads on to what is not: " + f.Message
		}
		return &stop{&f}
	}
	f.Message = "the archive " + s.doors.host + " could not be asked: " + f.Message
	return &f
}

func (s *search) close(r *fetch.Response) { _ = r.Body.Close() }

func statusCode(status int) sift.Code {
	if status >= 500 {
		return sift.CodeUpstream5xx
	}
	return sift.CodeUpstream4xx
}

// seconds writes a duration as a person would count it.
func seconds(d time.Duration) string {
	return d.Round(time.Second).String()
}

// askTimeGate asks for the copy of a time (RFC 7089, section 4.2).
func (s *search) askTimeGate(ctx context.Context) (*Copy, error) {
	gate := s.doors.timegate
	if gate == nil {
		return nil, nil
	}
	resp, err := s.get(ctx, gate.of(s.page), s.around())
	if err != nil {
		return nil, err
	}
	s.timemap = s.timemapIn(resp)
	found, err := s.take(ctx, resp)
	switch {
	case errors.Is(err, errOld) && s.want.Around.IsZero():
		return nil, s.conclusion() // its newest is too old: so are all
	case errors.Is(err, errNotHeld) && s.doors.availability == "":
		// A TimeGate of nothing says 404. Of a root it is not known yet
		// whether a TimeGate is there at all.
		return nil, s.conclusion()
	}
	return found, err
}

// timemapIn is the TimeMap that a response names, if it speaks of this page.
func (s *search) timemapIn(resp *fetch.Response) string {
	named := ""
	for _, l := range headerLinks(resp.Link) {
		switch {
		case l.is("original") && !samePage(l.uri, s.page):
			return ""
		case l.is("timemap") && l.isList() && named == "":
			named = s.resolve(resp, l.uri)
		}
	}
	return named
}

// take makes a Copy of a response, or of the same copy as it was captured.
// It closes the response if it is not in the Copy.
func (s *search) take(ctx context.Context, resp *fetch.Response) (*Copy, error) {
	at := s.ownURL(resp)
	first, err := s.judge(resp, at)
	if err != nil {
		s.close(resp)
		return nil, err
	}
	w, isWayback := parseWayback(at)
	if !isWayback || w.isRaw() {
		return first, nil
	}
	found, err := s.choose(ctx, w.raw(), func() (*Copy, error) { return first, nil })
	if found != first {
		s.close(resp)
	}
	return found, err
}

// takeURL gets one copy, as it was captured where the archive has that.
func (s *search) takeURL(ctx context.Context, at string) (*Copy, error) {
	plain := func() (*Copy, error) { return s.fetchOne(ctx, at) }
	if w, ok := parseWayback(at); ok && !w.isRaw() {
		return s.choose(ctx, w.raw(), plain)
	}
	return plain()
}

// choose gets the raw form of a copy, or the plain one where there is no raw
// form. The difficulty is in archives that answer 200 for what they do not
// have: only Memento-Datetime tells a copy from a page about copies. In a
// plain form without it that is most often the archive's word on the capture
// of a redirect; in a raw one, a search page of an archive that knows no raw
// forms.
func (s *search) choose(ctx context.Context, rawURL string, plain func() (*Copy, error)) (*Copy, error) {
	raw, rawErr := s.fetchOne(ctx, rawURL)
	if rawErr == nil && raw.dated() || rawErr != nil && isVerdict(rawErr) {
		return raw, rawErr
	}
	other, err := plain()
	switch {
	case rawErr == nil && (err == nil && other.dated() || errors.Is(err, errSpoiled)):
		s.close(raw.Response)
		return other, err
	case rawErr == nil:
		if err == nil {
			s.close(other.Response)
		}
		return raw, nil
	case err == nil && !other.dated() && !errors.Is(rawErr, errNotHeld):
		s.close(other.Response)
		return nil, rawErr
	}
	return other, err
}

// dated reports whether the copy says itself when it was captured.
func (c *Copy) dated() bool { return !c.Response.Memento.IsZero() }

// isVerdict reports whether what was wrong with the raw form is wrong with the
// copy itself, or ends the search.
func isVerdict(err error) bool {
	_, stopped := errors.AsType[*stop](err)
	return stopped || errors.Is(err, errSpoiled) || errors.Is(err, errOld)
}

// fetchOne gets one form of one copy. What was wrong with it is not asked for
// twice.
func (s *search) fetchOne(ctx context.Context, at string) (*Copy, error) {
	if err, ok := s.tried[at]; ok {
		return nil, err
	}
	resp, err := s.get(ctx, at, time.Time{})
	var found *Copy
	if err == nil {
		if found, err = s.judge(resp, s.ownURL(resp)); err != nil {
			s.close(resp)
		}
		if _, ok := parseWayback(resp.FinalURL.String()); errors.Is(err, errNotHeld) && !ok && len(resp.Hops) > 0 {
			// The copy is there and leads out of the archive, to what is not.
			err = s.client.fail(sift.CodeUnreachable, "leads from a copy to a page that is not there")
		}
	}
	s.tried[at] = err
	return found, err
}

// ownURL is the URL of the copy in a response. A TimeGate may answer with the
// copy itself (RFC 7089, section 4.2); its links then say which it is.
func (s *search) ownURL(resp *fetch.Response) string {
	at := resp.FinalURL.String()
	if _, ok := parseWayback(at); ok || resp.Memento.IsZero() {
		return at
	}
	for _, l := range headerLinks(resp.Link) {
		if l.is("memento") && l.datetime.Equal(resp.Memento) {
			if u := s.resolve(resp, l.uri); u != "" {
				return u
			}
		}
	}
	return at
}

// resolve makes a link of a response absolute; "" where that is not possible.
func (s *search) resolve(resp *fetch.Response, ref string) string {
	if strings.HasPrefix(ref, "http://") || strings.HasPrefix(ref, "https://") {
		return s.doors.secure(ref) // to the letter: the page's URL is in it
	}
	u, err := resp.FinalURL.HTTP().Parse(ref)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return u.String()
}

// judge says whether a response is a copy that will do.
func (s *search) judge(resp *fetch.Response, at string) (*Copy, error) {
	c := s.client
	w, isWayback := parseWayback(at)
	memento := !resp.Memento.IsZero()
	switch {
	case isWayback && !samePage(w.original, s.page):
		return nil, errSpoiled // a redirect that was captured, to what is or is not there
	case resp.Status >= 400 && memento:
		return nil, errSpoiled // the page answered so when it was captured
	case resp.Status == http.StatusNotFound || resp.Status == http.StatusGone || resp.Status == http.StatusNotAcceptable:
		return nil, errNotHeld
	case resp.Status >= 400:
		f := c.fail(statusCode(resp.Status), "answered %d", resp.Status).WithHint(sift.HintRetry)
		f.Status, f.RetryAfter = resp.Status, resp.RetryAfter
		return nil, f
	case !memento && (!isWayback || w.time().IsZero()):
		return nil, c.fail(sift.CodeUnreachable, "answered with a page that is no copy: nothing says when it was captured")
	}
	captured := resp.Memento
	if !memento {
		captured = w.time()
	}
	if isWayback && !w.time().IsZero() && captured.Sub(w.time()).Abs() > 24*time.Hour {
		return nil, c.fail(sift.CodeUnreachable, "says two dates of one copy: %s and %s", captured.Format(time.DateOnly), w.time().Format(time.DateOnly))
	}
	if err := s.possible(captured); err != nil {
		return nil, err
	}
	original := w.original
	for _, l := range headerLinks(resp.Link) {
		if l.is("original") {
			if original = l.uri; !samePage(original, s.page) {
				return nil, errSpoiled
			}
			break
		}
	}
	if u, err := url.Parse(original); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		original = s.page
	}
	if resp.Body.Size() == 0 {
		return nil, errSpoiled
	}
	if captured.Before(s.want.NotBefore) {
		s.tooOld(captured)
		return nil, errOld
	}
	host := resp.FinalURL.Host()
	return &Copy{Response: resp, URL: at, Original: original, CapturedAt: captured, Archive: host}, nil
}

// tooOld remembers the newest of the copies that are too old.
func (s *search) tooOld(t time.Time) {
	if t.After(s.old) {
		s.old = t
	}
}

// possible refuses dates at which nothing was captured: those to come, and
// those before there was a web.
func (s *search) possible(t time.Time) error {
	if t.Year() < 1991 || t.After(s.now.Add(24*time.Hour)) {
		return s.client.fail(sift.CodeUnreachable, "says that a copy is of %s, which cannot be", t.Format(time.DateOnly))
	}
	return nil
}
