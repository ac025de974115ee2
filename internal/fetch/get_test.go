package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sift.build/sift/internal/sift"
)

func discardLog() *log.Logger { return log.New(io.Discard, "", 0) }

func TestAPageComesWithWhatIsKnownOfIt(t *testing.T) {
	w := newWorld(t)
	addr := w.host("a.example", 80, always(ok("text/html; charset=utf-8", "<p>hello", `ETag: "v1"`, "Last-Modified: Tue, 01 Sep 2026 10:00:00 GMT",
		"Cache-Control: max-age=60", "Cache-Control: private", "Content-Language: en")))
	c := w.client()
	r := mustGet(t, c, "http://a.example/x?y=1#frag")
	if got := bodyOf(t, r); got != "<p>hello" {
		t.Errorf("body %q", got)
	}
	r.Body = nil
	want := &Response{
		FinalURL: r.FinalURL, Status: 200, ContentType: "text/html; charset=utf-8", ETag: `"v1"`,
		LastModified: "Tue, 01 Sep 2026 10:00:00 GMT", CacheControl: "max-age=60, private", ContentLanguage: "en",
		Protocol: "http/1.1", Address: addr.String(), WireBytes: 8,
	}
	if d := cmp.Diff(want, r, cmp.Comparer(func(a, b *Body) bool { return a == b }), cmp.Transformer("url", fmt.Stringer.String)); d != "" {
		t.Error(d)
	}
}

func TestARequestSaysWhoItIsAndNothingElse(t *testing.T) {
	w := newWorld(t)
	var got []request
	w.host("a.example", 80, raw(func(r request) string {
		got = append(got, r)
		if r.path() == "/start?secret=1" {
			return redirect(302, "http://b.example/")
		}
		return ok("text/plain", "x")
	}))
	w.host("b.example", 80, raw(func(r request) string {
		got = append(got, r)
		return ok("text/plain", "x")
	}))
	mustGet(t, w.client(), "http://a.example/start?secret=1")
	want := []request{
		{"GET /start?secret=1 HTTP/1.1", http.Header{
			"Host": {"a.example"}, "User-Agent": {"sift/1 (+https://sift.example/contact)"},
			"Accept":          {"text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, */*;q=0.8"},
			"Accept-Encoding": {"gzip, deflate, br, zstd"}}},
		{"GET / HTTP/1.1", http.Header{
			"Host": {"b.example"}, "User-Agent": {"sift/1 (+https://sift.example/contact)"},
			"Accept":          {"text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, */*;q=0.8"},
			"Accept-Encoding": {"gzip, deflate, br, zstd"}}},
	}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(request{})); d != "" {
		t.Error(d)
	}
}

