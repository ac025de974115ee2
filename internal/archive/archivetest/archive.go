// Package archivetest is a web archive for tests. It speaks the protocols of
// the Wayback Machine over real HTTP: the TimeGate, TimeMaps and headers of
// Memento (RFC 7089), the availability interface, rewritten and raw copies.
//
//	a := archivetest.Start(t)
//	a.Add(archivetest.Capture{URL: "http://a.example/", At: at, Body: "<p>as it was"})
//	client, err := archive.New(archive.Config{Base: a.URL, Get: get})
//
// It answers as such an archive does, and worse where its Behaviour says so.
// Links name the host of the request, so an Archive can also be served under
// another name, as the http.Handler that it is.
package archivetest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Capture is what a crawler got of a page.
type Capture struct {
	URL    string
	At     time.Time
	Status int    // 0: 200
	Type   string // of the content; "": text/html; charset=utf-8
	Body   string

	// Location makes it the capture of a redirect; Status 0 is then 302.
	Location string
}

// Door is one of the interfaces.
type Door string

// The doors. Raw is that of the copies as captured (id_).
const (
	TimeGate     Door = "timegate"
	TimeMap      Door = "timemap"
	Memento      Door = "memento"
	Raw          Door = "raw"
	Availability Door = "availability"
)

// Fault is an answer in the place of the right one.
type Fault struct {
	Times  int // how often; 0: always
	Status int // 0: 200
	Header http.Header
	Body   string

	Hang bool // no answer until the client goes away
	Loop bool // a redirect to the same URL with a number that goes on
}

// Behaviour is how the archive is built, and what is wrong with it. The zero
// value is the Internet Archive on a good day.
type Behaviour struct {
	Direct   bool // the TimeGate answers with the copy itself, not with a redirect
	NoRaw    bool // there are no raw copies
	OpenWay  bool // TimeGate and TimeMap are at /timegate/ and /timemap/link/, and there is no availability interface
	NoDates  bool // copies come without Memento-Datetime and Link
	PageSize int  // entries in a page of a TimeMap; 0: all are in one
	Faults   map[Door]Fault

	// Mangle, where set, changes a copy's header before it is sent.
	Mangle func(c Capture, h http.Header)
}

// Archive is the fake. It is safe for concurrent use.
type Archive struct {
	URL string // of the root, where Start made it

	mu        sync.Mutex // guards what follows
	captures  []Capture  // by time
	behaviour Behaviour
	hits      map[Door]int
	requests  []Request
}

// Request is one that was made.
type Request struct {
	Door           Door
	Target         string // path and query, to the letter
	AcceptDatetime string
}

// New makes an archive that is not served yet.
func New() *Archive { return &Archive{hits: map[Door]int{}} }

// Start serves an archive on a loopback address until the test ends.
func Start(t testing.TB) *Archive {
	a := New()
	s := httptest.NewServer(a)
	t.Cleanup(s.Close)
	a.URL = s.URL
	return a
}

// Add files captures.
func (a *Archive) Add(captures ...Capture) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, c := range captures {
		if c.Status == 0 {
			c.Status = http.StatusOK
			if c.Location != "" {
				c.Status = http.StatusFound
			}
		}
		if c.Type == "" {
			c.Type = "text/html; charset=utf-8"
		}
		c.At = c.At.UTC().Truncate(time.Second)
		a.captures = append(a.captures, c)
	}
	slices.SortStableFunc(a.captures, func(x, y Capture) int { return x.At.Compare(y.At) })
}

// Behave changes how the archive behaves from now on.
func (a *Archive) Behave(b Behaviour) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.behaviour = b
	clear(a.hits)
}

// Requests lists what was asked so far.
func (a *Archive) Requests() []Request {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.requests)
}

// CopyURL is the URL of the copy of a page, without the archive's root.
func CopyURL(page string, at time.Time) string {
	return "/web/" + at.UTC().Format(stamp) + "/" + page
}

const stamp = "20060102150405"

// ServeHTTP answers. It reads the request's target itself: a page's URL in a
// path does not survive what net/http does to paths.
func (a *Archive) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	target := r.RequestURI
	if i := strings.Index(target, "://"); i >= 0 && !strings.HasPrefix(target, "/") {
		target = target[i+3:] // a proxy's form, absolute
		target = target[strings.IndexByte(target+"/", '/'):]
	}
	a.mu.Lock()
	openWay := a.behaviour.OpenWay
	a.mu.Unlock()
	inner := target
	if openWay {
		inner = openWayback(target)
	}
	door, page, at, raw := route(inner)
	a.mu.Lock()
	a.requests = append(a.requests, Request{Door: door, Target: target, AcceptDatetime: r.Header.Get("Accept-Datetime")})
	b := a.behaviour
	fault, faulty := b.Faults[door]
	if n := a.hits[door]; faulty && (fault.Times == 0 || n < fault.Times) {
		a.hits[door]++
	} else {
		faulty = false
	}
	captures := of(a.captures, page)
	a.mu.Unlock()
	s := site{w: w, r: r, b: b, root: "http://" + r.Host, page: page, captures: captures}
	if r.TLS != nil {
		s.root = "https://" + r.Host
	}
	switch {
	case faulty:
		s.fault(fault, target)
	case door == TimeGate:
		s.timegate()
	case door == TimeMap:
		s.timemap(int(at))
	case door == Availability:
		s.availability()
	case door == Memento || door == Raw && !b.NoRaw:
		s.memento(fmt.Sprintf("%014d", at), raw)
	default:
		s.notFound()
	}
}

// openWayback gives the target of an archive laid out like OpenWayback as one of
// the Wayback Machine; what it does not have becomes nothing.
func openWayback(target string) string {
	if rest, ok := strings.CutPrefix(target, "/timegate/"); ok {
		return "/web/" + rest
	}
	if rest, ok := strings.CutPrefix(target, "/timemap/link/"); ok {
		return "/web/timemap/link/" + rest
	}
	if rest, ok := strings.CutPrefix(target, "/web/"); ok && rest != "" && rest[0] >= '0' && rest[0] <= '9' {
		return target // a copy
	}
	return "/"
}

// of picks the captures of a page, by the rules of such archives: http and
// https, with www. and without, with a slash at the end and without are one.
func of(captures []Capture, page string) []Capture {
	var out []Capture
	for _, c := range captures {
		if key(c.URL) == key(page) {
			out = append(out, c)
		}
	}
	return out
}

func key(u string) string {
	u, _, _ = strings.Cut(u, "#")
	_, u, _ = strings.Cut(u, "://")
	u, query, _ := strings.Cut(u, "?")
	return strings.TrimSuffix(strings.TrimPrefix(strings.ToLower(u), "www."), "/") + "?" + query
}
