// Package gate decides whether work may start now. Gate hands out fetch
// slots: a number in all, per host and per caller, at once or not at all.
// Parse lets large pages take turns in the parser, by the memory they are
// expected to hold.
package gate

import (
	"sync"
	"time"

	"sift.build/sift/internal/sift"
)

// Config holds the three limits. A limit of zero admits nothing: the zero
// Config is a closed gate.
type Config struct {
	Global    int // fetches at once in all
	PerHost   int // fetches at once to one host name or address, whatever the port
	PerCaller int // fetches at once of one caller
	// Refused, if not nil, is told of every slot that was refused. It runs with
	// the gate's lock held: it must not call the gate and must not block.
	Refused func(Refusal)
}

// Refusal names the limit that refused a slot.
type Refusal string

// The limits.
const (
	RefusedGlobal Refusal = "global"
	RefusedHost   Refusal = "host"
	RefusedCaller Refusal = "caller"
)

// Refusals lists every limit, for metrics.
func Refusals() []Refusal { return []Refusal{RefusedGlobal, RefusedHost, RefusedCaller} }

// retryAfter is what a refused caller is told to wait. Fetches end within
// seconds as a rule, so the shortest wait that HTTP can express is right.
const retryAfter = time.Second

// Gate hands out fetch slots. Make one with New.
type Gate struct {
	cfg Config

	mu      sync.Mutex
	inUse   int
	hosts   map[string]int
	callers map[string]int
}

// New makes a gate.
func New(cfg Config) *Gate {
	return &Gate{cfg: cfg, hosts: make(map[string]int), callers: make(map[string]int)}
}

// InUse is how many slots are out.
func (g *Gate) InUse() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.inUse
}

// Slot is the right to fetch from one host at a time. Release it once done;
// Move it when a redirect leads to another host. A Slot belongs to one
// goroutine at a time.
type Slot struct {
	gate   *Gate
	caller string
	host   string // "": released
}

// Acquire takes a slot at once, or fails with code busy, which says which
// limit is reached. It never waits.
func (g *Gate) Acquire(caller, host string) (*Slot, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.inUse >= g.cfg.Global:
		return nil, g.refuseLocked(RefusedGlobal, "all %d fetch slots are in use; try again in a moment", g.cfg.Global)
	case g.callers[caller] >= g.cfg.PerCaller:
		return nil, g.refuseLocked(RefusedCaller, "you have %d fetches running already; wait for one to end", g.cfg.PerCaller)
	case g.hosts[host] >= g.cfg.PerHost:
		return nil, g.refuseHostLocked()
	}
	g.inUse++
	g.callers[caller]++
	g.hosts[host]++
	return &Slot{gate: g, caller: caller, host: host}, nil
}

// Move exchanges the slot's place at its host for one at another host, at
// once, or fails with code busy and leaves it where it was. The host that is
// left is free again.
func (s *Slot) Move(host string) error {
	g := s.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	if s.host == "" || host == s.host {
		return nil
	}
	if g.hosts[host] >= g.cfg.PerHost {
		return g.refuseHostLocked()
	}
	dropLocked(g.hosts, s.host)
	g.hosts[host]++
	s.host = host
	return nil
}

// Release gives the slot back. A second call does nothing.
func (s *Slot) Release() {
	g := s.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	if s.host == "" {
		return
	}
	dropLocked(g.hosts, s.host)
	dropLocked(g.callers, s.caller)
	s.host = ""
	g.inUse--
}

// dropLocked takes one from a count and forgets it at zero, so that the maps
// stay as small as the number of slots.
func dropLocked(counts map[string]int, key string) {
	if counts[key]--; counts[key] <= 0 {
		delete(counts, key)
	}
}

func (g *Gate) refuseHostLocked() error {
	return g.refuseLocked(RefusedHost, "%d fetches from this host are running already; try again in a moment", g.cfg.PerHost)
}

func (g *Gate) refuseLocked(limit Refusal, format string, n int) error {
	if g.cfg.Refused != nil {
		g.cfg.Refused(limit)
	}
	f := sift.Fail(sift.CodeBusy, format, n).WithHint(sift.HintRetry)
	f.RetryAfter = retryAfter
	return f
}
