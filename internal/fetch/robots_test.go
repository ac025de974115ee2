package fetch

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"sift.build/sift/internal/sift"
)

func respect(c *Config, _ *limits) { c.Robots = "respect" }

func TestRobotsRulesAreThoseOfRFC9309(t *testing.T) {
	for _, tt := range []struct {
		name, text  string
		allow, deny []string
	}{
		{"nothing", "", []string{"/", "/x"}, nil},
		{"everything forbidden", "User-agent: *\nDisallow: /", []string{"/robots.txt"}, []string{"/", "/x?y"}},
		{"an empty rule forbids nothing", "User-agent: *\nDisallow:\n", []string{"/x"}, nil},
		{"our group wins over everyone's", "User-agent: *\nDisallow: /\n\nUser-agent: sift\nDisallow: /private", []string{"/x"}, []string{"/private/a"}},
		{"our group with a version and capitals", "User-Agent: SIFT/2.0\nDisallow: /a", []string{"/b"}, []string{"/a"}},
		{"a group of several names", "User-agent: other\nUser-agent: sift\nDisallow: /a\n", []string{"/b"}, []string{"/a"}},
		{"groups of one name are one", "User-agent: sift\nDisallow: /a\n\nUser-agent: x\nDisallow: /\n\nUser-agent: sift\nDisallow: /b", []string{"/c"}, []string{"/a", "/b"}},
		{"a name that only begins like ours", "User-agent: sif\nDisallow: /\nUser-agent: siftbot\nDisallow: /", []string{"/x"}, nil},
		{"an empty group of ours", "User-agent: *\nDisallow: /\n\nUser-agent: sift\nDisallow:\n", []string{"/x"}, nil},
		{"the longest rule decides", "User-agent: *\nAllow: /example/page/\nDisallow: /example/page/disallowed.gif\n", []string{"/example/page/"}, []string{"/example/page/disallowed.gif"}},
		{"allow wins a tie", "User-agent: *\nDisallow: /a\nAllow: /a\n", []string{"/a"}, nil},
		{"case counts", "User-agent: *\nDisallow: /A\n", []string{"/a"}, []string{"/Ab"}},
		{"a star", "User-agent: *\nDisallow: /*.gif\n", []string{"/a.png"}, []string{"/x/a.gif?b"}},
		{"an end", "User-agent: *\nDisallow: /*.gif$\n", []string{"/a.gif?b", "/a.gifs"}, []string{"/a.gif"}},
		{"a rule begins at the start", "User-agent: *\nDisallow: /foo*bar\n", []string{"/x/foo/bar"}, []string{"/foo/bar", "/foobar"}},
		{"a star in front", "User-agent: *\nDisallow: *secret\n", []string{"/x"}, []string{"/a/secret"}},
		{"a query", "User-agent: *\nDisallow: /s?q=\n", []string{"/s"}, []string{"/s?q=1"}},
		{"without its slash", "User-agent: *\nDisallow: tmp\n", []string{"/x"}, []string{"/tmp"}},
		{"escapes that need not be", "User-agent: *\nDisallow: /%7Ejoe/%61\n", []string{"/~joe/b"}, []string{"/~joe/a", "/%7ejoe/%61"}},
		{"escapes that must be", "User-agent: *\nDisallow: /a%2fb\nDisallow: /käse", []string{"/a/b"}, []string{"/a%2Fb", "/k%C3%A4se/x"}},
		{"comments, blanks, CR and a BOM", "\xef\xbb\xbfUser-agent : * # all\r\n  Disallow :  /a  # not this\rAllow: /ab", []string{"/ab", "/b"}, []string{"/a"}},
		{"lines that mean nothing", "<html>\nDisallow: /\nUser-agent: *\nCrawl-delay: ten\nSitemap: http://a.example/x\nNoindex: /b\nDisallow: /a", []string{"/b"}, []string{"/a"}},
		{"rules before any group", "Disallow: /\nUser-agent: other\nDisallow: /", []string{"/x"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rules := parseRobots([]byte(tt.text), "sift")
			for _, p := range tt.allow {
				if !rules.allowed(p) {
					t.Errorf("%s is not allowed", p)
				}
			}
			for _, p := range tt.deny {
				if rules.allowed(p) {
					t.Errorf("%s is allowed", p)
				}
			}
		})
	}
}

