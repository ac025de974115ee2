package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httputil"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// load sends one prepared request again and again over kept-alive
// connections. It writes and reads HTTP/1.1 itself, as little of it as it can:
// generator and server share the machine, and what the generator costs blurs
// the difference between two servers.
type load struct {
	address string
	request []byte
}

// postRequest prepares a POST with a JSON body.
func postRequest(host, path, body string) []byte {
	return fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		path, host, len(body), body)
}

// wire is one connection.
type wire struct {
	conn net.Conn
	in   *bufio.Reader
}

func (l load) dial(ctx context.Context) (*wire, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", l.address)
	if err != nil {
		return nil, err
	}
	return &wire{conn, bufio.NewReaderSize(conn, 64<<10)}, nil
}

// roundTrip sends the request and reads the answer to its end. Anything but a
// 200 is an error: a figure made of refusals is none.
func (w *wire) roundTrip(request []byte) (bodyBytes int64, err error) {
	if _, err := w.conn.Write(request); err != nil {
		return 0, err
	}
	line, err := w.in.ReadSlice('\n')
	if err != nil {
		return 0, err
	}
	if !bytes.HasPrefix(line, []byte("HTTP/1.1 200")) {
		return 0, fmt.Errorf("answered %q", bytes.TrimSpace(line))
	}
	length, chunked := int64(-1), false
	for {
		if line, err = w.in.ReadSlice('\n'); err != nil {
			return 0, err
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			break
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		switch {
		case bytes.EqualFold(name, []byte("Content-Length")):
			if length, err = strconv.ParseInt(string(bytes.TrimSpace(value)), 10, 64); err != nil {
				return 0, err
			}
		case bytes.EqualFold(name, []byte("Transfer-Encoding")):
			chunked = bytes.EqualFold(bytes.TrimSpace(value), []byte("chunked"))
		}
	}
	switch {
	case chunked:
		n, err := io.Copy(io.Discard, httputil.NewChunkedReader(w.in))
		if err == nil {
			_, err = w.in.ReadSlice('\n') // the empty trailer
		}
		return n, err
	case length >= 0:
		n, err := w.in.Discard(int(length))
		return int64(n), err
	default:
		return 0, errors.New("answered without a length, so that the connection cannot be kept")
	}
}

// closed keeps conns connections busy for a while, each sending as soon as it
// has its answer, and returns the requests per second.
func (l load) closed(ctx context.Context, conns int, d time.Duration) (float64, error) {
	var done atomic.Int64
	start := time.Now()
	err := l.each(ctx, conns, func(w *wire) error {
		for time.Since(start) < d {
			if _, err := w.roundTrip(l.request); err != nil {
				return err
			}
			done.Add(1)
		}
		return nil
	})
	return float64(done.Load()) / time.Since(start).Seconds(), err
}

// open sends at a constant rate for a while, whatever the server does, and
// returns every latency. A request's time runs from when it was due, so that
// a stall counts for every request that should have been sent during it and
// not only for those that happened to be on the way.
func (l load) open(ctx context.Context, conns int, rate float64, d time.Duration) ([]time.Duration, error) {
	n := int64(rate * d.Seconds())
	if n < 1 {
		return nil, fmt.Errorf("a rate of %.1f/s sends nothing within %s", rate, d)
	}
	latencies := make([]time.Duration, n)
	interval := float64(time.Second) / rate
	var next atomic.Int64
	start := time.Now().Add(10 * time.Millisecond) // the connections are made meanwhile
	err := l.each(ctx, conns, func(w *wire) error {
		for {
			i := next.Add(1) - 1
			if i >= n {
				return nil
			}
			due := start.Add(time.Duration(float64(i) * interval))
			time.Sleep(time.Until(due))
			if _, err := w.roundTrip(l.request); err != nil {
				return err
			}
			latencies[i] = time.Since(due)
		}
	})
	return latencies, err
}

// each runs use on conns connections at once, and ends them all when ctx does.
func (l load) each(ctx context.Context, conns int, use func(*wire) error) error {
	errs := make([]error, conns)
	var wg sync.WaitGroup
	for i := range conns {
		wg.Go(func() {
			w, err := l.dial(ctx)
			if err != nil {
				errs[i] = err
				return
			}
			stop := context.AfterFunc(ctx, func() { _ = w.conn.Close() })
			defer stop()
			defer func() { _ = w.conn.Close() }()
			errs[i] = use(w)
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for _, err := range errs {
		if err != nil {
			return err // one says enough: the others say the same
		}
	}
	return nil
}