func TestRedirectsOfEveryKindAreFollowed(t *testing.T) {
	page := func(head string) string {
		return ok("text/html", "<html><head>"+head+"</head><body>first</body></html>")
	}
	for _, tt := range []struct {
		name, first string
		status      int
		final       string
	}{
		{"301", redirect(301, "http://a.example/end"), 301, "http://a.example/end"},
		{"302", redirect(302, "/end"), 302, "http://a.example/end"},
		{"303", redirect(303, "//b.example/end"), 303, "http://b.example/end"},
		{"307 relative with dots and a query", redirect(307, "../end?id=7&x=1"), 307, "http://a.example/d/end?id=7&x=1"},
		{"308", redirect(308, "?q"), 308, "http://a.example/d/e/start?q"},
		{"raw UTF-8", redirect(302, "/käse/übersicht"), 302, "http://a.example/k%C3%A4se/%C3%BCbersicht"},
		{"a body beside Location", status(302, "text/html", "moved", "Location: /end"), 302, "http://a.example/end"},
		{"Refresh header", ok("text/html", "first", "Refresh: 0; url=/end"), 200, "http://a.example/end"},
		{"Refresh header on a text", ok("text/plain", "first", "Refresh: 0;URL='/end'"), 200, "http://a.example/end"},
		{"meta refresh", page(`<meta http-equiv="refresh" content="0; url=/end">`), 200, "http://a.example/end"},
		{"meta refresh, comma, capitals", page(`<META HTTP-EQUIV=Refresh CONTENT="1,URL=en/">`), 200, "http://a.example/d/e/en/"},
		{"meta refresh in the body", ok("text/html", `<p>x<meta http-equiv=refresh content="5;/end">`), 200, "http://a.example/end"},
		{"meta refresh and a base", page(`<base href="http://b.example/base/"><meta http-equiv=refresh content="0;url=end">`), 200, "http://b.example/base/end"},
		{"meta refresh without a type", ok("", `<!doctype html><meta http-equiv=refresh content="0;url=/end">`), 200, "http://a.example/end"},
		{"meta refresh in XHTML", ok("application/xhtml+xml", `<html><head><meta http-equiv="refresh" content="0;url=/end"/></head></html>`), 200, "http://a.example/end"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			serve := raw(func(r request) string {
				if r.path() == "/d/e/start" {
					return tt.first
				}
				return ok("text/plain", "end")
			})
			w.host("a.example", 80, serve)
			w.host("b.example", 80, serve)
			r := mustGet(t, w.client(), "http://a.example/d/e/start")
			if got := bodyOf(t, r); got != "end" {
				t.Errorf("body %q", got)
			}
			if r.FinalURL.String() != tt.final {
				t.Errorf("final URL %s, want %s", r.FinalURL, tt.final)
			}
			if d := cmp.Diff([]sift.Hop{{URL: "http://a.example/d/e/start", Status: tt.status}}, r.Hops); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestWhatIsNoRedirectStaysAPage(t *testing.T) {
	for _, tt := range []struct{ name, answer string }{
		{"a long delay", ok("text/html", `<meta http-equiv=refresh content="6;url=/end">`)},
		{"a long delay in the header wins over the page", ok("text/html", `<meta http-equiv=refresh content="0;url=/end">`, "Refresh: 30;url=/end")},
		{"a page that reloads itself", ok("text/html", `<meta http-equiv=refresh content="0">`)},
		{"a page that names itself", ok("text/html", `<meta http-equiv=refresh content="0;url=/start">`)},
		{"a page that names itself with a fragment", ok("text/html", `<meta http-equiv=refresh content="0;url=#top">`)},
		{"in a comment", ok("text/html", `<!-- <meta http-equiv=refresh content="0;url=/end"> -->`)},
		{"in a conditional comment", ok("text/html", `<!--[if lt IE 9]><meta http-equiv="refresh" content="0;url=/end"><![endif]-->`)},
		{"in noscript", ok("text/html", `<noscript><meta http-equiv="refresh" content="0;url=/end"></noscript>`)},
		{"in script", ok("text/html", `<script>'<meta http-equiv="refresh" content="0;url=/end">'</script>`)},
		{"in style", ok("text/html", `<style><meta http-equiv="refresh" content="0;url=/end"></style>`)},
		{"in textarea", ok("text/html", `<textarea><meta http-equiv="refresh" content="0;url=/end"></textarea>`)},
		{"in title", ok("text/html", `<title><meta http-equiv="refresh" content="0;url=/end"></title>`)},
		{"in template", ok("text/html", `<template><meta http-equiv="refresh" content="0;url=/end"></template>`)},
		{"not a number", ok("text/html", `<meta http-equiv="refresh" content="now;url=/end">`)},
		{"another http-equiv", ok("text/html", `<meta http-equiv="x-refresh" content="0;url=/end">`)},
		{"javascript", ok("text/html", `<meta http-equiv="refresh" content="0;url=javascript:location='/end'">`)},
		{"plain text", ok("text/plain", `<html><meta http-equiv="refresh" content="0;url=/end">`)},
		{"an error page", status(404, "text/html", `<meta http-equiv="refresh" content="0;url=/end">`)},
		{"beyond the first 64 KiB", ok("text/html", strings.Repeat(" ", 64<<10)+`<meta http-equiv="refresh" content="0;url=/end">`)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.host("a.example", 80, always(tt.answer))
			r := mustGet(t, w.client(), "http://a.example/start")
			if r.FinalURL.String() != "http://a.example/start" || len(r.Hops) != 0 {
				t.Errorf("went to %s by %v", r.FinalURL, r.Hops)
			}
		})
	}
}

func TestTooManyRedirectsAreAFailureThatNamesTheLast(t *testing.T) {
	w := newWorld(t)
	asked := 0
	w.host("a.example", 80, raw(func(r request) string {
		asked++
		switch r.path() {
		case "/ping":
			return redirect(302, "/pong")
		case "/pong":
			return redirect(302, "/ping")
		}
		n := 0
		fmt.Sscanf(r.path(), "/n%d", &n)
		return redirect(302, fmt.Sprintf("/n%d", n+1))
	}))
	c := w.client()
	_, err := get(t, c, "http://a.example/ping")
	wantFailure(t, err, sift.CodeUnreachable, "too many redirects", "loop", "http://a.example/pong redirects again, to http://a.example/ping")
	if asked != 6 {
		t.Errorf("%d requests for 5 redirects", asked)
	}
	_, err = get(t, c, "http://a.example/n0")
	f := wantFailure(t, err, sift.CodeUnreachable, "too many redirects", "http://a.example/n6")
	if strings.Contains(f.Message, "loop") {
		t.Errorf("no loop, but: %s", f.Message)
	}
	_, err = do(t, c, Request{URL: parse(t, c, "http://a.example/n0"), Restricted: true})
	f = wantFailure(t, err, sift.CodeUnreachable, "too many redirects")
	if strings.Contains(f.Message, "example") || f.Cause != nil {
		t.Errorf("a restricted caller's failure says %q, cause %v", f.Message, f.Cause)
	}
	_, err = get(t, w.client(func(c *Config, _ *limits) { c.MaxRedirects = 0 }), "http://a.example/n0")
	wantFailure(t, err, sift.CodeUnreachable, "too many redirects")
}

func TestARedirectWithoutATargetIsAFailure(t *testing.T) {
	for name, answer := range map[string]string{
		"302 without Location":         status(302, "text/html", "<p>content that must not be shown"),
		"302 with an empty Location":   status(302, "text/html", "<p>content", "Location: "),
		"300":                          status(300, "text/html", "<p>choices"),
		"305":                          status(305, "text/html", "", "Location: http://a.example/proxy"),
		"304 that nobody asked for":    "HTTP/1.1 304 Not Modified\r\n\r\n",
		"101 that nobody asked for":    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\nraw bytes",
		"status 999":                   status(999, "text/html", "<p>denied"),
		"status 600":                   status(600, "text/html", "<p>denied"),
		"not HTTP at all":              "220 mail.example ESMTP\r\n",
		"HTTP/0.9":                     "<html>hello",
		"a bad status code":            "HTTP/1.1 2OO OK\r\n\r\n",
		"a header without a colon":     "HTTP/1.1 200 OK\r\nX GENERATED BY DEVICE\r\n\r\nx",
		"a NUL in a header":            "HTTP/1.1 200 OK\r\nA: b\x00c\r\nContent-Length: 1\r\n\r\nx",
		"two Content-Lengths":          "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx",
		"a negative Content-Length":    "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nx",
		"Transfer-Encoding gzip":       "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
		"an overflowing chunk size":    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nx",
		"a close before any byte":      "",
		"a close in the headers":       "HTTP/1.1 200 OK\r\nContent-Ty",
		"a close before the body":      "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n",
		"a chunked body without bytes": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.host("a.example", 80, always(answer))
			resp, err := get(t, w.client(), "http://a.example/")
			if err == nil {
				t.Fatalf("came back as status %d", resp.Status)
			}
			f := wantFailure(t, err, sift.CodeUnreachable)
			if strings.Contains(f.Message, "DEVICE") || strings.Contains(f.Message, "ESMTP") {
				t.Errorf("the failure repeats the server's text: %s", f.Message)
			}
			t.Log(f)
			if n, _ := fmt.Sscanf(name, "status %d", new(int)); n == 1 && !strings.Contains(f.Message, strings.TrimPrefix(name, "status ")) {
				t.Errorf("the failure does not name the status: %s", f.Message)
			}
		})
	}
}

