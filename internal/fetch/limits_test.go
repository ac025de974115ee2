package fetch

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sift.build/sift/internal/sift"
)

// hang reads from a connection until the other side closes it.
func hang(c net.Conn) { _, _ = io.Copy(io.Discard, c) }

// drip writes s one byte at a time with a pause before each, and then hangs.
func drip(c net.Conn, s string, pause time.Duration) {
	for i := range len(s) {
		time.Sleep(pause)
		if _, err := io.WriteString(c, s[i:i+1]); err != nil {
			return
		}
	}
	hang(c)
}

func afterRequest(then func(c net.Conn)) func(net.Conn) {
	return func(c net.Conn) {
		if _, ok := readRequest(bufio.NewReader(c)); ok {
			then(c)
		}
	}
}

// The clock of these is the bubble's: nothing waits for real.
func TestNoServerCanHoldAFetchForLong(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 1000000\r\n\r\n"
	for _, tt := range []struct {
		name    string
		url     string
		timeout time.Duration
		serve   func(net.Conn)
		want    time.Duration
		words   []string
	}{
		{"says nothing", "http://a.example/", 0, hang, 15 * time.Second, []string{"timed out after 15s", "waiting for the response headers"}},
		{"says nothing, little time", "http://a.example/", 2 * time.Second, hang, 2 * time.Second, []string{"timed out after 2s", "waiting for the response headers"}},
		{"drips its headers", "http://a.example/", 0, afterRequest(func(c net.Conn) { drip(c, "HTTP/1.1 200 OK\r\nX: "+strings.Repeat("x", 100), 500*time.Millisecond) }),
			15 * time.Second, []string{"timed out", "headers"}},
		{"sends informational answers for ever", "http://a.example/", 0, afterRequest(func(c net.Conn) {
			for {
				time.Sleep(100 * time.Millisecond)
				if _, err := io.WriteString(c, "HTTP/1.1 103 Early Hints\r\n\r\n"); err != nil {
					return
				}
			}
		}), 15 * time.Second, []string{"timed out", "headers"}},
		{"stops in the body", "http://a.example/", 0, afterRequest(func(c net.Conn) { _, _ = io.WriteString(c, head+text(200)); hang(c) }),
			10 * time.Second, []string{"timed out while reading the body", "200 bytes had arrived"}},
		{"stops in the body, little time", "http://a.example/", 2 * time.Second, afterRequest(func(c net.Conn) { _, _ = io.WriteString(c, head+text(200)); hang(c) }),
			2 * time.Second, []string{"timed out after 2s", "while reading the body", "200 bytes had arrived"}},
		{"drips its body", "http://a.example/", 0, afterRequest(func(c net.Conn) { _, _ = io.WriteString(c, head); drip(c, text(1000), 5*time.Second) }),
			10 * time.Second, []string{"timed out while reading the body", "less than 10 KiB came in 10s"}},
		{"stops after a good start", "http://a.example/", 0, afterRequest(func(c net.Conn) { _, _ = io.WriteString(c, head+text(100<<10)); hang(c) }),
			11 * time.Second, []string{"timed out while reading the body", "100 KiB had arrived"}},
		{"sends just fast enough, for ever", "http://a.example/", 0, afterRequest(func(c net.Conn) {
			_, _ = io.WriteString(c, head)
			for {
				if _, err := io.WriteString(c, text(1300)); err != nil {
					return
				}
				time.Sleep(time.Second)
			}
		}), 30 * time.Second, []string{"timed out after 30s", "while reading the body"}},
		{"redirects slowly", "http://a.example/", 0, afterRequest(func(c net.Conn) {
			time.Sleep(8 * time.Second)
			_, _ = io.WriteString(c, redirect(302, "/again", "Connection: close"))
		}), 30 * time.Second, []string{"timed out after 30s", "headers"}},
		{"never ends the body of its redirect", "http://a.example/", 3 * time.Second, afterRequest(func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 302 Found\r\nLocation: http://b.example/\r\nContent-Length: 1000\r\n\r\nx")
			hang(c)
		}), 200 * time.Millisecond, nil},
		{"never ends the body of its error", "http://a.example/404", 0, afterRequest(func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 404 Not Found\r\nContent-Length: 1000\r\n\r\nno such page")
			hang(c)
		}), 10 * time.Second, nil},
		{"never shakes hands", "https://a.example/", 0, hang, 5 * time.Second, []string{"timed out after 5s", "TLS handshake"}},
		{"never shakes hands, little time", "https://a.example/", time.Second, hang, time.Second, []string{"timed out after 1s", "TLS handshake"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newBubble(t)
				w.host("a.example", 80, tt.serve)
				w.host("a.example", 443, tt.serve)
				w.host("b.example", 80, always(ok("text/plain", "end")))
				c := w.client()
				start := time.Now()
				r, err := c.Get(t.Context(), Request{URL: parse(t, c, tt.url), Timeout: tt.timeout})
				if d := time.Since(start); d < tt.want || d > tt.want+tt.want/10 {
					t.Errorf("took %v, want %v", d, tt.want)
				}
				switch {
				case tt.words == nil && err != nil:
					t.Error(err)
				case tt.words == nil:
					r.Body.Close()
				default:
					t.Log(wantFailure(t, err, sift.CodeTimeout, tt.words...))
				}
			})
		})
	}
}