func TestHostileRobotsRulesCostLittle(t *testing.T) {
	var b strings.Builder
	b.WriteString("User-agent: *\n")
	for b.Len() < 500<<10 {
		b.WriteString("Disallow: /" + strings.Repeat("*a", 60) + "b$\n")
	}
	start := time.Now()
	rules := parseRobots([]byte(b.String()), "sift")
	if !rules.allowed("/" + strings.Repeat("a", 8000)) {
		t.Error("not allowed")
	}
	if len(rules.rules) > robotsMaxRules {
		t.Errorf("%d rules", len(rules.rules))
	}
	if d := time.Since(start); d > 10*time.Second {
		t.Errorf("took %v", d)
	}
}

func TestRobotsAreAskedForEachHostBeforeItsPages(t *testing.T) {
	w := newWorld(t)
	var asked []string
	site := func(robots string) func(net.Conn) {
		return raw(func(r request) string {
			asked = append(asked, r.header.Get("Host")+r.path())
			switch r.path() {
			case "/robots.txt":
				return ok("text/plain", robots)
			case "/to-b":
				return redirect(302, "http://b.example/private/x")
			}
			return ok("text/plain", "page")
		})
	}
	w.host("a.example", 80, site("User-agent: sift\nDisallow: /no"))
	w.host("b.example", 80, site("User-agent: *\nDisallow: /private"))
	c := w.client(respect)
	mustGet(t, c, "http://a.example/yes")
	_, err := get(t, c, "http://a.example/no?x=1")
	wantFailure(t, err, sift.CodeBlocked, "robots.txt of a.example disallows /no?x=1", `[fetch] robots = "ignore"`)
	_, err = get(t, c, "http://a.example/to-b")
	wantFailure(t, err, sift.CodeBlocked, "robots.txt of b.example disallows /private/x")
	mustGet(t, c, "http://a.example/robots.txt")
	want := []string{"a.example/robots.txt", "a.example/yes", "a.example/to-b", "b.example/robots.txt", "a.example/robots.txt"}
	if d := cmp.Diff(want, asked); d != "" {
		t.Error(d)
	}

	// A restricted caller neither profits from the cache nor fills it.
	asked = nil
	_, err = do(t, c, Request{URL: parse(t, c, "http://a.example/to-b"), Restricted: true})
	f := wantFailure(t, err, sift.CodeBlocked, "robots.txt")
	if strings.Contains(f.Message, "b.example") {
		t.Errorf("names a host: %s", f.Message)
	}
	if d := cmp.Diff([]string{"a.example/robots.txt", "a.example/to-b", "b.example/robots.txt"}, asked); d != "" {
		t.Error(d)
	}

	asked = nil
	mustGet(t, w.client(), "http://a.example/no")
	if d := cmp.Diff([]string{"a.example/no"}, asked); d != "" {
		t.Errorf("with robots ignored: %s", d)
	}
}