func TestAStatusWithoutABodyHasAnEmptyOne(t *testing.T) {
	for _, code := range []int{204, 205} {
		w := newWorld(t)
		w.host("a.example", 80, always(status(code, "text/html", "<p>must not be read")))
		r := mustGet(t, w.client(), "http://a.example/")
		if r.Status != code || r.Body.Size() != 0 || r.Partial {
			t.Errorf("status %d, %d bytes, partial %v", r.Status, r.Body.Size(), r.Partial)
		}
	}
}

func TestAPartThatNobodyAskedForIsPartial(t *testing.T) {
	w := newWorld(t)
	w.host("a.example", 80, always(status(206, "text/html", "<p>part", "Content-Range: bytes 0-6/100")))
	r := mustGet(t, w.client(), "http://a.example/")
	if !r.Partial || !strings.Contains(r.PartialReason, "206") || bodyOf(t, r) != "<p>part" {
		t.Errorf("%+v", r)
	}
}

func TestAnErrorStatusComesWithTheStartOfItsBodyAndWhenToRetry(t *testing.T) {
	w := newWorld(t)
	w.host("a.example", 80, raw(func(r request) string {
		switch r.path() {
		case "/seconds":
			return status(429, "text/plain", "slow down", "Retry-After: 600")
		case "/date":
			return status(503, "text/html", "<p>later", "Retry-After: Wed, 01 Jan 2098 00:00:00 GMT")
		case "/past":
			return status(503, "text/html", "", "Retry-After: Wed, 01 Jan 1998 00:00:00 GMT")
		case "/huge":
			return status(503, "text/html", "", "Retry-After: 99999999999999999999999")
		case "/junk":
			return status(503, "text/html", "", "Retry-After: soon")
		case "/coded":
			return status(500, "text/html", "xxxx", "Content-Encoding: x-foo")
		case "/cut":
			return "HTTP/1.1 500 X\r\nContent-Length: 100\r\n\r\n<p>half"
		}
		return status(404, "text/html", strings.Repeat("x", 200<<10))
	}))
	c := w.client()
	c.now = func() time.Time { return time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC) }
	for path, want := range map[string]time.Duration{
		"/seconds": 600 * time.Second,
		"/date":    time.Date(2098, 1, 1, 0, 0, 0, 0, time.UTC).Sub(c.now()),
		"/past":    0, "/junk": 0,
		"/huge": 100 * 365 * 24 * time.Hour,
	} {
		if r := mustGet(t, c, "http://a.example"+path); r.RetryAfter != want || r.Status < 400 {
			t.Errorf("%s: status %d, retry after %v, want %v", path, r.Status, r.RetryAfter, want)
		}
	}
	r := mustGet(t, c, "http://a.example/long")
	if r.Status != 404 || r.Body.Size() != 64<<10 || !r.Partial {
		t.Errorf("status %d, %d bytes, partial %v", r.Status, r.Body.Size(), r.Partial)
	}
	r = mustGet(t, c, "http://a.example/coded")
	if r.Status != 500 || r.Body.Size() != 0 {
		t.Errorf("status %d, %d bytes", r.Status, r.Body.Size())
	}
	r = mustGet(t, c, "http://a.example/cut")
	if r.Status != 500 || bodyOf(t, r) != "<p>half" || !r.Partial {
		t.Errorf("status %d, %q, partial %v", r.Status, bodyOf(t, r), r.Partial)
	}
}