func TestLookingUpConnectingAndHandshakesEndWithTheFetch(t *testing.T) {
	for _, what := range []string{"lookup", "connect", "handshake"} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newBubble(t)
				ended := false
				w.stuck = func(ctx context.Context, at string) error {
					if at != what {
						return nil
					}
					<-ctx.Done()
					ended = true
					return ctx.Err()
				}
				w.host("a.example", 443, func(c net.Conn) {
					hang(c)
					ended = true
				})
				c := w.client()
				_, err := c.Get(t.Context(), Request{URL: parse(t, c, "https://a.example/"), Timeout: time.Second})
				want := "while connecting"
				if what == "handshake" {
					want = "during the TLS handshake"
				}
				wantFailure(t, err, sift.CodeTimeout, "timed out after 1s", want)
				synctest.Wait()
				if !ended {
					t.Error("it goes on when nobody waits for it")
				}
			})
		})
	}
}

func TestTheCallersOwnDeadlineIsATimeoutToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newBubble(t)
		w.host("a.example", 80, hang)
		c := w.client()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := c.Get(ctx, Request{URL: parse(t, c, "http://a.example/")})
		f := wantFailure(t, err, sift.CodeTimeout, "timed out while waiting for the response headers")
		if strings.Contains(f.Message, "30s") {
			t.Errorf("the caller's deadline is passed off as ours: %s", f.Message)
		}
	})
}

func TestResponseHeadersAreBounded(t *testing.T) {
	for name, answer := range map[string]string{
		"one header of 100 KB":        "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 100<<10) + "\r\n\r\nbody",
		"3000 headers":                "HTTP/1.1 200 OK\r\n" + strings.Repeat("X-Header-Name: some value of a header\r\n", 3000) + "\r\nbody",
		"5000 informational answers":  strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 5000) + ok("text/plain", "x"),
		"headers that never end":      "HTTP/1.1 200 OK\r\n" + strings.Repeat("A: b\r\n", 100<<10),
		"a status line that goes on":  "HTTP/1.1 200 " + strings.Repeat("OK", 100<<10),
		"a redirect with large extra": "HTTP/1.1 302 Found\r\nLocation: /\r\nX: " + strings.Repeat("x", 100<<10) + "\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.host("a.example", 80, always(answer))
			_, err := get(t, w.client(), "http://a.example/")
			wantFailure(t, err, sift.CodeTooLong, "response headers", "64 KiB")
		})
	}
}

