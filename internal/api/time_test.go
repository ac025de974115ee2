package api

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sift.build/sift/internal/sift"
)

// pipes is a listener in memory, whose connections keep the bubble's time.
type pipes struct {
	conns chan net.Conn
	once  sync.Once
	done  chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.done) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

// inTime runs f with a connection to a server in a bubble of its own time.
func inTime(t *testing.T, fetch fetcher, f func(t *testing.T, conn net.Conn)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
		srv := NewHTTPServer(New(Config{Auth: keys{}, Fetcher: fetch}).Handler(), slog.New(slog.DiscardHandler))
		ended := make(chan struct{})
		go func() { _ = srv.Serve(p); close(ended) }()
		here, there := net.Pipe()
		p.conns <- there
		f(t, here)
		here.Close()
		srv.Close()
		<-ended
	})
}

func TestASlowCallerIsNotWaitedForLong(t *testing.T) {
	const body = "POST /v1/fetch HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n"
	for name, c := range map[string]struct {
		request string
		after   time.Duration
		want    int // 0: the connection just ends
	}{
		"half a head":         {"GET /healthz HTTP/1.1\r\nHost: loc", 10 * time.Second, 0},
		"half a body":         {body + `{"url":`, 30 * time.Second, 400},
		"nothing":             {"", 2 * time.Minute, 0},
		"a second request":    {"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", 2 * time.Minute, 200},
		"a body never begun":  {body, 30 * time.Second, 400},
		"a head in one piece": {"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", 0, 200},
	} {
		if name == "nothing" {
			c.after = 10 * time.Second // a first request has no idle time
		}
		inTime(t, nil, func(t *testing.T, conn net.Conn) {
			start := time.Now()
			go func() { _, _ = io.WriteString(conn, c.request) }()
			r := bufio.NewReader(conn)
			resp, err := http.ReadResponse(r, nil)
			switch {
			case c.want == 0 && err == nil:
				t.Errorf("%s: %d", name, resp.StatusCode)
			case c.want != 0 && err != nil:
				t.Errorf("%s: %v, want %d", name, err, c.want)
			case c.want != 0 && resp.StatusCode != c.want:
				t.Errorf("%s: %d, want %d", name, resp.StatusCode, c.want)
			}
			if resp != nil {
				_, _ = io.Copy(io.Discard, resp.Body)
			}
			_, _ = io.Copy(io.Discard, r) // to the end of the connection
			// net/http lingers for half a second over a body that it did not read.
			if took := time.Since(start); took < c.after || took > c.after+time.Second {
				t.Errorf("%s: ended after %v, want %v", name, took, c.after)
			}
		})
	}
}

// The time for reading a request is not the time for answering it.
func TestALongFetchIsNotCutByTheTimeForReading(t *testing.T) {
	long := fetcher(func(ctx context.Context, _ sift.Caller, _ sift.Target) (*sift.Envelope, error) {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(10 * time.Minute):
			return answer("x"), nil
		}
	})
	for _, request := range []string{rawGet, rawPost()} {
		inTime(t, long, func(t *testing.T, conn net.Conn) {
			go func() { _, _ = io.WriteString(conn, request) }()
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil || resp.StatusCode != 200 {
				t.Fatalf("%v, %+v", err, resp)
			}
			_, _ = io.Copy(io.Discard, resp.Body)
		})
	}
}

func TestAnAnswerThatNobodyTakesIsDropped(t *testing.T) {
	big := always(answer(strings.Repeat("x", 1<<20)), nil) // 30 s and 32 more
	inTime(t, big, func(t *testing.T, conn net.Conn) {
		go func() { _, _ = io.WriteString(conn, rawGet) }()
		start := time.Now()
		buf := make([]byte, 100)
		if _, err := io.ReadFull(conn, buf); err != nil {
			t.Fatal(err)
		}
		<-time.After(2 * time.Minute) // of the bubble's time
		rest, _ := io.ReadAll(conn)
		if len(rest) > 64<<10 {
			t.Errorf("%d bytes came after %v", len(rest), time.Since(start))
		}
	})
}