func TestAConditionalRequestIsOneOnlyAtItsFirstHop(t *testing.T) {
	w := newWorld(t)
	var conditions []string
	w.host("a.example", 80, raw(func(r request) string {
		conditions = append(conditions, r.header.Get("If-None-Match")+r.header.Get("If-Modified-Since"))
		switch r.path() {
		case "/same":
			return "HTTP/1.1 304 Not Modified\r\nETag: \"v2\"\r\nContent-Length: 0\r\n\r\n"
		case "/moved":
			return redirect(302, "/same")
		}
		return ok("text/plain", "new")
	}))
	c := w.client()
	const date = "Tue, 01 Sep 2026 10:00:00 GMT"
	ask := func(path string, etag string) (*Response, error) {
		return do(t, c, Request{URL: parse(t, c, "http://a.example"+path), ETag: etag, LastModified: date})
	}
	r, err := ask("/same", `"v1"`)
	if err != nil || !r.NotModified || r.Body != nil || r.Status != 304 || r.ETag != `"v2"` {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err = ask("/new", `"v1"`); err != nil || r.NotModified || bodyOf(t, r) != "new" {
		t.Errorf("%+v, %v", r, err)
	}
	_, err = ask("/moved", `"v1"`)
	wantFailure(t, err, sift.CodeUnreachable, "304")
	if _, err = ask("/new", "\"v1\"\r\nX-Injected: 1"); err != nil {
		t.Errorf("an unusable ETag: %v", err)
	}
	want := []string{`"v1"` + date, `"v1"` + date, `"v1"` + date, "", date}
	if d := cmp.Diff(want, conditions); d != "" {
		t.Error(d)
	}
}

func TestOddHeadersAreCutAndCleaned(t *testing.T) {
	w := newWorld(t)
	w.host("a.example", 80, always(ok("text/html; x=\"\u202ered\u0085\"; y="+strings.Repeat("z", 5000), "x",
		"ETag: "+strings.Repeat("e", 2000), "Content-Disposition: attachment; filename=\"../../etc/x\"", "Last-Modified: \xff\xfe")))
	r := mustGet(t, w.client(), "http://a.example/")
	if !strings.HasPrefix(r.ContentType, `text/html; x="red"; y=zzz`) || len(r.ContentType) != 256 {
		t.Errorf("Content-Type %q", r.ContentType)
	}
	if r.ETag != "" || r.LastModified != "" {
		t.Errorf("ETag %q, Last-Modified %q", r.ETag, r.LastModified)
	}
}

func TestTheHostIsAnnouncedBeforeEachHopToAnother(t *testing.T) {
	w := newWorld(t)
	w.host("a.example", 80, raw(func(r request) string {
		if r.path() == "/1" {
			return redirect(302, "/2")
		}
		return redirect(302, "http://b.example/3")
	}))
	w.host("b.example", 80, always(ok("text/plain", "x")))
	c := w.client()
	var hosts []string
	busy := errors.New("busy")
	r := Request{URL: parse(t, c, "http://a.example/1"), OnHost: func(ctx context.Context, host string) error {
		if _, ok := ctx.Deadline(); !ok {
			t.Error("OnHost without the deadline of the Get")
		}
		hosts = append(hosts, host)
		return nil
	}}
	if _, err := do(t, c, r); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"a.example", "b.example"}, hosts); d != "" {
		t.Error(d)
	}
	before := len(w.contacts())
	r.OnHost = func(_ context.Context, host string) error {
		if host == "b.example" {
			return busy
		}
		return nil
	}
	if _, err := c.Get(t.Context(), r); !errors.Is(err, busy) {
		t.Errorf("error %v, want the one of OnHost as it is", err)
	}
	if got := w.contacts()[before:]; len(got) > 1 {
		t.Errorf("went on to %v", got)
	}
}

