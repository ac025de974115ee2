// Package guard decides which URLs and addresses may be reached, and holds
// the dialer that keeps to it. It is the same for every door: the API,
// redirects, robots, batches, MCP and the command line.
//
// There are two stages. [Guard.CheckURL] and [Guard.CheckReference] are the
// pre-check: they read the one strict way to write a URL, without looking
// anything up. [Guard.DialContext] is the check at connect: it looks the name
// up, judges every answer, and connects to the very addresses that it judged.
// Put it into an http.Transport with no proxy and all of its connections obey
// the guard:
//
//	g, err := guard.New(guard.Config{})
//	u, err := g.CheckURL(raw)
//	client := &http.Client{Transport: &http.Transport{DialContext: g.DialContext}}
//	…
//	if f, ok := guard.Refused(err); ok { // the guard, not the network, said no
//
// The zero Config is the strictest: ports 80 and 443, globally reachable
// unicast addresses only.
package guard

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"code.dny.dev/ssrf"
)

// Config is what an operator may set. Lookup, Connect and LocalAddrs are the
// three ways in which a Guard touches the world; a test replaces them and the
// judgement in between stays the real one.
type Config struct {
	Ports    []uint16 // open for every address; empty: 80 and 443
	Allow    []string // exceptions: "10.20.0.0/16", "127.0.0.1:9000", "[fd00::1]:8080", "10.0.0.0/8:8080"
	NAT64    []string // translation prefixes in use here: "64:ff9b::/96"
	Resolver string   // DNS server, "127.0.0.1:53"; "": the system's

	// Lookup gives every address of a name. The name is in its ASCII form
	// and has no root dot, and must be taken as absolute all the same. Nil:
	// the pure Go resolver.
	Lookup func(ctx context.Context, host string) ([]netip.Addr, error)
	// Connect opens a TCP connection to an address that was judged. Nil: a
	// net.Dialer which judges once more what the kernel is given.
	Connect func(ctx context.Context, to netip.AddrPort) (net.Conn, error)
	// LocalAddrs lists the host's own addresses. Nil: those of its interfaces.
	LocalAddrs func() ([]netip.Addr, error)
}

const (
	lookupTimeout  = 5 * time.Second        // for a name as a whole, both families
	queryTimeout   = 2 * time.Second        // for one question to one DNS server, so that a lost packet can be asked again
	connectTimeout = 5 * time.Second        // for all addresses of a name together
	stagger        = 300 * time.Millisecond // before the next address is tried beside a slow one
	maxTried       = 16                     // addresses of one name; all are judged
	ownRefresh     = 3 * time.Second        // how long the list of the host's own addresses is believed
)

// Guard judges. It is safe for concurrent use.
type Guard struct {
	ports      []uint16
	exceptions []exception
	nat64      []netip.Prefix
	registry   *ssrf.Guardian
	metadata   []netip.Addr
	ranges     []special
	server     string // DNS server; "": the system's

	lookup     func(ctx context.Context, host string) ([]netip.Addr, error)
	connect    func(ctx context.Context, to netip.AddrPort) (net.Conn, error)
	localAddrs func() ([]netip.Addr, error)

	now           func() time.Time
	lookupTimeout time.Duration
	queryTimeout  time.Duration

	mu    sync.Mutex // guards own and ownAt
	own   []netip.Addr
	ownAt time.Time
}

// exception is one entry of Config.Allow.
type exception struct {
	prefix netip.Prefix
	port   uint16 // 0: the configured ports
	text   string
}

// New reads the configuration. The error names every bad entry. It also fails
// when the host's own addresses cannot be listed, because without them the
// guard could not keep them closed.
func New(c Config) (*Guard, error) {
	g := &Guard{
		ports:         slices.Clone(c.Ports),
		registry:      ssrf.New(ssrf.WithAnyPort(), ssrf.WithAnyNetwork()),
		metadata:      metadata(),
		ranges:        specials(),
		lookup:        c.Lookup,
		connect:       c.Connect,
		localAddrs:    c.LocalAddrs,
		now:           time.Now,
		lookupTimeout: lookupTimeout,
		queryTimeout:  queryTimeout,
	}
	if len(g.ports) == 0 {
		g.ports = []uint16{80, 443}
	}
	var bad []error
	if slices.Contains(g.ports, 0) {
		bad = append(bad, errors.New("guard ports: 0 is not a port"))
	}
	for _, s := range c.Allow {
		e, err := parseException(s)
		if err != nil {
			bad = append(bad, fmt.Errorf("guard allow: %q: %w", s, err))
			continue
		}
		g.exceptions = append(g.exceptions, e)
	}
	for _, s := range c.NAT64 {
		p, err := parseNAT64(s)
		if err != nil {
			bad = append(bad, fmt.Errorf("guard nat64: %q: %w", s, err))
			continue
		}
		g.nat64 = append(g.nat64, p)
	}
	if c.Resolver != "" {
		server, err := parseResolver(c.Resolver)
		if err != nil {
			bad = append(bad, fmt.Errorf("guard resolver: %q: %w", c.Resolver, err))
		}
		g.server = server
	}
	if g.lookup == nil {
		g.lookup = g.lookupDNS
	}
	if g.connect == nil {
		g.connect = g.connectTCP
	}
	if g.localAddrs == nil {
		g.localAddrs = interfaceAddrs
	}
	if err := g.refreshOwn(); err != nil {
		bad = append(bad, fmt.Errorf("guard: this host's own addresses cannot be listed (under systemd, RestrictAddressFamilies must include AF_NETLINK): %w", err))
	}
	if err := errors.Join(bad...); err != nil {
		return nil, err
	}
	return g, nil
}

