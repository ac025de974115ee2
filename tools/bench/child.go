package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"runtime"
	"sync"
	"time"

	"golang.org/x/net/html"
)

// What sift is compared with runs in processes of its own, which are this
// program again: a bare handler, and bare parsing.

// canned is the answer that the bare handler writes.
type canned struct {
	Header http.Header
	Body   []byte
}

// serveBare is the bare net/http handler: it reads a canned answer from in,
// says on out where it listens, and serves until in ends, so that it cannot
// outlive the one who started it.
func serveBare(ctx context.Context, in io.Reader, out io.Writer) error {
	decoder := json.NewDecoder(in)
	var answer canned
	if err := decoder.Decode(&answer); err != nil {
		return fmt.Errorf("read the answer to write: %w", err)
	}
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			maps.Copy(w.Header(), answer.Header)
			_, _ = w.Write(answer.Body) // a client that has gone away needs no answer
		}),
		ReadHeaderTimeout: time.Minute,
	}
	if _, err := fmt.Fprintln(out, listener.Addr()); err != nil {
		return err
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	_, err = io.Copy(io.Discard, io.MultiReader(decoder.Buffered(), in))
	_ = server.Close()
	if e := <-served; !errors.Is(e, http.ErrServerClosed) {
		err = errors.Join(err, e)
	}
	return err
}

// parseFiles does nothing but html.Parse, on as many cores as there are.
func parseFiles(files []string) error {
	work := make(chan string)
	errs := make([]error, runtime.NumCPU())
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			for file := range work {
				b, err := os.ReadFile(file)
				if err == nil {
					_, err = html.Parse(bytes.NewReader(b))
				}
				errs[i] = errors.Join(errs[i], err)
			}
		})
	}
	for _, file := range files {
		work <- file
	}
	close(work)
	wg.Wait()
	return errors.Join(errs...)
}