func TestCookiesLiveForOneChain(t *testing.T) {
	w := newWorld(t)
	var sent []string
	w.host("a.example", 80, raw(func(r request) string {
		sent = append(sent, r.path()+" "+r.header.Get("Cookie"))
		switch {
		case r.path() == "/bounce" && r.header.Get("Cookie") == "":
			return redirect(302, "/bounce", "Set-Cookie: seen=1; Path=/")
		case r.path() == "/meta" && r.header.Get("Cookie") == "":
			return ok("text/html", `<meta http-equiv=refresh content=0>`, "Set-Cookie: seen=2; Path=/")
		case r.path() == "/away":
			return redirect(302, "http://b.example/", "Set-Cookie: own=3", "Set-Cookie: wide=4; Domain=example", "Set-Cookie: other=5; Domain=b.example")
		}
		return ok("text/plain", "page "+r.header.Get("Cookie"))
	}))
	w.host("b.example", 80, raw(func(r request) string {
		sent = append(sent, "b "+r.header.Get("Cookie"))
		return ok("text/plain", "b")
	}))
	c := w.client()
	if got := bodyOf(t, mustGet(t, c, "http://a.example/bounce")); got != "page seen=1" {
		t.Errorf("the page that wants its cookie back: %q", got)
	}
	if got := bodyOf(t, mustGet(t, c, "http://a.example/meta")); got != "page seen=2" {
		t.Errorf("the page that reloads itself for its cookie: %q", got)
	}
	mustGet(t, c, "http://a.example/away")
	mustGet(t, c, "http://a.example/later")
	want := []string{"/bounce ", "/bounce seen=1", "/meta ", "/meta seen=2", "/away ", "b ", "/later "}
	if d := cmp.Diff(want, sent); d != "" {
		t.Error(d)
	}
}

