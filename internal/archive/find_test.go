package archive

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"sift.build/sift/internal/archive/archivetest"
	"sift.build/sift/internal/fetch"
	"sift.build/sift/internal/guard"
	"sift.build/sift/internal/sift"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// today is the time of every test.
func today() time.Time { return time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC) }

func day(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 5, 6, 7, 0, time.UTC) }

// world is an archive and a client that asks it with the real fetcher through
// the real guard, in which the archive's socket is the one exception.
type world struct {
	*archivetest.Archive
	t     *testing.T
	guard *guard.Guard
	fetch *fetch.Client
	now   time.Time
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{Archive: archivetest.Start(t), t: t, now: today()}
	u, err := url.Parse(w.URL)
	if err != nil {
		t.Fatal(err)
	}
	if w.guard, err = guard.New(guard.Config{Allow: []string{u.Host}}); err != nil {
		t.Fatal(err)
	}
	w.fetch = fetch.New(fetch.Config{Guard: w.guard, MaxRedirects: 5, Timeout: 10 * time.Second, SpoolDir: t.TempDir()})
	t.Cleanup(w.fetch.Close)
	return w
}

func (w *world) get(ctx context.Context, raw string, accept time.Time) (*fetch.Response, error) {
	u, err := w.guard.CheckURL(raw)
	if err != nil {
		return nil, err
	}
	return w.fetch.Get(ctx, fetch.Request{URL: u, AcceptDatetime: accept})
}

func (w *world) client(base string) *Client {
	w.t.Helper()
	c, err := New(Config{Base: base, Get: w.get, Now: func() time.Time { return w.now }})
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

// found is what a test compares of a Copy.
type found struct {
	URL, Original, Body string
	At                  time.Time
}

func (w *world) find(base, page string, q Wanted) (found, error) {
	w.t.Helper()
	return w.ask(w.client(base), page, q)
}

func (w *world) ask(c *Client, page string, q Wanted) (found, error) {
	w.t.Helper()
	got, err := c.Find(w.t.Context(), page, q)
	if err != nil {
		if got != nil {
			w.t.Error("a copy and an error")
		}
		if _, ok := errors.AsType[*sift.Failure](err); !ok && !errors.Is(err, ErrNone) {
			w.t.Errorf("the error is a %T: %v", err, err)
		}
		return found{}, err
	}
	defer got.Response.Body.Close()
	body, err := got.Response.Body.Bytes()
	if err != nil {
		w.t.Fatal(err)
	}
	return found{strings.TrimPrefix(got.URL, w.URL), got.Original, string(body), got.CapturedAt}, nil
}

// doors is which doors were asked, and what.
func (w *world) doors() []string {
	var out []string
	for _, r := range w.Requests() {
		out = append(out, string(r.Door))
	}
	return out
}

const page = "http://a.example/page"

func raw(page string, at time.Time) string {
	return strings.Replace(archivetest.CopyURL(page, at), "/"+page, "id_/"+page, 1)
}

func TestTheNewestCopyIsFoundByTheTimeGate(t *testing.T) {
	w := newWorld(t)
	w.Add(
		archivetest.Capture{URL: page, At: day(2015, 1, 1), Body: "old"},
		archivetest.Capture{URL: page, At: day(2019, 3, 4), Body: `<body><a href="/x">new</a>`},
		archivetest.Capture{URL: "http://b.example/page", At: day(2020, 3, 4), Body: "another page"},
	)
	got, err := w.find(w.URL, page, Wanted{})
	if err != nil {
		t.Fatal(err)
	}
	want := found{raw(page, day(2019, 3, 4)), page, `<body><a href="/x">new</a>`, day(2019, 3, 4)}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	wantRequests := []archivetest.Request{
		{Door: "timegate", Target: "/web/" + page, AcceptDatetime: "Tue, 01 Dec 2026 12:00:00 GMT"},
		{Door: "memento", Target: archivetest.CopyURL(page, day(2019, 3, 4)), AcceptDatetime: "Tue, 01 Dec 2026 12:00:00 GMT"},
		{Door: "raw", Target: raw(page, day(2019, 3, 4))},
	}
	if d := cmp.Diff(wantRequests, w.Requests()); d != "" {
		t.Error(d)
	}
}

func TestTheCopyNearestToATimeIsFound(t *testing.T) {
	w := newWorld(t)
	for _, y := range []int{2010, 2014, 2018} {
		w.Add(archivetest.Capture{URL: page, At: day(y, 1, 1), Body: fmt.Sprint(y)})
	}
	for _, base := range []string{w.URL, w.URL + "/timegate/", w.URL + "/timemap/link/"} {
		for around, want := range map[int]string{2000: "2010", 2013: "2014", 2015: "2014", 2017: "2018", 2026: "2018"} {
			if got, err := w.find(base, page, Wanted{Around: day(around, 1, 1)}); err != nil || got.Body != want {
				t.Errorf("%s around %d: %q, %v; want %s", base, around, got.Body, err, want)
			}
		}
	}
}

func TestEveryFormOfBaseLeadsToTheCopy(t *testing.T) {
	w := newWorld(t)
	at := day(2019, 3, 4)
	w.Add(archivetest.Capture{URL: page + "?q=1", At: at, Body: "it"})
	for _, tt := range []struct{ base, first string }{
		{"", "/web/" + page + "?q=1"},
		{"/", "/web/" + page + "?q=1"},
		{"/web/", "/web/" + page + "?q=1"},
		{"/web", "/web/" + page + "?q=1"},
		{"/timegate/", "/timegate/" + page + "?q=1"},
		{"/timegate/{url}", "/timegate/" + page + "?q=1"},
		{"/timemap/link/", "/timemap/link/" + page + "?q=1"},
		{"/web/timemap/link/{url}", "/web/timemap/link/" + page + "?q=1"},
	} {
		t.Run(tt.base, func(t *testing.T) {
			before := len(w.Requests())
			got, err := w.find(w.URL+tt.base, page+"?q=1", Wanted{})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(found{raw(page+"?q=1", at), page + "?q=1", "it", at}, got); d != "" {
				t.Error(d)
			}
			if first := w.Requests()[before].Target; first != tt.first {
				t.Errorf("asked %s first, want %s", first, tt.first)
			}
		})
	}
}
