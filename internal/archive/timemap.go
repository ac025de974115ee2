package archive

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"time"

	"sift.build/sift/internal/fetch"
	"sift.build/sift/internal/sift"
)

// memento is a copy that a TimeMap lists.
type memento struct {
	url string
	at  time.Time
}

// timemapPage is another page of a TimeMap (RFC 7089, section 5.1).
type timemapPage struct {
	url         string
	from, until time.Time
}

// distance is how far a time is from the one that is wanted: the smaller, the
// better it suits.
func (s *search) distance(t time.Time) time.Duration {
	return t.Sub(s.around()).Abs()
}

// least is the smallest distance that a page may have to offer. Of one that
// does not say what it holds that is none.
func (s *search) least(p timemapPage) time.Duration {
	t := s.around()
	switch {
	case p.from.IsZero() && p.until.IsZero():
		return 0
	case !p.until.IsZero() && p.until.Before(t):
		return t.Sub(p.until)
	case !p.from.IsZero() && p.from.After(t):
		return p.from.Sub(t)
	}
	return 0
}

// mementos are the best of those listed, the best first.
type mementos struct {
	list []memento
}

// add puts a copy into its place. The list stays short, so a linear insertion
// costs little even when it is hit by every entry of a long TimeMap.
func (m *mementos) add(s *search, one memento) {
	at, found := slices.BinarySearchFunc(m.list, one, func(a, b memento) int {
		return cmp.Or(cmp.Compare(s.distance(a.at), s.distance(b.at)), b.at.Compare(a.at), cmp.Compare(a.url, b.url))
	})
	if found || at >= maxMementos {
		return
	}
	if len(m.list) == maxMementos {
		m.list = m.list[:maxMementos-1]
	}
	m.list = slices.Insert(m.list, at, one)
}

// askTimeMap reads the archive's list of copies and tries those that suit
// best. The list does not say what a copy's status is. Pages that are gone
// have been captured as such again and again, so the steps get longer: the
// best, the second, the third, the fifth, the ninth and so on.
func (s *search) askTimeMap(ctx context.Context) (*Copy, error) {
	at := s.timemap
	if at == "" {
		if s.doors.timemap == nil {
			return nil, nil
		}
		at = s.doors.timemap.of(s.page)
	}
	var best mementos
	pages := []timemapPage{{url: at}}
	seen := map[string]bool{}
	for read := 0; read < maxTimeMaps && len(pages) > 0; {
		p := pages[0]
		pages = pages[1:]
		if seen[p.url] {
			continue
		}
		seen[p.url] = true
		if len(best.list) > 0 && s.least(p) > s.distance(best.list[0].at) {
			break // they are in order: none of them has a better one
		}
		read++
		more, err := s.readTimeMap(ctx, p.url, &best)
		if _, stopped := errors.AsType[*stop](err); stopped {
			return nil, err
		}
		s.note(err)
		pages = append(pages, more...)
		s.sortPages(pages)
	}
	for i, step := 0, 1; i < len(best.list); i += step {
		found, err := s.takeURL(ctx, best.list[i].url)
		if _, stopped := errors.AsType[*stop](err); stopped || err == nil {
			return found, err
		}
		s.note(err)
		if i >= 2 {
			step *= 2
		}
		if last := len(best.list) - 1; i < last {
			step = min(step, last-i)
		}
	}
	return nil, nil
}

// readTimeMap reads one document of a TimeMap into best, and gives the other
// pages that it names.
func (s *search) readTimeMap(ctx context.Context, at string, best *mementos) (pages []timemapPage, err error) {
	c := s.client
	resp, err := s.get(ctx, at, time.Time{})
	if err != nil {
		return nil, err
	}
	defer s.close(resp)
	switch {
	case resp.Status == http.StatusNotFound || resp.Status == http.StatusGone:
		return nil, nil // it lists nothing, or is not there
	case resp.Status/100 != 2:
		f := c.fail(statusCode(resp.Status), "answered %d for its list of copies", resp.Status).WithHint(sift.HintRetry)
		f.Status, f.RetryAfter = resp.Status, resp.RetryAfter
		return nil, f
	case isHTML(resp):
		return nil, c.fail(sift.CodeUnreachable, "answered with a web page where a list of copies was due")
	}
	return s.parseTimeMap(resp, resp.Body.Reader(), best)
}

// parseTimeMap takes up the entries of a TimeMap as they come. Of one over
// the bound it has what is within.
func (s *search) parseTimeMap(resp *fetch.Response, body io.Reader, best *mementos) (pages []timemapPage, err error) {
	c := s.client
	read, broken := 0, 0
	list := readLinks(io.LimitReader(body, maxTimeMap))
	for {
		l, err := list.next()
		switch {
		case err == io.EOF && read == 0 && broken > 0:
			return nil, c.fail(sift.CodeUnreachable, "answered with a list of copies that is not application/link-format")
		case err == io.EOF:
			return pages, nil
		case err == errLink:
			broken++
			continue
		case err != nil:
			return nil, &stop{sift.AsFailure(err)}
		}
		read++
		switch {
		case l.is("original"):
			if !samePage(l.uri, s.page) {
				return nil, c.fail(sift.CodeUnreachable, "answered with the list of copies of another page")
			}
		case l.is("memento"):
			s.list(resp, l, best)
		case l.is("timemap") && !l.is("self") && l.isList():
			pages = s.addPage(pages, timemapPage{url: s.resolve(resp, l.uri), from: l.from, until: l.until})
		}
	}
}

// addPage takes up another page of a TimeMap. No more than maxTimeMaps are
// read, so of a long list the best of each part will do.
func (s *search) addPage(pages []timemapPage, p timemapPage) []timemapPage {
	switch {
	case p.url == "":
		return pages
	case !p.until.IsZero() && p.until.Before(s.want.NotBefore):
		s.tooOld(p.until)
		return pages
	case len(pages) >= maxMementos:
		s.sortPages(pages)
		pages = pages[:maxTimeMaps]
	}
	return append(pages, p)
}

// sortPages puts first what may suit best, and keeps the order of the rest.
func (s *search) sortPages(pages []timemapPage) {
	slices.SortStableFunc(pages, func(a, b timemapPage) int { return cmp.Compare(s.least(a), s.least(b)) })
}

// list takes up one entry of a TimeMap.
func (s *search) list(resp *fetch.Response, l link, best *mementos) {
	u := s.resolve(resp, l.uri)
	w, isWayback := parseWayback(u)
	if l.datetime.IsZero() && isWayback {
		l.datetime = w.time()
	}
	switch {
	case u == "" || l.datetime.IsZero() || s.possible(l.datetime) != nil:
	case isWayback && !samePage(w.original, s.page):
	case l.datetime.Before(s.want.NotBefore):
		s.tooOld(l.datetime)
	default:
		best.add(s, memento{url: u, at: l.datetime})
	}
}
