package fetch

import (
	"context"
	"crypto/tls"
	"net/http/httptrace"
	"net/netip"
	"sync"
)

// phase is how far a request has come.
type phase int

const (
	connecting phase = iota
	handshaking
	waiting // for the headers
	reading // the body
)

// String goes on after “timed out”.
func (p phase) String() string {
	switch p {
	case connecting:
		return "while connecting"
	case handshaking:
		return "during the TLS handshake"
	case waiting:
		return "while waiting for the response headers"
	default:
		return "while reading the body"
	}
}

// call watches one request. Its hooks run on goroutines of the transport and
// may do so after the request has ended.
type call struct {
	tls   bool
	onEnd func(func()) (stop func() bool) // runs a function once the request has ended

	mu        sync.Mutex // guards what follows
	at        phase
	connected bool // a connection was there to send the request on
	answered  bool // a byte of the answer came
	http2     bool
	address   string
	dials     int
	handshake []func() bool // stops what watches over connections in their handshake
}

// withCall attaches a new call to ctx, which must end with the request.
func withCall(ctx context.Context, tls bool) (context.Context, *call) {
	c := &call{tls: tls}
	c.onEnd = func(f func()) func() bool { return context.AfterFunc(ctx, f) }
	return httptrace.WithClientTrace(context.WithValue(ctx, callKey{}, c), &httptrace.ClientTrace{
		GetConn:              func(string) { c.restart() },
		TLSHandshakeStart:    func() { c.enter(handshaking) },
		TLSHandshakeDone:     c.handshakeDone,
		GotConn:              c.gotConn,
		GotFirstResponseByte: c.gotByte,
	}), c
}

// restart is called for each connection that the transport looks for: a
// second one when it found an idle one dead.
func (c *call) restart() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at, c.connected, c.answered = connecting, false, false
}

// enter moves on to a phase. A dial that lost the race against an idle
// connection must not move a request back.
func (c *call) enter(p phase) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.connected || p > waiting {
		c.at = p
	}
}

// mayDial counts a connection that is about to be opened.
func (c *call) mayDial() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dials++
	return c.dials <= maxDials
}

func (c *call) handshakeDone(state tls.ConnectionState, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil && state.NegotiatedProtocol == "h2" {
		c.http2 = true
	}
	for _, stop := range c.handshake {
		stop()
	}
	c.handshake = nil
}

// untilHandshake keeps stop until the handshake is over.
func (c *call) untilHandshake(stop func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.handshake = append(c.handshake, stop)
}

func (c *call) gotConn(info httptrace.GotConnInfo) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.connected, c.answered, c.http2, c.at = true, false, false, waiting
	if t, ok := info.Conn.(*tls.Conn); ok {
		c.http2 = t.ConnectionState().NegotiatedProtocol == "h2"
	}
	if a, err := netip.ParseAddrPort(info.Conn.RemoteAddr().String()); err == nil {
		c.address = a.Addr().Unmap().String()
	}
}

func (c *call) gotByte() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answered = true
}

// progress is what is known of a request at one moment.
type progress struct {
	phase     phase
	connected bool
	answered  bool
	http2     bool
	address   string
}

func (c *call) progress() progress {
	c.mu.Lock()
	defer c.mu.Unlock()
	return progress{c.at, c.connected, c.answered, c.http2, c.address}
}