func TestCookiesAreBounded(t *testing.T) {
	w := newWorld(t)
	var sent string
	w.host("a.example", 80, raw(func(r request) string {
		if r.path() == "/end" {
			sent = r.header.Get("Cookie")
			return ok("text/plain", "x")
		}
		var many []string
		for i := range 300 {
			many = append(many, fmt.Sprintf("Set-Cookie: c%d=v; Path=/", i))
		}
		if r.path() == "/large" {
			many = nil
			for i := range 40 {
				many = append(many, fmt.Sprintf("Set-Cookie: l%d=%s; Path=/", i, strings.Repeat("v", 1000)))
			}
		}
		return redirect(302, "/end", many...)
	}))
	c := w.client()
	mustGet(t, c, "http://a.example/many")
	if n := strings.Count(sent, "="); n != maxCookies {
		t.Errorf("%d cookies came back, want %d", n, maxCookies)
	}
	mustGet(t, c, "http://a.example/large")
	if n := len(sent); n > maxCookieBytes || n < maxCookieBytes/2 {
		t.Errorf("%d bytes of cookies came back, want at most %d", n, maxCookieBytes)
	}
}

func TestASecondAnswerBehindTheFirstIsNeverRead(t *testing.T) {
	w := newWorld(t)
	w.host("a.example", 80, func(c net.Conn) {
		raw(func(r request) string {
			if r.path() == "/1" {
				return ok("text/plain", "first") + ok("text/plain", "poison for the next")
			}
			return ok("text/plain", "second")
		})(c)
	})
	c := w.client()
	for range 3 {
		r, err := do(t, c, Request{URL: parse(t, c, "http://a.example/1"), Restricted: true})
		if err != nil || bodyOf(t, r) != "first" {
			t.Fatalf("%v", err)
		}
		if r := mustGet(t, c, "http://a.example/2"); bodyOf(t, r) != "second" {
			t.Errorf("read %q as the next answer", bodyOf(t, r))
		}
	}
}

func TestAConnectionThatDiesEarlyIsTriedOnceMore(t *testing.T) {
	for _, tt := range []struct {
		name    string
		first   string
		retried bool
	}{
		{"closed before any byte", "", true},
		{"closed in the headers", "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n", true},
		{"closed before the body", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", true},
		{"malformed", "HTTP/1.1 200 OK\r\nno colon\r\n\r\n", false},
		{"not HTTP", "hello\r\n", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			asked := 0
			w.host("a.example", 80, raw(func(request) string {
				if asked++; asked == 1 {
					return tt.first
				}
				return ok("text/plain", "second try")
			}))
			r, err := get(t, w.client(), "http://a.example/")
			switch {
			case tt.retried && (err != nil || bodyOf(t, r) != "second try" || asked != 2):
				t.Errorf("error %v after %d requests", err, asked)
			case !tt.retried && (err == nil || asked != 1):
				t.Errorf("error %v after %d requests", err, asked)
			}
		})
	}
	w := newWorld(t)
	asked := 0
	w.host("a.example", 80, raw(func(request) string {
		asked++
		if asked == 2 {
			return redirect(302, "/2", "Connection: close")
		}
		return ""
	}))
	_, err := get(t, w.client(), "http://a.example/1")
	wantFailure(t, err, sift.CodeUnreachable, "closed the connection without an answer")
	if asked != 3 {
		t.Errorf("%d requests, want one second try in all", asked)
	}
}

