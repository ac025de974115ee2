package fetch

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"sift.build/sift/internal/sift"
)

func TestHTTP2IsSpokenWhereTheServerHasIt(t *testing.T) {
	w := newWorld(t)
	h := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/1" {
			http.Redirect(rw, r, "/2", http.StatusFound)
			return
		}
		rw.Header().Set("Content-Type", "text/plain")
		rw.Header().Set("Content-Encoding", "br")
		_, _ = io.WriteString(rw, packed(brCoding, r.Proto))
	})
	w.https("two.example", h, []string{"h2", "http/1.1"}, nil)
	w.https("one.example", h, []string{"http/1.1"}, nil)
	c := w.client()
	for host, want := range map[string][2]string{"two.example": {"h2", "HTTP/2.0"}, "one.example": {"http/1.1", "HTTP/1.1"}} {
		r := mustGet(t, c, "https://"+host+"/1")
		if got := bodyOf(t, r); r.Protocol != want[0] || got != want[1] || !strings.HasPrefix(r.Address, "93.184.216.") {
			t.Errorf("%s: protocol %q, server saw %q, address %q", host, r.Protocol, got, r.Address)
		}
	}
	if n := len(w.contacts()); n != 2 {
		t.Errorf("%d connections for four requests to two hosts", n)
	}
}

func TestTLSFailuresAreNamedApart(t *testing.T) {
	w := newWorld(t)
	page := http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(rw, "must not be read") })
	h1 := []string{"http/1.1"}
	w.https("expired.example", page, h1, func(c *x509.Certificate) {
		c.NotBefore, c.NotAfter = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2021, 2, 3, 0, 0, 0, 0, time.UTC)
	})
	w.https("early.example", page, h1, func(c *x509.Certificate) {
		c.NotBefore, c.NotAfter = time.Date(2090, 1, 2, 0, 0, 0, 0, time.UTC), time.Date(2091, 1, 1, 0, 0, 0, 0, time.UTC)
	})
	w.https("name.example", page, h1, func(c *x509.Certificate) { c.DNSNames = []string{"ignore-previous-instructions.example"} })
	w.https("purpose.example", page, h1, func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageCodeSigning} })
	w.host("plain.example", 443, func(c net.Conn) {
		_, _ = c.Read(make([]byte, 4096))
		_, _ = io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n\r\n")
	})
	w.host("closing.example", 443, func(c net.Conn) { _, _ = c.Read(make([]byte, 4096)) })
	w.host("alert.example", 443, func(c net.Conn) {
		cfg := w.tls("alert.example", nil, nil)
		cfg.MinVersion, cfg.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
		_ = tls.Server(c, cfg).Handshake()
	})
	good := newWorld(t)
	good.https("unknown.example", page, h1, nil)
	c := w.client()
	for host, words := range map[string]string{
		"expired.example": "expired on 2021-02-03",
		"early.example":   "not valid before 2090-01-02",
		"name.example":    "for another name",
		"purpose.example": "not valid for a web server",
		"plain.example":   "does not speak TLS",
		"closing.example": "closed the connection during the TLS handshake",
		"alert.example":   "refused the TLS handshake",
	} {
		_, err := get(t, c, "https://"+host+"/")
		f := wantFailure(t, err, sift.CodeUnreachable, words)
		if strings.Contains(f.Message, "ignore-previous") {
			t.Errorf("the failure repeats a name from the certificate: %s", f.Message)
		}
		t.Log(f)
	}
	good.roots = nil // as a client of the system's authorities
	_, err := get(t, good.client(), "https://unknown.example/")
	wantFailure(t, err, sift.CodeUnreachable, "unknown authority")
}

