package fetch

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTheTimeThatIsAskedForGoesWithEveryHop(t *testing.T) {
	w := newWorld(t)
	got := map[string][]string{}
	w.host("a.example", 80, raw(func(r request) string {
		got[r.path()] = r.header["Accept-Datetime"]
		switch r.path() {
		case "/timegate":
			return redirect(302, "/memento")
		case "/memento":
			return redirect(302, "http://b.example/memento")
		}
		return ok("text/plain", "x")
	}))
	w.host("b.example", 80, raw(func(r request) string {
		got["b"+r.path()] = r.header["Accept-Datetime"]
		return ok("text/plain", "x")
	}))
	c := w.client()
	at := time.Date(2019, 3, 4, 5, 6, 7, 999, time.FixedZone("", 2*3600))
	if _, err := do(t, c, Request{URL: parse(t, c, "http://a.example/timegate"), AcceptDatetime: at, ETag: `"v1"`}); err != nil {
		t.Fatal(err)
	}
	mustGet(t, c, "http://a.example/other")
	// RFC 7089, section 2.1.1: the date form of RFC 1123, in GMT.
	date := []string{"Mon, 04 Mar 2019 03:06:07 GMT"}
	want := map[string][]string{"/timegate": date, "/memento": date, "b/memento": date, "/other": nil}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestAnArchivedCopySaysOfWhenItIs(t *testing.T) {
	for _, tt := range []struct {
		header string
		want   time.Time
	}{
		{"Mon, 04 Mar 2019 03:06:07 GMT", time.Date(2019, 3, 4, 3, 6, 7, 0, time.UTC)},
		{"  Mon, 04 Mar 2019 03:06:07 GMT\t", time.Date(2019, 3, 4, 3, 6, 7, 0, time.UTC)},
		{"Monday, 04-Mar-19 03:06:07 GMT", time.Date(2019, 3, 4, 3, 6, 7, 0, time.UTC)},
		{"20190304030607", time.Time{}},
		{"yesterday", time.Time{}},
		{"", time.Time{}},
	} {
		w := newWorld(t)
		w.host("a.example", 80, raw(func(r request) string {
			if r.path() == "/hop" {
				return redirect(302, "/", "Memento-Datetime: Tue, 01 Jan 2002 00:00:00 GMT", "Link: <of the hop>")
			}
			return status(404, "text/plain", "x", "Memento-Datetime: "+tt.header)
		}))
		r := mustGet(t, w.client(), "http://a.example/hop")
		if !r.Memento.Equal(tt.want) || r.Memento.Location() != time.UTC || r.Link != "" {
			t.Errorf("%q: %v, want %v; link %q", tt.header, r.Memento, tt.want, r.Link)
		}
	}
}

func TestARefreshInAnArchivedCopyIsNotFollowed(t *testing.T) {
	const meta = `<meta http-equiv=refresh content="0;url=/today">`
	for name, answer := range map[string]string{
		"meta refresh":                        ok("text/html", meta, "Memento-Datetime: Mon, 04 Mar 2019 03:06:07 GMT"),
		"Refresh header":                      ok("text/html", "x", "Refresh: 0;url=/today", "Memento-Datetime: Mon, 04 Mar 2019 03:06:07 GMT"),
		"meta refresh, a date that is none":   ok("text/html", meta, "Memento-Datetime: long ago"),
		"Refresh header, a date that is none": ok("text/html", "x", "Refresh: 0;url=/today", "memento-datetime: 0"),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.host("a.example", 80, raw(func(r request) string {
				if r.path() == "/copy" {
					return answer
				}
				return ok("text/plain", "today")
			}))
			r := mustGet(t, w.client(), "http://a.example/copy")
			if r.FinalURL.String() != "http://a.example/copy" || len(r.Hops) != 0 {
				t.Errorf("went to %s", r.FinalURL)
			}
		})
	}
}

func TestLinkHeadersComeTogetherAndAreCutBetweenLinks(t *testing.T) {
	long := func(n int) string { return "<http://a.example/" + strings.Repeat("x", n) + `,y>; rel="next"` }
	for _, tt := range []struct {
		name   string
		values []string
		want   string
	}{
		{"none", nil, ""},
		{"one", []string{`<http://a.example/>; rel="original"`}, `<http://a.example/>; rel="original"`},
		{"several", []string{"<a>; rel=x, <b>; rel=y", "<c>; rel=z"}, "<a>; rel=x, <b>; rel=y, <c>; rel=z"},
		{"what does not print", []string{"<a>\t; title=\"\u202e\xff\""}, "<a>; title=\"\uFFFD\""},
		{"too long", []string{"<a>; rel=x", long(8000), long(8000)}, "<a>; rel=x, " + long(8000)},
		{"cut in a quoted text with commas", []string{"<a>; rel=x", `<b>; title="\"` + strings.Repeat("t,", 5000) + `"`}, "<a>; rel=x"},
		{"the first is too long already", []string{long(9000)}, ""},
		{"never closed", []string{"<" + strings.Repeat("x,", 5000)}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			var headers []string
			for _, v := range tt.values {
				headers = append(headers, "Link: "+v)
			}
			w.host("a.example", 80, always(ok("text/plain", "x", headers...)))
			r := mustGet(t, w.client(), "http://a.example/")
			if d := cmp.Diff(tt.want, r.Link); d != "" {
				t.Error(d)
			}
			if len(r.Link) > 8<<10 {
				t.Errorf("%d bytes", len(r.Link))
			}
		})
	}
}

// Whatever the header: what is handed on prints, is within the bound, and is
// the whole or ends where a link does.
func FuzzLinkHeader(f *testing.F) {
	f.Add("<a>; rel=x, <b>; title=\"\\\",<\"", 9000, "<c>")
	f.Add("<"+strings.Repeat("x", 8190)+">", 0, "\xff\u202e")
	f.Add("<a>,\"\\", 8180, "")
	f.Fuzz(func(t *testing.T, first string, n int, last string) {
		values := []string{first, "<" + strings.Repeat("y", max(0, n)%20_000) + ">", last}
		got := links(values)
		if len(got) > 8<<10 {
			t.Errorf("%d bytes", len(got))
		}
		whole := clip(strings.Join(values, ", "), 1<<20)
		rest, ok := strings.CutPrefix(whole, got)
		if !ok {
			rest, ok = strings.CutPrefix(strings.TrimSpace(whole), got)
		}
		if !ok || got != "" && rest != "" && !strings.HasPrefix(strings.TrimSpace(rest), ",") {
			t.Errorf("%.60q… was cut to …%.60q", whole, got[max(0, len(got)-60):])
		}
	})
}
