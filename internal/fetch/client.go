package fetch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"os"
	"time"

	"sift.build/sift/internal/guard"
)

// Config is what an operator may set. Only Guard is required. Limits that are
// zero have the value named; a zero MaxRedirects follows none.
type Config struct {
	Guard        *guard.Guard
	Timeout      time.Duration  // of a whole Get, robots.txt, redirects and body together; 30 s
	MaxBytes     int64          // of a body on the wire, and again after each decoding; 10 MiB
	MaxPDFBytes  int64          // the same for a PDF; 50 MiB
	MaxRedirects int            // that one Get follows, of every kind together
	UserAgent    string         // honest, with a contact; "sift"
	Robots       string         // "ignore" (or empty) or "respect"
	SpoolDir     string         // for bodies over 1 MiB; the system's temporary directory
	RootCAs      *x509.CertPool // nil: the system's
}

// limits are the bounds that no operator needs to change. SPEC section 2 and
// the figures in security/hostile.md say where they come from.
type limits struct {
	handshake time.Duration // of TLS; connecting is bounded by the guard
	headers   time.Duration // from the request to the end of the answer's headers

	headerBytes int64 // of an answer's headers, those of 1xx answers before it included

	slowWindow time.Duration // a body is ended when less than slowBytes
	slowBytes  int64         // came in this time

	memory int64 // of a body; what is larger goes to disk
	errors int64 // of the body of a status of 400 and more

	leftoverTime  time.Duration // for reading what is left of a body that
	leftoverBytes int64         // nobody wants, so that its connection can be used again

	robotsTime  time.Duration // for robots.txt, its redirects included
	robotsBytes int64         // more is not read; RFC 9309 asks for 500 KiB
	robotsHosts int           // in the cache
	robotsFor   time.Duration // how long one is believed
}

func defaultLimits() limits {
	return limits{
		handshake:     5 * time.Second,
		headers:       15 * time.Second,
		headerBytes:   64 << 10,
		slowWindow:    10 * time.Second,
		slowBytes:     10 << 10,
		memory:        1 << 20,
		errors:        64 << 10,
		leftoverTime:  200 * time.Millisecond,
		leftoverBytes: 4 << 10,
		robotsTime:    10 * time.Second,
		robotsBytes:   500 << 10,
		robotsHosts:   256,
		robotsFor:     time.Hour,
	}
}

// Client fetches. It is safe for concurrent use.
type Client struct {
	cfg    Config
	limits limits

	either *http.Transport // HTTP/2 where the server has it, else 1.1
	http1  *http.Transport // for the second try, when a server's HTTP/2 is broken
	robots robotsCache

	now    func() time.Time
	create func() (f *os.File, name string, err error) // a spool file
}

// New makes a client. It starts nothing.
func New(cfg Config) *Client { return newClient(cfg, defaultLimits()) }

func newClient(cfg Config, l limits) *Client {
	if cfg.Timeout <= 0 {
		cfg.Timeout = 30 * time.Second
	}
	if cfg.MaxBytes <= 0 {
		cfg.MaxBytes = 10 << 20
	}
	if cfg.MaxPDFBytes <= 0 {
		cfg.MaxPDFBytes = 50 << 20
	}
	if cfg.UserAgent == "" {
		// Without one, net/http would send its own name.
		cfg.UserAgent = "sift"
	}
	c := &Client{cfg: cfg, limits: l, now: time.Now}
	c.create = func() (*os.File, string, error) { return tempFile(cfg.SpoolDir) }
	var both, one http.Protocols
	both.SetHTTP1(true)
	both.SetHTTP2(true)
	one.SetHTTP1(true)
	c.either, c.http1 = c.transport(&both), c.transport(&one)
	return c
}

// Close drops the idle connections. A Get that is running goes on.
func (c *Client) Close() {
	c.either.CloseIdleConnections()
	c.http1.CloseIdleConnections()
}

// transport makes the HTTP engine. It is used without an http.Client, which
// would follow redirects, send a Referer with them, and put the whole URL
// into the text of every error.
func (c *Client) transport(protocols *http.Protocols) *http.Transport {
	return &http.Transport{
		// A proxy would be judged in place of the target: none, and none
		// from the environment.
		Proxy:                  nil,
		DialContext:            c.dial,
		TLSClientConfig:        &tls.Config{RootCAs: c.cfg.RootCAs, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    c.limits.handshake,
		ResponseHeaderTimeout:  c.limits.headers,
		MaxResponseHeaderBytes: c.limits.headerBytes,
		DisableCompression:     true, // it knows gzip only, one layer of it, and no cap
		MaxIdleConns:           32,
		MaxIdleConnsPerHost:    2,
		IdleConnTimeout:        30 * time.Second,
		Protocols:              protocols,
		HTTP2: &http.HTTP2Config{
			// The defaults let a server fill 4 MiB a stream before anybody
			// reads it.
			MaxReadFrameSize:              16 << 10,
			MaxReceiveBufferPerStream:     512 << 10,
			MaxReceiveBufferPerConnection: 1 << 20,
			SendPingTimeout:               15 * time.Second,
			PingTimeout:                   5 * time.Second,
		},
	}
}

// maxDials is how many connections one request may open. The transport opens
// another when an HTTP/2 server resets the stream or goes away, as often as
// that happens and as fast as it can.
const maxDials = 2

var errManyDials = errors.New("the server ends every connection that is opened")

// callKey finds the context of the request for which a connection is dialled.
type callKey struct{}

// dial connects through the guard. The transport detaches the dialling from
// the request that wants the connection, so that another request may get it;
// here it ends with its request, or it would go on when nobody waits for it.
// The same holds for the TLS handshake that follows.
func (c *Client) dial(ctx context.Context, network, address string) (net.Conn, error) {
	call, ok := ctx.Value(callKey{}).(*call)
	if !ok {
		return c.cfg.Guard.DialContext(ctx, network, address)
	}
	if !call.mayDial() {
		return nil, errManyDials
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer call.onEnd(cancel)()
	conn, err := c.cfg.Guard.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	if call.tls {
		call.untilHandshake(call.onEnd(func() { _ = conn.Close() }))
	}
	return conn, nil
}
