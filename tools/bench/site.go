package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// bigFetches is how many large pages are fetched at once: as many as the gate
// lets in.
const bigFetches = 8

// site is what sift fetches from: Go's documentation, and large pages that
// are sent when all of them have been asked for.
type site struct {
	doc     string
	servers []*http.Server

	// One address for each two large pages, since the gate gives a host two
	// slots. The first serves everything else too.
	addresses []string

	mu  sync.Mutex
	big *barrier
}

// barrier holds answers back until there are enough of them.
type barrier struct {
	pages [][]byte
	count int
	all   chan struct{}
}

// newSite serves on 127.0.0.1 and, where the system has them, 127.0.0.2 to
// 127.0.0.4.
func newSite(ctx context.Context) (*site, error) {
	doc, err := goDoc(ctx)
	if err != nil {
		return nil, err
	}
	s := &site{doc: doc}
	mux := http.NewServeMux()
	mux.Handle("GET /doc/", http.StripPrefix("/doc/", http.FileServer(http.Dir(doc))))
	mux.HandleFunc("GET /big/{n}", s.serveBig)
	for i := range bigFetches / 2 {
		var lc net.ListenConfig
		l, err := lc.Listen(ctx, "tcp", fmt.Sprintf("127.0.0.%d:0", i+1))
		if err != nil {
			if i > 0 { // macOS has 127.0.0.1 alone
				break
			}
			return nil, fmt.Errorf("listen for the local site: %w", err)
		}
		server := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
		go func() { _ = server.Serve(l) }() // ends with close
		s.servers = append(s.servers, server)
		s.addresses = append(s.addresses, l.Addr().String())
	}
	return s, nil
}

func (s *site) close() {
	for _, server := range s.servers {
		_ = server.Close()
	}
}

// settings opens the site's addresses to sift.
func (s *site) settings() string {
	quoted := make([]string, len(s.addresses))
	for i, a := range s.addresses {
		quoted[i] = strconv.Quote(a)
	}
	return "[guard]\nallow = [" + strings.Join(quoted, ", ") + "]\n"
}

// page is the URL of one of Go's documentation pages.
func (s *site) page(name string) (string, error) {
	if _, err := os.Stat(filepath.Join(s.doc, name)); err != nil {
		return "", fmt.Errorf("the HTML pages that come with Go are needed (some packages of Go leave them out): %w", err)
	}
	return "http://" + s.addresses[0] + "/doc/" + name, nil
}

// large readies a round of large pages and gives their URLs, two a host.
func (s *site) large(pages [][]byte) ([]string, error) {
	if len(pages) > 2*len(s.addresses) {
		return nil, errors.New("this system has too few loopback addresses: two fetches a host are allowed")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.big = &barrier{pages: pages, all: make(chan struct{})}
	urls := make([]string, len(pages))
	for i := range pages {
		urls[i] = fmt.Sprintf("http://%s/big/%d", s.addresses[i%len(s.addresses)], i)
	}
	return urls, nil
}

func (s *site) serveBig(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(r.PathValue("n"))
	s.mu.Lock()
	b := s.big
	if err != nil || b == nil || n < 0 || n >= len(b.pages) {
		s.mu.Unlock()
		http.NotFound(w, r)
		return
	}
	if b.count++; b.count == len(b.pages) {
		close(b.all)
	}
	s.mu.Unlock()
	select {
	case <-b.all:
	case <-r.Context().Done():
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(b.pages[n]) // a client that has gone away shows in its own answer
}