func TestABodyOverItsLimitIsAFailureThatNamesTheKey(t *testing.T) {
	small := func(c *Config, _ *limits) { c.MaxBytes, c.MaxPDFBytes = 64<<10, 128<<10 }
	pdf := func(n int) string { return ("%PDF-1.7\n" + string(noise(n)))[:n] }
	endless := func(start string) func(net.Conn) {
		return afterRequest(func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: audio/mpeg\r\n\r\n"+start)
			for {
				if _, err := c.Write(noise(4096)); err != nil {
					return
				}
			}
		})
	}
	for _, tt := range []struct {
		name  string
		serve func(net.Conn)
		code  sift.Code // "": it comes
		words []string
	}{
		{"at the limit", always(ok("text/html", text(64<<10))), "", nil},
		{"one more", always(ok("text/html", text(64<<10+1))), sift.CodeTooLong, []string{"larger than 64 KiB;", "[fetch] max_bytes"}},
		{"one more after decompression", always(ok("text/html", packed(gzipCoding, text(64<<10+1)), "Content-Encoding: gzip")), sift.CodeTooLong, []string{"64 KiB after decompression", "[fetch] max_bytes"}},
		{"at the limit after decompression", always(ok("text/html", packed(gzipCoding, text(64<<10)), "Content-Encoding: gzip")), "", nil},
		{"more on the wire than after it", always(ok("text/html", packed(gzipCoding, "x")+string(noise(70<<10)), "Content-Encoding: gzip")), "", nil},
		{"noise that compresses to more", always(ok("text/html", packed(gzipCoding, string(noise(64<<10))), "Content-Encoding: gzip")), sift.CodeTooLong, []string{"64 KiB"}},
		{"a PDF at its limit", always(ok("application/pdf", pdf(128<<10))), "", nil},
		{"a PDF that says octet-stream", always(ok("application/octet-stream", pdf(128<<10))), "", nil},
		{"a PDF behind blanks", always(ok("", "\r\n \xef\xbb\xbf"+pdf(100<<10))), "", nil},
		{"a PDF over it", always(ok("text/html", pdf(128<<10+1))), sift.CodeTooLong, []string{"larger than 128 KiB", "[fetch] max_pdf_bytes"}},
		{"a compressed PDF over it", always(ok("text/html", packed(gzipCoding, pdf(128<<10+1)), "Content-Encoding: gzip")), sift.CodeTooLong, []string{"larger than 128 KiB", "[fetch] max_pdf_bytes"}},
		{"a page that says it is a PDF", always(ok("application/pdf", text(64<<10+1))), sift.CodeTooLong, []string{"[fetch] max_bytes"}},
		{"a length that nobody has", always("HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\n" + text(1000)), "", nil},
		{"a radio station", endless("\xff\xfb\x90\x64"), sift.CodeUnsupported, []string{"audio/mpeg", "more than 64 KiB"}},
		{"an endless page", endless("<html>"), sift.CodeTooLong, []string{"[fetch] max_bytes"}},
		{"a film", always("HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\nContent-Length: 1073741824\r\n\r\n\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom" + string(noise(2000))),
			sift.CodeUnsupported, []string{"video/mp4", "1024 MiB"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.host("a.example", 80, tt.serve)
			r, err := get(t, w.client(small), "http://a.example/")
			if tt.code == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if err == nil {
				t.Fatalf("%d bytes came", r.Body.Size())
			}
			f := wantFailure(t, err, tt.code, tt.words...)
			t.Log(f)
		})
	}
}

func TestABodyThatIsCutShortIsPartial(t *testing.T) {
	for name, tt := range map[string]struct{ answer, words string }{
		"Content-Length too long":  {"HTTP/1.1 200 OK\r\nContent-Length: 9012\r\n\r\n<p>half a tr", "cut short after 12 of 9012 bytes"},
		"chunks without an end":    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nc\r\n<p>half a tr\r\n", "cut short after 12 bytes"},
		"a chunk cut off":          {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n<p>half a tr", "cut short after 12 bytes"},
		"a chunk size of nonsense": {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nc\r\n<p>half a tr\r\nzz\r\n", "cut short after 12 bytes"},
		"endless chunk extensions": {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nc\r\n<p>half a tr\r\n1;" + strings.Repeat("x", 100<<10), "cut short after 12 bytes"},
		"endless trailers":         {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nc\r\n<p>half a tr\r\n0\r\n" + strings.Repeat("A: b\r\n", 100<<10), "cut short after 12 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.host("a.example", 80, always(tt.answer))
			r := mustGet(t, w.client(), "http://a.example/")
			if got := bodyOf(t, r); got != "<p>half a tr" {
				t.Errorf("body %q", got)
			}
			if !r.Partial || !strings.Contains(r.PartialReason, tt.words) {
				t.Errorf("partial %v: %q", r.Partial, r.PartialReason)
			}
		})
	}
}

func TestAnEndThatNobodyAnnouncedIsTheEnd(t *testing.T) {
	w := newWorld(t)
	w.host("a.example", 80, always("HTTP/1.0 200 OK\r\n\r\n<p>all of it"))
	r := mustGet(t, w.client(), "http://a.example/")
	if bodyOf(t, r) != "<p>all of it" || r.Partial {
		t.Errorf("%q, partial %v", bodyOf(t, r), r.Partial)
	}
}

func TestAfterEachHostileServerAGoodFetchStillWorks(t *testing.T) {
	w := newWorld(t)
	hostile := []string{"", "\x00\x01\x02", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nx", "HTTP/1.1 101 X\r\n\r\nraw", strings.Repeat("A", 1<<20)}
	for i, answer := range hostile {
		w.host(fmt.Sprintf("h%d.example", i), 80, always(answer))
	}
	w.host("h9.example", 443, func(c net.Conn) {
		_ = tls.Server(c, &tls.Config{}).Handshake()
	})
	w.host("good.example", 80, always(ok("text/plain", "good")))
	c := w.client()
	for i := range hostile {
		_, _ = get(t, c, fmt.Sprintf("http://h%d.example/", i))
		if got := bodyOf(t, mustGet(t, c, "http://good.example/")); got != "good" {
			t.Errorf("%q", got)
		}
	}
}
