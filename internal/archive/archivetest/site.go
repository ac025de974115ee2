package archivetest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// route tells the doors apart. number is the page of a TimeMap or the date of
// a copy.
func route(target string) (door Door, page string, number int64, raw bool) {
	if _, query, ok := strings.Cut(target, "/wayback/available?"); ok {
		q, err := url.ParseQuery(query)
		if err != nil {
			return "", "", 0, false
		}
		return Availability, q.Get("url"), 0, false
	}
	for _, prefix := range []string{"/web/timemap/link/", "/timemap/link/"} {
		if rest, ok := strings.CutPrefix(target, prefix); ok {
			if first, after, ok := strings.Cut(rest, "/"); ok {
				if n, err := strconv.Atoi(first); err == nil {
					return TimeMap, after, int64(n), false
				}
			}
			return TimeMap, rest, 0, false
		}
	}
	if rest, ok := strings.CutPrefix(target, "/timegate/"); ok {
		return TimeGate, rest, 0, false
	}
	rest, ok := strings.CutPrefix(target, "/web/")
	if !ok {
		return "", "", 0, false
	}
	first, after, _ := strings.Cut(rest, "/")
	date, raw := strings.CutSuffix(first, "id_")
	if n, err := strconv.ParseInt(date, 10, 64); err == nil && len(date) == len(stamp) {
		if raw {
			return Raw, after, n, true
		}
		return Memento, after, n, false
	}
	return TimeGate, rest, 0, false
}

// site answers one request.
type site struct {
	w        http.ResponseWriter
	r        *http.Request
	b        Behaviour
	root     string
	page     string
	captures []Capture
}

func (s *site) fault(f Fault, target string) {
	if f.Hang {
		<-s.r.Context().Done()
		return
	}
	if f.Loop {
		base, n, _ := strings.Cut(target, "#")
		if i := strings.LastIndex(base, "&loop="); i >= 0 {
			base, n = base[:i], base[i+len("&loop="):]
		}
		count, _ := strconv.Atoi(n)
		s.w.Header().Set("Location", fmt.Sprintf("%s%s&loop=%d", s.root, base, (count+1)%3))
		s.w.WriteHeader(http.StatusFound)
		return
	}
	s.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	maps.Copy(s.w.Header(), f.Header)
	if f.Status != 0 {
		s.w.WriteHeader(f.Status)
	}
	_, _ = s.w.Write([]byte(f.Body))
}

func (s *site) notFound() {
	s.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	s.w.WriteHeader(http.StatusNotFound)
	_, _ = s.w.Write([]byte("<!DOCTYPE html><title>Not archived</title><p>The archive has not archived that URL."))
}

// nearest is the capture nearest to a time, which is zero for the newest.
func (s *site) nearest(t time.Time) (Capture, bool) {
	var best Capture
	for i, c := range s.captures {
		if i == 0 || t.IsZero() || c.At.Sub(t).Abs() <= best.At.Sub(t).Abs() {
			best = c
		}
	}
	return best, len(s.captures) > 0
}

func (s *site) copyURL(c Capture) string { return s.root + CopyURL(c.URL, c.At) }

// links is the Link header of RFC 7089, section 2.2.
func (s *site) links(c Capture) string {
	links := []string{
		fmt.Sprintf("<%s>; rel=\"original\"", c.URL),
		fmt.Sprintf("<%s/web/timemap/link/%s>; rel=\"timemap\"; type=\"application/link-format\"", s.root, c.URL),
		fmt.Sprintf("<%s/web/%s>; rel=\"timegate\"", s.root, c.URL),
	}
	for i, other := range s.captures {
		var rel []string
		if i == 0 {
			rel = append(rel, "first")
		}
		if i == len(s.captures)-1 {
			rel = append(rel, "last")
		}
		if len(rel) > 0 || other.At.Equal(c.At) {
			links = append(links, entry(s, other, strings.Join(append(rel, "memento"), " ")))
		}
	}
	return strings.Join(links, ", ")
}