// Exceptions says what the configuration opened, one entry each, for the
// line that is printed at start.
func (g *Guard) Exceptions() []string {
	var out []string
	for _, e := range g.exceptions {
		s := e.text
		if slices.ContainsFunc(g.metadata, e.prefix.Contains) {
			s += " (cloud metadata addresses stay closed)"
		}
		out = append(out, s)
	}
	for _, p := range g.nat64 {
		out = append(out, "nat64 "+p.String()+" (the address inside is judged)")
	}
	return out
}

// portOpen reports whether the port may stand in a URL at all: it is
// configured, or some exception opens it and the address will decide.
func (g *Guard) portOpen(port uint16) bool {
	return slices.Contains(g.ports, port) ||
		slices.ContainsFunc(g.exceptions, func(e exception) bool { return e.port == port })
}

// portList is the configured ports for a sentence: "80 and 443".
func (g *Guard) portList() string {
	var s []string
	for _, p := range g.ports {
		s = append(s, strconv.Itoa(int(p)))
	}
	if len(s) == 1 {
		return s[0]
	}
	return strings.Join(s[:len(s)-1], ", ") + " and " + s[len(s)-1]
}

// parseException reads "10.0.0.0/8", "10.0.0.1", either with ":8080" behind
// it, and IPv6 forms of the same, in brackets where a port follows.
func parseException(s string) (exception, error) {
	text, port := s, uint16(0)
	bare := strings.Count(s, ":") > 1 && !strings.ContainsAny(s, "[]/")
	if i := strings.LastIndexByte(s, ':'); i >= 0 && !bare && i > strings.LastIndexAny(s, "/]") {
		p, ok := parsePort(s[i+1:])
		if !ok {
			return exception{}, errors.New("the port is not a number from 1 to 65535")
		}
		text, port = s[:i], p
	}
	if rest, ok := strings.CutPrefix(text, "["); ok {
		inside, after, ok := strings.Cut(rest, "]")
		if !ok || !strings.Contains(inside, ":") {
			return exception{}, errNotAddress
		}
		text = inside + after
	}
	prefix, err := parsePrefix(text)
	if err != nil {
		return exception{}, err
	}
	return exception{prefix: prefix, port: port, text: s}, nil
}

var errNotAddress = errors.New("not an address or a range, with or without a port (names cannot be opened)")

// parsePrefix reads an address or a range that starts at its first address.
func parsePrefix(s string) (netip.Prefix, error) {
	if !strings.Contains(s, "/") {
		a, err := netip.ParseAddr(s)
		if err != nil || a.Zone() != "" {
			return netip.Prefix{}, errNotAddress
		}
		a = a.Unmap()
		return netip.PrefixFrom(a, a.BitLen()), nil
	}
	p, err := netip.ParsePrefix(s)
	if err != nil || p.Addr().Is4In6() {
		return netip.Prefix{}, errNotAddress
	}
	if p != p.Masked() {
		return netip.Prefix{}, fmt.Errorf("the range starts at %s", p.Masked())
	}
	return p, nil
}

// parseNAT64 reads a translation prefix of one of the lengths in RFC 6052.
func parseNAT64(s string) (netip.Prefix, error) {
	p, err := netip.ParsePrefix(s)
	if err != nil || !p.Addr().Is6() || p.Addr().Is4In6() {
		return netip.Prefix{}, errors.New("not an IPv6 range")
	}
	if p != p.Masked() {
		return netip.Prefix{}, fmt.Errorf("the range starts at %s", p.Masked())
	}
	if !slices.Contains(layouts(), p.Bits()) {
		return netip.Prefix{}, errors.New("a NAT64 prefix is 32, 40, 48, 56, 64 or 96 bits long (RFC 6052)")
	}
	return p, nil
}

// parseResolver reads the address of a DNS server; without a port it is 53.
// A name will not do, for it would have to be looked up.
func parseResolver(s string) (string, error) {
	if a, err := netip.ParseAddr(s); err == nil {
		return netip.AddrPortFrom(a, 53).String(), nil
	}
	ap, err := netip.ParseAddrPort(s)
	if err != nil || ap.Port() == 0 {
		return "", errors.New(`not an address with a port, such as "127.0.0.1:53"`)
	}
	return ap.String(), nil
}

// parsePort reads a port in its one canonical spelling: no sign, no leading
// zero, 1 to 65535.
func parsePort(s string) (uint16, bool) {
	if s == "" || len(s) > 5 || s[0] == '0' {
		return 0, false
	}
	n := 0
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return uint16(n), n <= 65535
}

// interfaceAddrs lists the addresses of the host's interfaces.
func interfaceAddrs() ([]netip.Addr, error) {
	nets, err := net.InterfaceAddrs()
	if err != nil {
		return nil, err
	}
	var out []netip.Addr
	for _, n := range nets {
		if n, ok := n.(*net.IPNet); ok {
			if a, ok := netip.AddrFromSlice(n.IP); ok {
				out = append(out, a)
			}
		}
	}
	return out, nil
}

// isOwn reports whether the address is one of this host's. The list is read
// again when it is old, since addresses come and go while a service runs.
func (g *Guard) isOwn(a netip.Addr) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.now().Sub(g.ownAt) >= ownRefresh {
		// On an error the list that was read last stays in force; at the
		// start New has seen one.
		_ = g.refreshOwnLocked()
	}
	return slices.Contains(g.own, a)
}

func (g *Guard) refreshOwn() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.refreshOwnLocked()
}

func (g *Guard) refreshOwnLocked() error {
	g.ownAt = g.now()
	addrs, err := g.localAddrs()
	if err != nil {
		return err
	}
	own := make([]netip.Addr, len(addrs))
	for i, a := range addrs {
		own[i] = a.WithZone("").Unmap()
	}
	g.own = own
	return nil
}