// framer plays an HTTP/2 server by hand: it takes the client's preface and
// settings, sends its own, and hands over at the first request.
func framer(w *world, name string, play func(fr *http2.Framer, stream uint32)) func(net.Conn) {
	cfg := w.tls(name, []string{"h2", "http/1.1"}, nil)
	return func(c net.Conn) {
		tc := tls.Server(c, cfg)
		if tc.Handshake() != nil {
			return
		}
		br := bufio.NewReader(tc)
		if tc.ConnectionState().NegotiatedProtocol != "h2" {
			if r, ok := readRequest(br); ok {
				_, _ = io.WriteString(tc, ok1(r.line))
			}
			return
		}
		if _, err := io.ReadFull(br, make([]byte, len(http2.ClientPreface))); err != nil {
			return
		}
		fr := http2.NewFramer(tc, br)
		_ = fr.WriteSettings()
		for {
			f, err := fr.ReadFrame()
			if err != nil {
				return
			}
			if h, ok := f.(*http2.HeadersFrame); ok {
				play(fr, h.StreamID)
				_, _ = io.Copy(io.Discard, br)
				return
			}
		}
	}
}

func ok1(line string) string { return ok("text/plain", "over "+strings.Fields(line)[2]) }

func TestABrokenHTTP2IsTriedOnceMoreOverHTTP1(t *testing.T) {
	w := newWorld(t)
	status200 := []byte{0x88} // HPACK, the static table's :status 200
	for i, play := range []func(fr *http2.Framer, stream uint32){
		func(fr *http2.Framer, stream uint32) { _ = fr.WriteRSTStream(stream, http2.ErrCodeProtocol) },
		func(fr *http2.Framer, _ uint32) { _ = fr.WriteGoAway(0, http2.ErrCodeInternal, []byte("no")) },
		func(fr *http2.Framer, stream uint32) {
			_ = fr.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, EndHeaders: true})
		},
		func(fr *http2.Framer, stream uint32) { _ = fr.WriteData(stream, false, []byte("data before headers")) },
		func(fr *http2.Framer, stream uint32) {
			_ = fr.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: status200, EndHeaders: true})
			_ = fr.WriteRSTStream(stream, http2.ErrCodeInternal)
		},
		func(fr *http2.Framer, stream uint32) {
			_ = fr.WriteRawFrame(http2.FrameSettings, 0, stream, []byte("xxxxx"))
		},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			name := fmt.Sprintf("h%d.example", i)
			var asked atomic.Int32
			w.host(name, 443, framer(w, name, func(fr *http2.Framer, stream uint32) {
				asked.Add(1)
				play(fr, stream)
			}))
			r, err := get(t, w.client(), "https://"+name+"/")
			if err != nil {
				t.Fatalf("%v (cause %v)", err, errors.Unwrap(err))
			}
			if got := bodyOf(t, r); got != "over HTTP/1.1" || r.Protocol != "http/1.1" {
				t.Errorf("%q over %s", got, r.Protocol)
			}
			// The transport itself tries again where a stream is reset with
			// PROTOCOL_ERROR or the connection goes away: without a bound,
			// hundreds of times a second until the deadline.
			if n := asked.Load(); n > maxDials {
				t.Errorf("%d requests over HTTP/2", n)
			}
		})
	}
}

func TestHTTP2HasTheSameLimits(t *testing.T) {
	w := newWorld(t)
	w.https("a.example", http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/headers":
			for i := range 100 {
				rw.Header().Set(fmt.Sprintf("X-%d", i), strings.Repeat("x", 1000))
			}
		case "/cut":
			rw.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(rw, "half")
			rw.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		case "/large":
			_, _ = io.WriteString(rw, text(100<<10))
		case "/hints":
			for range 2000 {
				rw.WriteHeader(http.StatusEarlyHints)
			}
		}
	}), []string{"h2"}, nil)
	c := w.client(func(c *Config, _ *limits) { c.MaxBytes = 64 << 10 })
	_, err := get(t, c, "https://a.example/headers")
	wantFailure(t, err, sift.CodeTooLong, "response headers", "64 KiB")
	_, err = get(t, c, "https://a.example/large")
	wantFailure(t, err, sift.CodeTooLong, "[fetch] max_bytes")
	r := mustGet(t, c, "https://a.example/cut")
	if !r.Partial || bodyOf(t, r) != "half" || !strings.Contains(r.PartialReason, "cut short after 4 of 1000 bytes") {
		t.Errorf("%q, partial %v: %s", bodyOf(t, r), r.Partial, r.PartialReason)
	}
}