func TestTheStatusOfRobotsDecides(t *testing.T) {
	for _, tt := range []struct {
		name, robots string
		code         sift.Code // "": the page may be read
		words        []string
	}{
		{"404", status(404, "text/html", "User-agent: *\nDisallow: /"), "", nil},
		{"410", status(410, "", ""), "", nil},
		{"401", status(401, "", ""), sift.CodeBlocked, []string{"status 401"}},
		{"403", status(403, "", ""), sift.CodeBlocked, []string{"status 403", `robots = "ignore"`}},
		{"500", status(500, "", ""), sift.CodeBlocked, []string{"status 500", `robots = "ignore"`}},
		{"no answer", "", sift.CodeUnreachable, []string{"robots.txt of a.example could not be read", "closed the connection"}},
		{"cut short", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nUser-agent: *\n", sift.CodeUnreachable, []string{"robots.txt of a.example could not be read", "cut short"}},
		{"a redirect", redirect(301, "http://b.example/elsewhere.txt"), sift.CodeBlocked, []string{"disallows /x"}},
		{"a redirect to nowhere", status(302, "", ""), "", nil},
		{"a loop", redirect(302, "/robots.txt"), "", nil},
		{"compressed", ok("text/plain", packed(gzipCoding, "User-agent: *\nDisallow: /x"), "Content-Encoding: gzip"), sift.CodeBlocked, []string{"disallows /x"}},
		{"more than is read", ok("text/plain", strings.Repeat("# padding\n", 60_000)+"User-agent: *\nDisallow: /"), "", nil},
		{"more than a body may have", ok("text/plain", "User-agent: *\nDisallow: /x\n"+strings.Repeat("# padding\n", 1_100_000)), sift.CodeBlocked, []string{"disallows /x"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.host("a.example", 80, raw(func(r request) string {
				if r.path() == "/robots.txt" {
					return tt.robots
				}
				return ok("text/plain", "page")
			}))
			w.host("b.example", 80, always(ok("text/plain", "User-agent: *\nDisallow: /x")))
			r, err := get(t, w.client(respect), "http://a.example/x")
			if tt.code == "" {
				if err != nil || bodyOf(t, r) != "page" {
					t.Errorf("%v", err)
				}
				return
			}
			if err == nil {
				t.Fatal("the page was read")
			}
			t.Log(wantFailure(t, err, tt.code, tt.words...))
		})
	}
}

func TestRobotsHaveATimeOfTheirOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newBubble(t)
		w.host("a.example", 80, hang)
		c := w.client(respect)
		start := time.Now()
		_, err := c.Get(t.Context(), Request{URL: parse(t, c, "http://a.example/")})
		wantFailure(t, err, sift.CodeTimeout, "robots.txt of a.example could not be read", "timed out")
		if d := time.Since(start); d != 10*time.Second {
			t.Errorf("took %v", d)
		}
	})
}

func TestTheRobotsCacheIsBoundedAndForgets(t *testing.T) {
	var c robotsCache
	l := defaultLimits()
	now := time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC)
	for i := range 300 {
		c.put(fmt.Sprint(i), &robotsRules{}, now.Add(time.Duration(i)*time.Second), l)
	}
	if len(c.entries) != 256 {
		t.Errorf("%d entries", len(c.entries))
	}
	later := now.Add(300 * time.Second)
	if _, ok := c.get("0", later); ok {
		t.Error("the oldest is still there")
	}
	if _, ok := c.get("299", later); !ok {
		t.Error("the newest has gone")
	}
	if _, ok := c.get("299", now.Add(time.Hour+299*time.Second)); ok {
		t.Error("believed for more than an hour")
	}
	c.put("large", &robotsRules{bytes: robotsMaxKept + 1}, later, l)
	if _, ok := c.get("large", later); ok {
		t.Error("rules of unusual size are kept")
	}
}

func TestARobotsFileIsNotReadOnForEver(t *testing.T) {
	w := newWorld(t)
	w.host("a.example", 80, func(c net.Conn) {
		raw(func(r request) string {
			if r.path() != "/robots.txt" {
				return ok("text/plain", "page")
			}
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\nUser-agent: *\nDisallow: /no\n")
			for {
				if _, err := io.WriteString(c, strings.Repeat("# more\n", 1000)); err != nil {
					return ""
				}
			}
		})(c)
	})
	c := w.client(respect)
	mustGet(t, c, "http://a.example/yes")
	_, err := get(t, c, "http://a.example/no")
	wantFailure(t, err, sift.CodeBlocked, "disallows /no")
}
