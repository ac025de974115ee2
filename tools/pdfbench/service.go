package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"sift.build/sift/demo/server"
)

// service is one `sift serve` that reads every file from a local site.
type service struct {
	sift *server.Server
	site *http.Server
	base string // of the site
	keys map[string]int
}

// startService serves the files and starts sift.
func (b *bench) startService(ctx context.Context, files []file) (*service, error) {
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := listener.Addr().String()
	s := &service{base: "http://" + address + "/", keys: map[string]int{}}
	mux := http.NewServeMux()
	for i, f := range files {
		s.keys[f.path] = i
		// Without a date or tag, so that nothing can be found unchanged.
		mux.HandleFunc("GET /"+strconv.Itoa(i), func(w http.ResponseWriter, _ *http.Request) {
			body, err := os.ReadFile(f.path)
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			w.Header().Set("Content-Type", "application/pdf")
			_, _ = w.Write(body) // a client that has gone away shows in its own answer
		})
	}
	s.site = &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	go func() { _ = s.site.Serve(listener) }() // ends with stop
	dir := filepath.Join(b.work, "serve")
	err = os.Mkdir(dir, 0o700)
	if err == nil {
		s.sift, err = server.Start(ctx, server.Config{Binary: b.sift, Dir: dir, Settings: fmt.Sprintf("[guard]\nallow = [%q]\n[fetch]\ntimeout = \"2m\"\n", address)})
	}
	if err != nil {
		return nil, errors.Join(err, s.site.Close())
	}
	return s, nil
}

func (s *service) stop() error { return errors.Join(s.sift.Stop(), s.site.Close()) }

// read has a file fetched and read, and gives the CPU that the service and its
// children took for it; 0: not known.
func (s *service) read(ctx context.Context, f file) (time.Duration, error) {
	before := cpuOf(s.sift.PID)
	if err := s.fetch(ctx, f); err != nil {
		return 0, err
	}
	return cpuOf(s.sift.PID) - before, nil
}

func (s *service) fetch(ctx context.Context, f file) error {
	body := fmt.Appendf(nil, `{"url":"%s%d","mode":"text","max_age":0}`, s.base, s.keys[f.path])
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.sift.URL+"/v1/fetch", bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	const limit = 16 << 20
	answer, err := io.ReadAll(io.LimitReader(resp.Body, limit))
	if err != nil {
		return err
	}
	var a struct {
		Success bool   `json:"success"`
		Error   string `json:"error"`
		Cache   struct {
			Hit bool `json:"hit"`
		} `json:"cache"`
	}
	if err := json.Unmarshal(answer, &a); err != nil {
		return fmt.Errorf("POST /v1/fetch %s answered %d: %w", body, resp.StatusCode, err)
	}
	if !a.Success || a.Cache.Hit {
		return fmt.Errorf("POST /v1/fetch %s answered %d %s, from the cache: %v", body, resp.StatusCode, a.Error, a.Cache.Hit)
	}
	return nil
}
