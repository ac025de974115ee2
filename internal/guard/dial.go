package guard

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"time"

	"sift.build/sift/internal/sift"
)

// DialContext connects to host:port for an http.Transport. The name is looked
// up, every answer is judged, and only then are the judged addresses tried;
// one bad answer among good ones refuses the name, so that the outcome does
// not hang on their order or on which server is up.
//
// A refusal is an *AddressError or a *sift.Failure with code blocked. Other
// failures are a *sift.Failure with code unreachable or timeout, whose text
// names the host and no address that it has; when ctx ends, it is ctx's error.
func (g *Guard) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	if network != "tcp" && network != "tcp4" && network != "tcp6" {
		return nil, blocked("network %q is not allowed; only TCP", excerpt(network))
	}
	hostText, portText, hasPort := cutPort(address)
	host, literal, err := parseHost(hostText)
	if err != nil {
		return nil, err
	}
	port, ok := parsePort(portText)
	if !hasPort || !ok {
		return nil, blocked("%q is not a host and a port", excerpt(address))
	}
	addrs := []netip.Addr{literal}
	if !literal.IsValid() {
		if addrs, err = g.resolve(ctx, host); err != nil {
			return nil, err
		}
	}
	if _, refused := g.judgeAll(host, addrs, port); refused != nil {
		return nil, refused
	}
	var to []netip.AddrPort
	for _, a := range addrs {
		if network == "tcp" || (network == "tcp4") == a.Is4() {
			to = append(to, netip.AddrPortFrom(a, port))
		}
	}
	if len(to) == 0 {
		return nil, sift.Fail(sift.CodeUnreachable, "%s has no address for %s", host, network)
	}
	return g.connectAny(ctx, host, interleave(to))
}

// interleave lets the families take turns, the resolver's order kept within
// each, and leaves out what is too many to try. A host whose IPv6 is broken
// is then reached on the second try and not after all its IPv6 addresses.
func interleave(to []netip.AddrPort) []netip.AddrPort {
	first := to[0].Addr().Is4()
	var same, other, out []netip.AddrPort
	for _, ap := range to {
		if ap.Addr().Is4() == first {
			same = append(same, ap)
		} else {
			other = append(other, ap)
		}
	}
	for i := range max(len(same), len(other)) {
		if i < len(same) {
			out = append(out, same[i])
		}
		if i < len(other) {
			out = append(out, other[i])
		}
	}
	return out[:min(len(out), maxTried)]
}

// connectAny gives the first connection that comes about. The next address
// is tried when one failed, or beside it when it is slow (RFC 8305).
func (g *Guard) connectAny(parent context.Context, host string, to []netip.AddrPort) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(parent, connectTimeout)
	defer cancel()
	type outcome struct {
		conn net.Conn
		err  error
	}
	outcomes := make(chan outcome)
	done := make(chan struct{})
	defer close(done)
	next := time.NewTimer(0)
	defer next.Stop()

	var errs []error
	for started, ended := 0, 0; ended < len(to); {
		select {
		case <-next.C:
			if started == len(to) {
				continue
			}
			ap := to[started]
			started++
			next.Reset(stagger)
			go func() {
				conn, err := g.connect(ctx, ap)
				select {
				case outcomes <- outcome{conn, err}:
				case <-done: // another one won, or time is up
					if conn != nil {
						_ = conn.Close()
					}
				}
			}()
		case o := <-outcomes:
			ended++
			if o.err == nil {
				return o.conn, nil
			}
			if _, refused := Refused(o.err); refused {
				return nil, o.err
			}
			errs = append(errs, o.err)
			next.Reset(0)
		case <-ctx.Done():
			if err := parent.Err(); err != nil {
				return nil, err
			}
			errs = append(errs, ctx.Err())
			return nil, connectFailure(host, errs)
		}
	}
	if err := parent.Err(); err != nil {
		return nil, err
	}
	return nil, connectFailure(host, errs)
}

// connectFailure says why no address of host could be connected to. A refusal
// says more than a missing route, which is what a host without IPv6 has for
// every IPv6 address.
func connectFailure(host string, errs []error) *sift.Failure {
	f := sift.Fail(sift.CodeUnreachable, "%s could not be connected to", host)
	var timeout net.Error
	switch err := errors.Join(errs...); {
	case errors.Is(err, syscall.ECONNREFUSED):
		f = sift.Fail(sift.CodeUnreachable, "%s refused the connection", host)
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		f = sift.Fail(sift.CodeTimeout, "%s did not accept a connection within %v", host, connectTimeout)
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		f = sift.Fail(sift.CodeUnreachable, "there is no route to %s", host)
	}
	return f.WithHint(sift.HintRetry).WithCause(fmt.Errorf("connect: %w", errors.Join(errs...)))
}

// connectTCP is the real Config.Connect. Control judges what the kernel is
// given, which catches a connection that got here without DialContext's
// judgement, or after the host's own addresses changed.
func (g *Guard) connectTCP(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	d := net.Dialer{Control: g.control}
	return d.DialContext(ctx, "tcp", to.String())
}

func (g *Guard) control(network, address string, _ syscall.RawConn) error {
	if network != "tcp4" && network != "tcp6" {
		return blocked("network %q is not allowed; only TCP", excerpt(network))
	}
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		// An empty host reaches the dialer as ":80" and connects to this
		// machine.
		return blocked("%q is not an address and a port", excerpt(address))
	}
	if _, refused := g.judge(to.Addr().String(), to); refused != nil {
		return refused
	}
	return nil
}
