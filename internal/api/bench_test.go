package api

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"sift.build/sift/internal/sift"
)

// The measure of a cached fetch (SPEC section 10): at least half the requests
// a second of a bare handler that writes the same bytes.
//
//	go test -run - -bench 'BareHandler|CachedFetch' -count 5 ./internal/api

func page() *sift.Envelope {
	return answer(strings.Repeat("A line of text that is read.\n", 20_000/29))
}

func cachedFetch() http.Handler {
	return New(Config{
		Auth: twoCallers(), Fetcher: always(page(), nil),
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)), //nolint:sloglint // as deployed: a line for each request is formatted
	}).Handler()
}

func bareHandler() http.Handler {
	body := page().AppendJSON(nil)
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		_, _ = w.Write(body)
	})
}

func rawPost() string {
	const body = `{"url":"https://example.org/a","max_chars":50000}`
	return "POST /v1/fetch HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer open-key\r\nContent-Type: application/json\r\n" +
		fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body)
}

const rawGet = "GET /v1/fetch?url=https://example.org/a HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer open-key\r\n\r\n"

// load sends one raw request after another over kept connections and reads the
// answers without parsing them: a client that costs as much as the server
// would hide the difference.
func load(b *testing.B, h http.Handler, request string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	srv := NewHTTPServer(h, slog.New(slog.DiscardHandler))
	go func() { _ = srv.Serve(l) }()
	defer srv.Close()
	b.SetParallelism(4)
	b.ReportAllocs()
	before := cpu(b)
	b.RunParallel(func(pb *testing.PB) {
		conn, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			b.Error(err)
			return
		}
		defer conn.Close()
		buf := make([]byte, 64<<10)
		for pb.Next() {
			if _, err := io.WriteString(conn, request); err != nil {
				b.Error(err)
				return
			}
			got := 0
			for got < 20_000 || !bytes.HasSuffix(buf[:got], []byte("}}")) {
				n, err := conn.Read(buf[got:])
				if err != nil {
					b.Errorf("after %d bytes: %v", got, err)
					return
				}
				got += n
			}
		}
	})
	// Of server and client together. On a busy machine this is the figure to
	// compare; the requests a second are everybody's.
	b.ReportMetric(float64(cpu(b)-before)/float64(b.N), "cpu-ns/op")
}

func cpu(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func BenchmarkBareHandler(b *testing.B)     { load(b, bareHandler(), rawGet) }
func BenchmarkCachedFetchGet(b *testing.B)  { load(b, cachedFetch(), rawGet) }
func BenchmarkCachedFetchPost(b *testing.B) { load(b, cachedFetch(), rawPost()) }

func BenchmarkDecodeJSON(b *testing.B) {
	table, body := fields(), []byte(`{"url":"https://example.org/a","mode":"clean","max_chars":50000}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := decodeJSON(table, body); err != nil {
			b.Fatal(err)
		}
	}
}

// drain is a ResponseWriter that costs nothing.
type drain struct{ h http.Header }

func (d drain) Header() http.Header         { return d.h }
func (d drain) Write(p []byte) (int, error) { return len(p), nil }
func (d drain) WriteHeader(int)             {}

// A figure that does not depend on how busy the machine is.
func TestACachedFetchAllocatesLittle(t *testing.T) {
	h := New(Config{Auth: twoCallers(), Fetcher: always(page(), nil)}).Handler()
	body := strings.NewReader(`{"url":"https://example.org/a","mode":"clean","max_chars":50000}`)
	r := with(httptest.NewRequest(http.MethodPost, "http://localhost/v1/fetch", body), "Authorization", "Bearer open-key")
	w := drain{http.Header{}}
	got := testing.AllocsPerRun(200, func() {
		body.Seek(0, io.SeekStart)
		clear(w.h)
		h.ServeHTTP(w, r)
	})
	if got > 16 {
		t.Errorf("%v allocations a request", got)
	}
	t.Logf("%v allocations a request", got)
}
