package archive

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Whatever the bytes: reading ends, what comes is within the bounds, does not
// depend on how the bytes arrive, and stands in the text.
func FuzzLinkFormat(f *testing.F) {
	for _, s := range []string{
		`<http://a.example/>; rel="original", <http://x.example/timemap/link/http://a.example/>; rel="self"; type="application/link-format"; from="Tue, 20 Jun 2000 18:02:59 GMT"; until="Wed, 09 Apr 2008 20:30:51 GMT"`,
		"<a>;rel=memento;datetime=\"Tue, 20 Jun 2000 18:02:59 GMT\",\n<b>;rel=\"last memento\"",
		`<a>;title="\"<b>,\\";rel=x,,;;<c>;anchor="d";rel=y`, "<!DOCTYPE html><p>a, <b>c</b>", `{"a":["<b>",1]}`, "<a>;rel", "<a>;rel=", `<a>;rel="`, "<", ",", `"\`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, broken := all(t, strings.NewReader(text))
		again, brokenAgain := all(t, iotest.HalfReader(strings.NewReader(text)))
		if d := cmp.Diff(got, again, cmp.AllowUnexported(link{})); d != "" || broken != brokenAgain {
			t.Errorf("%d and %d broken\n%s", broken, brokenAgain, d)
		}
		if len(got)+broken > len(text)+1 {
			t.Errorf("%d links, %d broken in %d bytes", len(got), broken, len(text))
		}
		for _, l := range got {
			if len(l.uri) > maxURI || len(l.rel) > 2*maxValue || len(l.mediaType) > 2*maxValue {
				t.Errorf("over the bounds: %d, %d, %d bytes", len(l.uri), len(l.rel), len(l.mediaType))
			}
			if !strings.Contains(text, l.uri) {
				t.Errorf("%q does not stand in the text", l.uri)
			}
		}
	})
}

// Whatever the bytes: an answer names a copy with a date, none, or is refused.
func FuzzAvailability(f *testing.F) {
	for _, s := range []string{
		`{"archived_snapshots":{"closest":{"available":true,"url":"http://web.archive.org/web/20130919044612/http://example.com/","timestamp":"20130919044612","status":"200"}}}`,
		`{"url":"x","archived_snapshots":{}}`, `{"archived_snapshots":{"closest":{"available":false}}}`, `{"archived_snapshots":{"closest":null}}`,
		`{"archived_snapshots":{"closest":{"available":true,"timestamp":20130919044612,"status":200}}}`, `[]`, `null`, ``, `{`, "<html>",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := parseAvailability(body)
		switch {
		case err != nil && got != nil:
			t.Error("a copy and an error")
		case got != nil && !bytes.Contains(body, []byte(got.at.Format("2006"))) && !bytes.Contains(body, []byte(`\u`)):
			t.Errorf("the year %d does not stand in the answer", got.at.Year())
		}
	})
}

// Whatever the page and the URL: nothing is added, and only prefixes go.
func FuzzUnrewrite(f *testing.F) {
	f.Add([]byte(`<a href="/web/20190304050607/http://a.example/x"> <img src="//x.example/web/2019im_/https://b.example/">`), "https://x.example/web/20190304050607/http://a.example/")
	f.Add([]byte(`{"u":"https:\/\/x.example\/web\/20190304050607\/https:\/\/a.example\/x"}`), "https://x.example/web/20190304050607/http://a.example/")
	f.Add([]byte("<!-- BEGIN WAYBACK TOOLBAR INSERT -->x<!-- END WAYBACK TOOLBAR INSERT -->"), "http://x.example/20190304050607/http://a.example/")
	f.Fuzz(func(t *testing.T, body []byte, u string) {
		before := bytes.Clone(body)
		got := Unrewrite(body, u)
		if !bytes.Equal(before, body) {
			t.Error("the body was changed")
		}
		if len(got) > len(body) {
			t.Errorf("%d bytes became %d", len(body), len(got))
		}
		if w, ok := parseWayback(u); ok {
			if raw, ok := parseWayback(w.raw()); !ok || !raw.isRaw() || raw.original != w.original || raw.date != w.date {
				t.Errorf("%s: the raw form of %s is %+v", w.raw(), u, raw)
			}
			if same := Unrewrite(body, w.raw()); !bytes.Equal(same, body) {
				t.Error("a raw copy was changed")
			}
		}
		// What is left is what was there, in its order.
		i := 0
		for _, c := range body {
			if i < len(got) && got[i] == c {
				i++
			}
		}
		if i != len(got) {
			t.Error("the rest is not a part of the page")
		}
	})
}

// Whatever two URLs: being one page goes both ways, and a URL is its own.
func FuzzSamePage(f *testing.F) {
	f.Add("http://www.a.example:80/x/?b=2&a=1#f", "https://a.example/x?a=1&b=2")
	f.Add("a.example/%7e", "http://a.example/~")
	f.Fuzz(func(t *testing.T, a, b string) {
		if !samePage(a, a) || samePage(a, b) != samePage(b, a) {
			t.Errorf("%q, %q: %q, %q", a, b, pageKey(a), pageKey(b))
		}
	})
}

// endless repeats an entry.
type endless struct{ entry, rest []byte }

func (e *endless) Read(p []byte) (int, error) {
	if len(e.rest) == 0 {
		e.rest = e.entry
	}
	n := copy(p, e.rest)
	e.rest = e.rest[n:]
	return n, nil
}

func TestATimeMapWithoutEndIsReadToItsBound(t *testing.T) {
	c, err := New(Config{Base: "https://x.example", Get: (&world{}).get})
	if err != nil {
		t.Fatal(err)
	}
	s := &search{client: c, page: page, now: today()}
	var best mementos
	entry := `<https://x.example/web/20190304050607/` + page + `>;rel=memento;datetime="Mon, 04 Mar 2019 05:06:07 GMT",<https://x.example/more>;rel=timemap,`
	read := &counter{r: &endless{entry: []byte(entry)}}
	pages, err := s.parseTimeMap(nil, read, &best)
	if err != nil || len(best.list) != 1 || len(pages) > maxMementos || read.n > maxTimeMap {
		t.Errorf("%d copies and %d pages of %d bytes, %v", len(best.list), len(pages), read.n, err)
	}
	// The best are kept, and of many only so many.
	at := day(2010, 1, 1)
	for i := range 10_000 {
		best.add(s, memento{url: at.String(), at: at.Add(time.Duration(i*7919%10_000) * time.Hour)})
	}
	if len(best.list) != maxMementos || !best.list[0].at.Equal(day(2019, 3, 4)) || !best.list[1].at.Equal(at.Add(9_999*time.Hour)) {
		t.Errorf("%d copies, the best of %v and %v", len(best.list), best.list[0].at, best.list[1].at)
	}
}

type counter struct {
	r io.Reader
	n int
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += n
	return n, err
}