func entry(s *site, c Capture, rel string) string {
	return fmt.Sprintf("<%s>; rel=\"%s\"; datetime=\"%s\"", s.copyURL(c), rel, c.At.Format(http.TimeFormat))
}

// timegate is RFC 7089, section 4.2: a redirect to the copy of a time, which
// varies with it.
func (s *site) timegate() {
	var at time.Time
	if v := s.r.Header.Get("Accept-Datetime"); v != "" {
		t, err := http.ParseTime(v)
		if err != nil {
			s.w.WriteHeader(http.StatusBadRequest) // section 4.5.3
			return
		}
		at = t
	}
	c, ok := s.nearest(at)
	if !ok {
		s.notFound()
		return
	}
	s.w.Header().Set("Vary", "accept-datetime")
	if s.b.Direct {
		s.w.Header().Set("Content-Location", s.copyURL(c))
		s.show(c, false)
		return
	}
	s.w.Header().Set("Link", s.links(c))
	s.w.Header().Set("Location", s.copyURL(c))
	s.w.WriteHeader(http.StatusFound)
}

// memento shows a copy, or redirects to the one nearest to a date.
func (s *site) memento(date string, raw bool) {
	at, err := time.Parse(stamp, date)
	c, ok := s.nearest(at)
	if err != nil || !ok {
		s.notFound()
		return
	}
	if !c.At.Equal(at) || c.URL != s.page {
		s.w.Header().Set("Location", s.flagged(c, raw))
		s.w.WriteHeader(http.StatusFound)
		return
	}
	s.show(c, raw)
}

func (s *site) flagged(c Capture, raw bool) string {
	if !raw {
		return s.copyURL(c)
	}
	return s.root + "/web/" + c.At.Format(stamp) + "id_/" + c.URL
}

// show sends a capture. That of a redirect is one again in its raw form; to a
// reader the Internet Archive shows a page of its own that goes on by script
// and has no Memento headers.
func (s *site) show(c Capture, raw bool) {
	h := s.w.Header()
	h.Set("Content-Type", c.Type)
	if !s.b.NoDates {
		h.Set("Memento-Datetime", c.At.Format(http.TimeFormat))
		h.Set("Link", s.links(c))
	}
	body := c.Body
	switch {
	case c.Location != "" && raw:
		to := c
		if u, err := url.Parse(c.URL); err == nil {
			if u, err := u.Parse(c.Location); err == nil {
				to.URL = u.String()
			}
		}
		h.Set("Location", s.flagged(to, true))
	case c.Location != "":
		h.Del("Memento-Datetime")
		h.Del("Link")
		h.Set("Content-Type", "text/html; charset=utf-8")
		c.Status = http.StatusOK
		body = fmt.Sprintf("<!DOCTYPE html><title>Internet Archive Wayback Machine</title><p>Got an HTTP 302 response at crawl time. <a href=\"%s\">Redirecting to…</a>", s.prefix(c)+c.Location)
	case !raw && strings.HasPrefix(c.Type, "text/html"):
		body = s.rewrite(c)
	}
	if s.b.Mangle != nil {
		s.b.Mangle(c, h)
	}
	s.w.WriteHeader(c.Status)
	_, _ = s.w.Write([]byte(body))
}

func (s *site) prefix(c Capture) string { return "/web/" + c.At.Format(stamp) + "/" }

var (
	attribute = regexp.MustCompile(`(?i)\b(href|src|action)=(["'])(https?://|/)([^"']*)`)
	inScript  = regexp.MustCompile(`"https?:(\\?/){2}[^"]*"`)
)

