package guard

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"time"

	"sift.build/sift/internal/sift"
)

// resolve gives every address of a name, each once. A failure is a
// *sift.Failure with code unreachable, or ctx's error when that has ended.
func (g *Guard) resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	short, cancel := context.WithTimeout(ctx, g.lookupTimeout)
	defer cancel()
	addrs, err := g.lookup(short, host)
	if ended := ctx.Err(); ended != nil {
		return nil, ended
	}
	var dns *net.DNSError
	switch {
	case err == nil && len(addrs) > 0:
		return unique(addrs), nil
	case err == nil, errors.As(err, &dns) && dns.IsNotFound:
		return nil, sift.Fail(sift.CodeUnreachable, "the name %s has no address; check its spelling", host).WithCause(err)
	case short.Err() != nil, errors.As(err, &dns) && dns.IsTimeout:
		return nil, sift.Fail(sift.CodeUnreachable, "the name %s could not be looked up in time", host).
			WithHint(sift.HintRetry).WithCause(fmt.Errorf("look up: %w", err))
	}
	return nil, sift.Fail(sift.CodeUnreachable, "the name %s could not be looked up: the name server failed", host).
		WithHint(sift.HintRetry).WithCause(fmt.Errorf("look up: %w", err))
}

// unique unmaps the addresses and leaves out those that came before.
func unique(addrs []netip.Addr) []netip.Addr {
	seen := make(map[netip.Addr]bool, len(addrs))
	var out []netip.Addr
	for _, a := range addrs {
		if a = a.Unmap(); !seen[a] {
			seen[a] = true
			out = append(out, a)
		}
	}
	return out
}

// lookupDNS is the real Config.Lookup: Go's own resolver, because the C
// library turns spellings such as 127.1 into addresses; with the root dot, so
// that no search list applies; and strict, so that a family whose answer is
// late or missing fails the name instead of being left out of the judgement.
func (g *Guard) lookupDNS(ctx context.Context, host string) ([]netip.Addr, error) {
	asked, alias := respell(host)
	r := net.Resolver{
		PreferGo:     true,
		StrictErrors: true,
		Dial: func(query context.Context, network, server string) (net.Conn, error) {
			if g.server != "" {
				server = g.server
			}
			var d net.Dialer
			conn, err := d.DialContext(query, network, server)
			if err != nil {
				return nil, err
			}
			// The resolver waits for an answer whatever becomes of ctx.
			stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
			if udp, ok := conn.(*net.UDPConn); ok {
				return &dnsPackets{UDPConn: udp, alias: alias, timeout: g.queryTimeout, stop: stop}, nil
			}
			return &dnsStream{Conn: conn, alias: alias, timeout: g.queryTimeout, stop: stop}, nil
		},
	}
	return r.LookupNetIP(ctx, "ip", asked+".")
}

// alias is a name in DNS wire form, and the one that stands for it towards
// Go's resolver. Both have the same length. The zero alias changes nothing.
//
// Go's resolver refuses to ask for a label that begins or ends with a hyphen,
// and there are sites with such names.
type alias struct{ real, asked []byte }

// respell gives the name to ask Go's resolver for.
func respell(host string) (string, alias) {
	labels := strings.Split(host, ".")
	changed := false
	for i, l := range labels {
		inner := strings.Trim(l, "-")
		if inner == l {
			continue
		}
		changed = true
		front := len(l) - len(strings.TrimLeft(l, "-"))
		labels[i] = strings.Repeat("_", front) + inner + strings.Repeat("_", len(l)-front-len(inner))
	}
	if !changed {
		return host, alias{}
	}
	asked := strings.Join(labels, ".")
	return asked, alias{real: wireName(host), asked: wireName(asked)}
}

// wireName is a name as RFC 1035 section 3.1 writes it.
func wireName(host string) []byte {
	var b []byte
	for l := range strings.SplitSeq(host, ".") {
		b = append(append(b, byte(len(l))), l...)
	}
	return append(b, 0)
}

// dnsHeader is the length of a DNS header; the question is next.
const dnsHeader = 12

// query puts the real name into a question that is about to be sent.
func (a alias) query(msg []byte) []byte {
	if len(msg) < dnsHeader || a.asked == nil || !bytes.HasPrefix(msg[dnsHeader:], a.asked) {
		return msg
	}
	msg = bytes.Clone(msg)
	copy(msg[dnsHeader:], a.real)
	return msg
}

// answer puts the stand-in into a question that came back, in place, and the
// other way round, so that an answer about the stand-in itself is dropped by
// Go's resolver like one about any other name.
func (a alias) answer(msg []byte) {
	if a.real == nil || len(msg) < dnsHeader+len(a.real) {
		return
	}
	switch name := msg[dnsHeader:][:len(a.real)]; {
	case bytes.EqualFold(name, a.real):
		copy(name, a.asked)
	case bytes.EqualFold(name, a.asked):
		copy(name, a.real)
	}
}

// dnsPackets is a connection to a DNS server over UDP. It bounds one question
// more tightly than the system's configuration, whose usual five seconds
// would leave no time for a second try.
type dnsPackets struct {
	*net.UDPConn
	alias   alias
	timeout time.Duration
	stop    func() bool
}

func (c *dnsPackets) Close() error {
	c.stop()
	return c.UDPConn.Close()
}

func (c *dnsPackets) SetDeadline(t time.Time) error {
	return c.UDPConn.SetDeadline(sooner(t, c.timeout))
}

func (c *dnsPackets) Write(b []byte) (int, error) { return c.UDPConn.Write(c.alias.query(b)) }

func (c *dnsPackets) Read(b []byte) (int, error) {
	n, err := c.UDPConn.Read(b)
	c.alias.answer(b[:n])
	return n, err
}

// dnsStream is the same over TCP, where a length goes before each message.
type dnsStream struct {
	net.Conn
	alias   alias
	timeout time.Duration
	stop    func() bool
	rest    []byte // of the message that is being handed on
}

func (c *dnsStream) Close() error {
	c.stop()
	return c.Conn.Close()
}

func (c *dnsStream) SetDeadline(t time.Time) error {
	return c.Conn.SetDeadline(sooner(t, c.timeout))
}

// Write is given one whole message.
func (c *dnsStream) Write(b []byte) (int, error) {
	if len(b) < 2 {
		return c.Conn.Write(b)
	}
	return c.Conn.Write(append(bytes.Clone(b[:2]), c.alias.query(b[2:])...))
}

func (c *dnsStream) Read(b []byte) (int, error) {
	if len(c.rest) == 0 {
		var length [2]byte
		if _, err := io.ReadFull(c.Conn, length[:]); err != nil {
			return 0, err
		}
		msg := make([]byte, 2+int(binary.BigEndian.Uint16(length[:])))
		copy(msg, length[:])
		if _, err := io.ReadFull(c.Conn, msg[2:]); err != nil {
			return 0, err
		}
		c.alias.answer(msg[2:])
		c.rest = msg
	}
	n := copy(b, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

func sooner(t time.Time, within time.Duration) time.Time {
	if limit := time.Now().Add(within); t.IsZero() || t.After(limit) {
		return limit
	}
	return t
}