func TestAConnectionIsUsedAgainAfterARedirectWithASmallBody(t *testing.T) {
	w := newWorld(t)
	w.host("a.example", 80, raw(func(r request) string {
		if r.path() == "/1" {
			return status(302, "text/html", "<p>moved", "Location: /2")
		}
		return ok("text/plain", "x")
	}))
	c := w.client()
	mustGet(t, c, "http://a.example/1")
	mustGet(t, c, "http://a.example/1")
	if n := len(w.contacts()); n != 1 {
		t.Errorf("%d connections for four requests", n)
	}
	// A restricted caller's connection ends with the fetch.
	for range 2 {
		if _, err := do(t, c, Request{URL: parse(t, c, "http://a.example/2"), Restricted: true}); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(w.contacts()); n != 2 {
		t.Errorf("%d connections, want the kept one and one more", n)
	}
}

func TestTheEnvironmentCountsForNothing(t *testing.T) {
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		t.Setenv(name, "http://user:secret@127.0.0.1:3128")
	}
	t.Setenv("NO_PROXY", "")
	w := newWorld(t)
	addr := w.host("a.example", 80, raw(func(r request) string {
		if r.header.Get("Proxy-Authorization") != "" || r.path() != "/" {
			t.Errorf("the request went out as to a proxy: %v", r)
		}
		return ok("text/plain", "direct", `Alt-Svc: h3="10.0.0.1:443"; ma=86400`)
	}))
	c := w.client()
	for range 2 {
		mustGet(t, c, "http://a.example/")
	}
	for _, to := range w.contacts() {
		if to.Addr() != addr {
			t.Errorf("contacted %s", to)
		}
	}
}

func TestFailuresToConnectAreToldApart(t *testing.T) {
	w := newWorld(t)
	w.resolve("refused.example", "93.184.216.99")
	w.resolve("private.example", "10.0.0.7")
	w.host("a.example", 80, always(redirect(302, "http://private.example/")))
	c := w.client()
	_, err := get(t, c, "http://nowhere.example/")
	wantFailure(t, err, sift.CodeUnreachable, "nowhere.example")
	_, err = get(t, c, "http://refused.example/")
	wantFailure(t, err, sift.CodeUnreachable, "refused")
	_, err = get(t, c, "http://private.example/")
	if f := wantFailure(t, err, sift.CodeBlocked); f.Message != "private address 10.0.0.7" {
		t.Errorf("message %q", f.Message)
	}

	// A restricted caller is told no address that they did not write.
	for raw, want := range map[string]string{
		"http://private.example/": "private address",
		"http://a.example/":       "private address",
		"http://10.0.0.7/":        "private address 10.0.0.7",
	} {
		_, err := do(t, c, Request{URL: parse(t, c, raw), Restricted: true})
		if f := wantFailure(t, err, sift.CodeBlocked); f.Message != want || f.Cause != nil {
			t.Errorf("%s: message %q, cause %v; want %q", raw, f.Message, f.Cause, want)
		}
	}
	_, err = do(t, c, Request{URL: parse(t, c, "http://refused.example/"), Restricted: true})
	if f := wantFailure(t, err, sift.CodeUnreachable); f.Cause != nil || strings.Contains(f.Message, "93.") {
		t.Errorf("message %q, cause %v", f.Message, f.Cause)
	}
	r, err := do(t, c, Request{URL: parse(t, c, "http://10.0.0.7/")})
	if err == nil {
		t.Errorf("%+v", r)
	}
}

func TestACallerWhoLeavesEndsTheFetch(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	w.host("a.example", 80, func(c net.Conn) {
		buf := make([]byte, 4096)
		_, _ = c.Read(buf)
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
		cancel()
		_, _ = io.Copy(io.Discard, c) // until the client closes
	})
	c := w.client()
	_, err := c.Get(ctx, Request{URL: parse(t, c, "http://a.example/")})
	wantFailure(t, err, sift.CodeCancel)
}