// rewrite makes a page's links lead into the archive and puts a banner on it.
func (s *site) rewrite(c Capture) string {
	origin := c.URL
	if u, err := url.Parse(c.URL); err == nil {
		origin = u.Scheme + "://" + u.Host
	}
	scripts := inScript.ReplaceAllStringFunc(c.Body, func(m string) string {
		if !strings.Contains(m, `\/`) {
			return m
		}
		return `"` + strings.ReplaceAll(s.root+s.prefix(c), "/", `\/`) + m[1:]
	})
	body := attribute.ReplaceAllStringFunc(scripts, func(m string) string {
		p := attribute.FindStringSubmatch(m)
		prefix := s.prefix(c)
		if strings.EqualFold(p[1], "src") {
			prefix = strings.TrimSuffix(prefix, "/") + "im_/"
		}
		if p[3] == "/" {
			p[3] = origin + "/"
		}
		return p[1] + "=" + p[2] + prefix + p[3] + p[4]
	})
	const banner = "<!-- BEGIN WAYBACK TOOLBAR INSERT -->\n<div id=\"wm-ipp-base\"><p>About this capture</p></div>\n<!-- END WAYBACK TOOLBAR INSERT -->"
	if i := strings.Index(strings.ToLower(body), "<body"); i >= 0 {
		if j := strings.IndexByte(body[i:], '>'); j >= 0 {
			return body[:i+j+1] + banner + body[i+j+1:]
		}
	}
	return banner + body
}

// timemap is RFC 7089, section 5: all copies, or page number of them.
func (s *site) timemap(number int) {
	if len(s.captures) == 0 {
		s.notFound()
		return
	}
	first, last := s.captures[0], s.captures[len(s.captures)-1]
	span := func(from, until Capture) string {
		return fmt.Sprintf("; from=\"%s\"; until=\"%s\"", from.At.Format(http.TimeFormat), until.At.Format(http.TimeFormat))
	}
	self := s.root + s.r.RequestURI
	lines := []string{
		fmt.Sprintf("<%s>; rel=\"original\"", first.URL),
		fmt.Sprintf("<%s/web/%s>; rel=\"timegate\"", s.root, s.page),
	}
	list := s.captures
	if size := s.b.PageSize; size > 0 {
		var pages [][]Capture
		for from := 0; from < len(list); from += size {
			pages = append(pages, list[from:min(from+size, len(list))])
		}
		at := max(number, 1) - 1
		if at >= len(pages) {
			s.notFound()
			return
		}
		list = pages[at]
		for i, p := range pages {
			if i != at {
				lines = append(lines, fmt.Sprintf("<%s/web/timemap/link/%d/%s>; rel=\"timemap\"; type=\"application/link-format\"%s", s.root, i+1, s.page, span(p[0], p[len(p)-1])))
			}
		}
		first, last = list[0], list[len(list)-1]
	}
	lines = append(lines, fmt.Sprintf("<%s>; rel=\"self\"; type=\"application/link-format\"%s", self, span(first, last)))
	for i, c := range list {
		rel := "memento"
		switch {
		case i == 0 && number <= 1:
			rel = "first memento"
		case i == len(list)-1:
			rel = "last memento"
		}
		lines = append(lines, entry(s, c, rel))
	}
	s.w.Header().Set("Content-Type", "application/link-format")
	_, _ = s.w.Write([]byte(strings.Join(lines, ",\n") + "\n"))
}

// availability is the Internet Archive's interface. It speaks of captures of
// pages, not of errors.
func (s *site) availability() {
	var at time.Time
	if v := s.r.URL.Query().Get("timestamp"); v != "" {
		at, _ = time.Parse(stamp, (v + "0101000000")[:min(len(v)+10, len(stamp))])
	}
	var good []Capture
	for _, c := range s.captures {
		if c.Status/100 == 2 {
			good = append(good, c)
		}
	}
	s.captures = good
	var answer struct {
		URL       string `json:"url"`
		Snapshots struct {
			Closest *snapshot `json:"closest,omitempty"`
		} `json:"archived_snapshots"`
	}
	answer.URL = s.page
	if c, ok := s.nearest(at); ok {
		answer.Snapshots.Closest = &snapshot{Available: true, URL: s.copyURL(c), Timestamp: c.At.Format(stamp), Status: strconv.Itoa(c.Status)}
	}
	s.w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(s.w).Encode(answer); err != nil {
		return // the client has gone
	}
}

type snapshot struct {
	Available bool   `json:"available"`
	URL       string `json:"url"`
	Timestamp string `json:"timestamp"`
	Status    string `json:"status"`
}
