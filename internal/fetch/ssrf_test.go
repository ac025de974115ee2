package fetch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"sift.build/sift/internal/sift"
)

// ssrfCase is an entry of the corpus that the guard keeps. Here are those
// that need a client to be driven.
type ssrfCase struct {
	ID     string
	Setup  string
	Why    string
	Expect string
	Or     string
	Hops   []struct {
		URL      string
		Status   int
		Location string
	}
}

func ssrfCases(t *testing.T) []ssrfCase {
	t.Helper()
	b, err := os.ReadFile("../guard/testdata/ssrf_cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []ssrfCase
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// check holds an outcome to what the case expects, and the world to never
// having been left: nobody but public addresses was contacted.
func (c ssrfCase) check(t *testing.T, w *world, r *Response, err error) {
	t.Helper()
	outcome := "allow"
	if err != nil {
		f, ok := errors.AsType[*sift.Failure](err)
		if !ok {
			t.Fatalf("%T %v", err, err)
		}
		switch {
		case f.Code == sift.CodeBlocked && strings.HasPrefix(f.Message, "private address"):
			outcome = "block-at-connect"
		case f.Code == sift.CodeBlocked, f.Code == sift.CodeUnreachable && strings.Contains(f.Message, "redirect"):
			outcome = "refuse-at-precheck"
		default:
			t.Errorf("%v (cause %v)", f, f.Cause)
		}
		t.Log(f)
	} else if r.Status/100 == 3 {
		t.Errorf("a redirect came back as content: %d", r.Status)
	}
	if outcome != c.Expect && outcome != c.Or {
		t.Errorf("%s; want %s %s: %s (%s)", outcome, c.Expect, c.Or, c.Setup, c.Why)
	}
	for _, to := range w.contacts() {
		if to.Addr().As4()[0] != 93 {
			t.Errorf("contacted %s", to)
		}
	}
}

// ssrfScripts plays the cases whose setup is told in words only.
var ssrfScripts = map[string]func(t *testing.T, w *world) (*Response, error){
	"redir-26": func(t *testing.T, w *world) (*Response, error) {
		w.host("a.example", 80, always(redirect(302, "http://b.example/")))
		w.host("b.example", 80, always(redirect(302, "http://a.example/")))
		return get(t, w.client(), "http://a.example/")
	},
	"redir-27": func(t *testing.T, w *world) (*Response, error) {
		for i := range 7 {
			w.host(fmt.Sprintf("h%d.example", i), 80, always(redirect(302, fmt.Sprintf("http://h%d.example/", i+1))))
		}
		return get(t, w.client(), "http://h0.example/")
	},
	"redir-29": func(t *testing.T, w *world) (*Response, error) {
		w.host("start.example", 80, always(status(302, "text/html", "<p>content?")))
		return get(t, w.client(), "http://start.example/")
	},
	"redir-30": func(t *testing.T, w *world) (*Response, error) {
		w.host("start.example", 80, always(redirect(302, "http://start.example/"+strings.Repeat("x", 20_000))))
		return get(t, w.client(), "http://start.example/")
	},
	"redir-31": func(t *testing.T, w *world) (*Response, error) {
		w.host("start.example", 80, raw(func(r request) string {
			if r.path() == "/end" {
				return ok("text/plain", "end")
			}
			return fmt.Sprintf("HTTP/1.1 302 Found\r\nLocation: /end\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", 1<<20, bomb(gzipCoding, 8<<20))
		}))
		return get(t, w.client(), "http://start.example/")
	},
	"redir-32": func(t *testing.T, w *world) (*Response, error) {
		w.host("start.example", 80, always(ok("text/html", "<p>x", "Refresh: 0;url=http://127.0.0.1/")))
		return get(t, w.client(), "http://start.example/")
	},
	"redir-33": func(t *testing.T, w *world) (*Response, error) {
		w.host("start.example", 80, always(ok("text/html", "<meta http-equiv=refresh content='0;url=http://169.254.169.254/'>")))
		return get(t, w.client(), "http://start.example/")
	},
	"redir-34": func(t *testing.T, w *world) (*Response, error) {
		w.https("start.example", http.RedirectHandler("http://other.example/", http.StatusFound), []string{"h2"}, nil)
		w.host("other.example", 80, raw(func(r request) string {
			if len(r.header["Referer"]) > 0 {
				t.Errorf("Referer %q", r.header["Referer"])
			}
			return ok("text/plain", "other")
		}))
		r, err := get(t, w.client(), "https://start.example/?token=1")
		if err == nil && (len(r.Hops) != 1 || r.FinalURL.Scheme() != "http") {
			t.Errorf("the result does not say that the redirect left https: %v, %s", r.Hops, r.FinalURL)
		}
		return r, err
	},
	"redir-36": func(t *testing.T, w *world) (*Response, error) {
		serve := raw(func(r request) string {
			if len(r.header["Cookie"]) > 0 {
				t.Errorf("a cookie came along: %v", r)
			}
			if r.header.Get("Host") == "start.example" {
				return redirect(302, "http://other.example/", "Set-Cookie: id=1; Path=/")
			}
			return ok("text/plain", "other")
		})
		w.host("start.example", 80, serve)
		w.host("other.example", 80, serve)
		c := w.client()
		mustGet(t, c, "http://start.example/")
		return get(t, c, "http://start.example/")
	},
	"rebind-01": func(t *testing.T, w *world) (*Response, error) {
		w.host("rb.example", 80, always(ok("text/plain", "x")))
		c := w.client()
		if v := c.cfg.Guard.Explain(t.Context(), "http://rb.example/"); v.Verdict != "allow" {
			t.Errorf("at submit: %v", v)
		}
		w.resolve("rb.example", "127.0.0.1")
		return get(t, c, "http://rb.example/")
	},
	"rebind-02": func(t *testing.T, w *world) (*Response, error) {
		w.host("rb2.example", 80, always(ok("text/plain", "x")))
		c := w.client()
		u := parse(t, c, "http://rb2.example/")
		w.resolve("rb2.example", "10.0.0.1")
		return do(t, c, Request{URL: u})
	},
	"rebind-03": func(t *testing.T, w *world) (*Response, error) {
		w.host("rb3.example", 80, raw(func(request) string {
			w.resolve("rb3.example", "127.0.0.1")
			return redirect(302, "/again", "Connection: close")
		}))
		return get(t, w.client(), "http://rb3.example/")
	},
	"rebind-04": func(t *testing.T, w *world) (*Response, error) {
		a := w.host("rb4.example", 80, always(ok("text/plain", "x")))
		w.resolve("rb4.example", a.String(), "::1")
		return get(t, w.client(), "http://rb4.example/")
	},
	"rebind-05": func(t *testing.T, w *world) (*Response, error) {
		w.host("rb5.example", 80, always(ok("text/plain", "x")))
		c := w.client()
		mustGet(t, c, "http://rb5.example/")
		w.resolve("rb5.example", "127.0.0.1")
		return get(t, c, "http://rb5.example/")
	},
	"rebind-06": func(t *testing.T, w *world) (*Response, error) {
		c := w.client()
		if _, err := get(t, c, "http://rb6.example/"); err == nil {
			t.Error("a name without an address was reached")
		}
		w.resolve("rb6.example", "169.254.169.254")
		return get(t, c, "http://rb6.example/")
	},
	"rebind-07": func(t *testing.T, w *world) (*Response, error) {
		w.host("rb7.example", 80, always(ok("text/plain", "x")))
		c := w.client()
		mustGet(t, c, "http://rb7.example/")
		c.Close() // the kept connection would be fine
		w.resolve("rb7.example", "10.0.0.1")
		return get(t, c, "http://rb7.example/")
	},
	"path-01": func(t *testing.T, w *world) (*Response, error) {
		w.host("start.example", 80, raw(func(r request) string {
			if r.path() == "/robots.txt" {
				return redirect(302, "http://169.254.169.254/")
			}
			return ok("text/plain", "x")
		}))
		return get(t, w.client(func(c *Config, _ *limits) { c.Robots = "respect" }), "http://start.example/")
	},
	"path-02": func(t *testing.T, w *world) (*Response, error) {
		w.host("start.example", 80, always(ok("text/html", `<link rel=alternate type="application/json+oembed" href="http://10.0.0.1/"><meta property="og:image" content="http://10.0.0.1/">`)))
		r, err := get(t, w.client(), "http://start.example/")
		if err != nil || len(w.contacts()) != 1 {
			t.Errorf("%v, contacts %v", err, w.contacts())
		}
		return r, err
	},
	"path-03": func(t *testing.T, w *world) (*Response, error) {
		w.host("start.example", 80, always(ok("application/xml", `<!DOCTYPE x SYSTEM "http://127.0.0.1/x.dtd" [<!ENTITY e SYSTEM "http://127.0.0.1/e">]><x>&e;</x>`)))
		return get(t, w.client(), "http://start.example/")
	},
	"path-04": func(t *testing.T, w *world) (*Response, error) {
		w.host("start.example", 80, always(ok("image/svg+xml", `<?xml-stylesheet href="http://127.0.0.1/x.xsl"?><svg xmlns:xlink="x"><image xlink:href="http://127.0.0.1/"/><style>@import "http://127.0.0.1/"</style></svg>`)))
		return get(t, w.client(), "http://start.example/")
	},
	"path-08": func(t *testing.T, w *world) (*Response, error) {
		for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
			t.Setenv(name, "http://127.0.0.1:3128")
		}
		t.Setenv("NO_PROXY", "")
		w.host("start.example", 80, always(ok("text/plain", "direct")))
		return get(t, w.client(), "http://start.example/")
	},
	"path-16": func(t *testing.T, w *world) (*Response, error) {
		c := w.client()
		for _, network := range []string{"udp", "udp4", "unix"} {
			if conn, err := c.either.DialContext(t.Context(), network, "93.184.216.34:80"); err == nil {
				conn.Close()
				t.Errorf("dialled %s", network)
			}
		}
		return get(t, c, "http://127.0.0.1/")
	},
	"path-17": func(t *testing.T, w *world) (*Response, error) {
		w.host("start.example", 80, always(ok("text/plain", "x", `Alt-Svc: h3="10.0.0.1:443", h2="10.0.0.1:443"; ma=86400`)))
		c := w.client()
		mustGet(t, c, "http://start.example/")
		c.Close()
		return get(t, c, "http://start.example/")
	},
	"path-18": func(t *testing.T, w *world) (*Response, error) {
		return get(t, w.client(), "http://169.254.169.254/")
	},
	"path-19": func(t *testing.T, w *world) (*Response, error) {
		c := w.client()
		var texts []string
		for range 3 {
			_, err := get(t, c, "http://10.0.0.1/")
			texts = append(texts, err.Error())
		}
		if len(slices.Compact(texts)) != 1 || len(w.contacts()) > 0 {
			t.Errorf("texts %q, contacts %v", texts, w.contacts())
		}
		return get(t, c, "http://10.0.0.1/")
	},
}

// elsewhere are cases of these families that no client is needed for, or that
// another package drives.
var elsewhere = []string{
	"path-05",                                  // the PDF child
	"path-07",                                  // the API refuses the field
	"path-10", "path-12", "path-13", "path-15", // the guard's exceptions and addresses
}

func TestRedirectsRebindingAndSidePathsOfTheCorpus(t *testing.T) {
	seen := 0
	for _, c := range ssrfCases(t) {
		family, _, _ := strings.Cut(c.ID, "-")
		if family != "redir" && family != "rebind" && family != "path" || slices.Contains(elsewhere, c.ID) {
			continue
		}
		seen++
		t.Run(c.ID, func(t *testing.T) {
			w := newWorld(t)
			if script := ssrfScripts[c.ID]; script != nil {
				r, err := script(t, w)
				if c.ID == "path-02" && err == nil {
					return // no feature of the client reads such links: nothing is there to be blocked
				}
				c.check(t, w, r, err)
				return
			}
			if len(c.Hops) == 0 {
				t.Fatalf("nothing plays this case: %s", c.Setup)
			}
			w.resolve("priv.example", "10.0.0.5")
			w.resolve("localhost", "127.0.0.1") // as the real resolver has it from the hosts file
			answers := map[string]string{}
			for _, h := range c.Hops {
				answers[h.URL] = redirect(h.Status, h.Location)
			}
			serve := raw(func(r request) string {
				if a := answers["http://"+r.header.Get("Host")+r.path()]; a != "" {
					return a
				}
				return ok("text/plain", "stayed")
			})
			for _, h := range c.Hops {
				u, err := url.Parse(h.URL)
				if err != nil {
					t.Fatal(err)
				}
				w.host(u.Hostname(), 80, serve)
			}
			r, err := get(t, w.client(), c.Hops[0].URL)
			c.check(t, w, r, err)
		})
	}
	if seen < 43 {
		t.Errorf("%d cases, is the corpus complete?", seen)
	}
}

func TestARefusalIsNeverHiddenByAnotherAddressThatFails(t *testing.T) {
	w := newWorld(t)
	w.resolve("mixed.example", "93.184.216.77", "192.168.1.1")
	w.resolve("mixed2.example", "192.168.1.1", "93.184.216.77")
	c := w.client()
	for _, u := range []string{"http://mixed.example/", "https://mixed2.example/"} {
		_, err := get(t, c, u)
		wantFailure(t, err, sift.CodeBlocked, "blocked: private address 192.168.1.1")
	}
	if len(w.contacts()) > 0 {
		t.Errorf("contacted %v", w.contacts())
	}
}

func TestAGetThatIsCancelledDuringARedirectContactsNobodyElse(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	w.host("a.example", 80, raw(func(request) string {
		cancel()
		return redirect(302, "http://b.example/")
	}))
	w.host("b.example", 80, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
	c := w.client()
	start := time.Now()
	_, err := c.Get(ctx, Request{URL: parse(t, c, "http://a.example/")})
	wantFailure(t, err, sift.CodeCancel)
	if len(w.contacts()) != 1 || time.Since(start) > 5*time.Second {
		t.Errorf("contacts %v after %v", w.contacts(), time.Since(start))
	}
}
