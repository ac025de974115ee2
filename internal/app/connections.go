package app

import (
	"net"
	"net/http"
	"sync"
)

// inFlight counts the requests that are being answered. An http.Server that is
// closed leaves its handlers running, and what they use must not be closed
// under them.
type inFlight struct {
	mu    sync.Mutex
	n     int
	ended chan struct{} // not nil once end was called; closed when none is left
}

func (f *inFlight) count(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		late := f.ended != nil
		if !late {
			f.n++
		}
		f.mu.Unlock()
		if late {
			panic(http.ErrAbortHandler)
		}
		defer func() {
			f.mu.Lock()
			defer f.mu.Unlock()
			if f.n--; f.n == 0 && f.ended != nil {
				close(f.ended)
			}
		}()
		next.ServeHTTP(w, r)
	})
}

// end waits for the last request and lets no other begin.
func (f *inFlight) end() {
	f.mu.Lock()
	f.ended = make(chan struct{})
	if f.n == 0 {
		close(f.ended)
	}
	f.mu.Unlock()
	<-f.ended
}

// freshConns knows the connections on which nothing has been asked yet. Browsers
// and probes open such ones, and Shutdown waits five seconds for each, though
// nobody is owed an answer there.
type freshConns struct {
	mu      sync.Mutex
	conns   map[net.Conn]struct{}
	closing bool
}

// watch is a ConnState hook.
func (f *freshConns) watch(c net.Conn, state http.ConnState) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case state != http.StateNew:
		delete(f.conns, c)
	case f.closing: // accepted just before the listener was closed
		_ = c.Close()
	default:
		if f.conns == nil {
			f.conns = make(map[net.Conn]struct{})
		}
		f.conns[c] = struct{}{}
	}
}

// close closes them, those that are still to come too.
func (f *freshConns) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closing = true
	for c := range f.conns {
		_ = c.Close() // what is left of it is the other end's
	}
}
