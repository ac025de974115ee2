package fetch

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"sift.build/sift/internal/guard"
	"sift.build/sift/internal/sift"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a small internet. Names have addresses, addresses have servers,
// and the guard in between is the real one: only its last step, the connection
// itself, ends at a loopback socket, or at a pipe in memory, with which a
// whole fetch can run in a synctest bubble.
type world struct {
	t     *testing.T
	roots *x509.CertPool
	key   *ecdsa.PrivateKey
	ca    *x509.Certificate

	running sync.WaitGroup // servers
	pipes   bool           // no sockets

	// stuck, where set, takes the place of looking up and connecting.
	stuck func(ctx context.Context, what string) error

	mu        sync.Mutex
	names     map[string][]netip.Addr
	servers   map[netip.AddrPort]func(net.Conn)
	contacted []netip.AddrPort // every connection that came about or was tried
	looked    []string
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, names: map[string][]netip.Addr{}, servers: map[netip.AddrPort]func(net.Conn){}}
	t.Cleanup(w.running.Wait)
	return w
}

// newBubble is a world for synctest.
func newBubble(t *testing.T) *world {
	w := newWorld(t)
	w.pipes = true
	return w
}

// host gives a name a public address with a server on it.
func (w *world) host(name string, port uint16, serve func(net.Conn)) netip.Addr {
	w.mu.Lock()
	defer w.mu.Unlock()
	addrs, ok := w.names[name]
	if !ok {
		addrs = []netip.Addr{netip.AddrFrom4([4]byte{93, 184, 216, byte(len(w.names) + 1)})}
		w.names[name] = addrs
	}
	w.servers[netip.AddrPortFrom(addrs[0], port)] = serve
	return addrs[0]
}

// resolve gives a name addresses of its own, without servers.
func (w *world) resolve(name string, addrs ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.names[name] = nil
	for _, a := range addrs {
		w.names[name] = append(w.names[name], netip.MustParseAddr(a))
	}
}

func (w *world) guard() *guard.Guard {
	g, err := guard.New(guard.Config{
		Lookup: func(ctx context.Context, host string) ([]netip.Addr, error) {
			if w.stuck != nil {
				if err := w.stuck(ctx, "lookup"); err != nil {
					return nil, err
				}
			}
			w.mu.Lock()
			defer w.mu.Unlock()
			w.looked = append(w.looked, host)
			if a := w.names[host]; len(a) > 0 {
				return a, nil
			}
			return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
		},
		Connect: func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
			if w.stuck != nil {
				if err := w.stuck(ctx, "connect"); err != nil {
					return nil, err
				}
			}
			w.mu.Lock()
			w.contacted = append(w.contacted, to)
			serve := w.servers[to]
			w.mu.Unlock()
			if serve == nil {
				return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
			}
			here, there, err := w.connection()
			if err != nil {
				return nil, err
			}
			w.running.Go(func() {
				defer there.Close()
				serve(there)
			})
			return &socket{Conn: here, to: to}, nil
		},
		LocalAddrs: func() ([]netip.Addr, error) { return nil, nil },
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return g
}

// connection makes both ends of one.
func (w *world) connection() (here, there net.Conn, err error) {
	if w.pipes {
		here, there = net.Pipe()
		return here, there, nil
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	defer l.Close()
	if here, err = net.Dial("tcp", l.Addr().String()); err != nil {
		return nil, nil, err
	}
	there, err = l.Accept()
	return here, there, err
}

// contacts is which addresses were connected to, or tried to.
func (w *world) contacts() []netip.AddrPort {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]netip.AddrPort(nil), w.contacted...)
}

// socket knows whom it is connected to in this world.
type socket struct {
	net.Conn
	to netip.AddrPort
}

func (s *socket) RemoteAddr() net.Addr { return net.TCPAddrFromAddrPort(s.to) }

// client makes a client in this world.
func (w *world) client(change ...func(*Config, *limits)) *Client {
	cfg := Config{
		Guard:        w.guard(),
		MaxRedirects: 5,
		UserAgent:    "sift/1 (+https://sift.example/contact)",
		RootCAs:      w.roots,
	}
	l := defaultLimits()
	for _, f := range change {
		f(&cfg, &l)
	}
	if cfg.SpoolDir == "" {
		cfg.SpoolDir = w.t.TempDir()
	}
	c := newClient(cfg, l)
	w.t.Cleanup(c.Close)
	return c
}

// parse takes a URL through the client's guard.
func parse(t *testing.T, c *Client, raw string) *guard.URL {
	t.Helper()
	u, err := c.cfg.Guard.CheckURL(raw)
	if err != nil {
		t.Fatalf("CheckURL(%q): %v", raw, err)
	}
	return u
}

// get fetches, and closes the body when the test ends.
func get(t *testing.T, c *Client, raw string) (*Response, error) {
	t.Helper()
	return do(t, c, Request{URL: parse(t, c, raw)})
}

func do(t *testing.T, c *Client, r Request) (*Response, error) {
	t.Helper()
	resp, err := c.Get(t.Context(), r)
	if err == nil {
		t.Cleanup(func() { resp.Body.Close() })
	}
	return resp, err
}

func mustGet(t *testing.T, c *Client, raw string) *Response {
	t.Helper()
	resp, err := get(t, c, raw)
	if err != nil {
		t.Fatalf("Get(%q): %v", raw, err)
	}
	return resp
}

func bodyOf(t *testing.T, r *Response) string {
	t.Helper()
	b, err := r.Body.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// wantFailure checks the code of an error and words of its text.
func wantFailure(t *testing.T, err error, code sift.Code, words ...string) *sift.Failure {
	t.Helper()
	f, ok := errors.AsType[*sift.Failure](err)
	if !ok {
		t.Fatalf("error is %T %v, want a *sift.Failure with code %s", err, err, code)
	}
	if f.Code != code {
		t.Errorf("code is %s, want %s (%v; cause %v)", f.Code, code, f, f.Cause)
	}
	for _, w := range words {
		if !strings.Contains(f.Error(), w) {
			t.Errorf("error %q does not say %q (cause %v)", f.Error(), w, f.Cause)
		}
	}
	return f
}

// request is what a raw server read: the request line and the header lines.
type request struct {
	line   string
	header http.Header
}

func (r request) path() string { return strings.Fields(r.line + " ? ?")[1] }

// readRequest reads one request; false when the client has gone.
func readRequest(br *bufio.Reader) (request, bool) {
	line, err := br.ReadString('\n')
	if err != nil {
		return request{}, false
	}
	r := request{line: strings.TrimSpace(line), header: http.Header{}}
	for {
		line, err := br.ReadString('\n')
		if err != nil {
			return request{}, false
		}
		if line = strings.TrimSpace(line); line == "" {
			return r, true
		}
		k, v, _ := strings.Cut(line, ":")
		r.header.Add(k, strings.TrimSpace(v))
	}
}

// raw answers every request of a connection with the bytes that reply gives,
// as they are, and closes it when reply gives none or they say so.
func raw(reply func(request) string) func(net.Conn) {
	return func(c net.Conn) {
		br := bufio.NewReader(c)
		for {
			r, ok := readRequest(br)
			if !ok {
				return
			}
			answer := reply(r)
			if _, err := io.WriteString(c, answer); err != nil || answer == "" {
				return
			}
			head, body, _ := strings.Cut(answer, "\r\n\r\n")
			if !strings.Contains(head+"\r\n", fmt.Sprintf("Content-Length: %d\r\n", len(body))) || strings.Contains(head, "Connection: close") {
				return
			}
		}
	}
}

// always answers every request alike.
func always(answer string) func(net.Conn) { return raw(func(request) string { return answer }) }

// ok is a whole answer with the given body.
func ok(contentType, body string, headers ...string) string {
	return status(200, contentType, body, headers...)
}

func status(code int, contentType, body string, headers ...string) string {
	extra := ""
	for _, h := range headers {
		extra += h + "\r\n"
	}
	if contentType != "" {
		extra += "Content-Type: " + contentType + "\r\n"
	}
	return fmt.Sprintf("HTTP/1.1 %d X\r\n%sContent-Length: %d\r\n\r\n%s", code, extra, len(body), body)
}

func redirect(code int, location string, headers ...string) string {
	return status(code, "", "", append([]string{"Location: " + location}, headers...)...)
}

// listener hands the connections of a world to an http.Server.
type listener struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}
func (l *listener) Close() error   { l.once.Do(func() { close(l.done) }); return nil }
func (l *listener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(93, 184, 216, 34)} }

// waitClosed is a connection that tells when it has been closed.
type waitClosed struct {
	net.Conn
	once   sync.Once
	closed chan struct{}
}

func (c *waitClosed) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// https serves h over TLS at name, with HTTP/2 where protocols has "h2".
// mangle may change the certificate before it is signed.
func (w *world) https(name string, h http.Handler, protocols []string, mangle func(*x509.Certificate)) {
	w.t.Helper()
	l := &listener{conns: make(chan net.Conn), done: make(chan struct{})}
	s := &http.Server{
		Handler:     h,
		TLSConfig:   w.tls(name, protocols, mangle),
		IdleTimeout: time.Minute,
		ErrorLog:    discardLog(),
	}
	if len(protocols) == 1 && protocols[0] == "http/1.1" {
		s.TLSNextProto = map[string]func(*http.Server, *tls.Conn, http.Handler){}
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := s.ServeTLS(l, "", ""); !errors.Is(err, http.ErrServerClosed) {
			w.t.Errorf("ServeTLS: %v", err)
		}
	}()
	w.t.Cleanup(func() {
		s.Close()
		<-ended
	})
	w.host(name, 443, func(c net.Conn) {
		wc := &waitClosed{Conn: c, closed: make(chan struct{})}
		select {
		case l.conns <- wc:
			<-wc.closed
		case <-l.done:
		}
	})
}

// tls makes a server's configuration with a certificate for name.
func (w *world) tls(name string, protocols []string, mangle func(*x509.Certificate)) *tls.Config {
	w.t.Helper()
	if w.key == nil {
		w.key = must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
		template := &x509.Certificate{
			SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"},
			NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
			IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
		}
		der := must(x509.CreateCertificate(rand.Reader, template, template, &w.key.PublicKey, w.key))
		w.ca = must(x509.ParseCertificate(der))
		w.roots = x509.NewCertPool()
		w.roots.AddCert(w.ca)
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), DNSNames: []string{name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if mangle != nil {
		mangle(leaf)
	}
	key := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	der := must(x509.CreateCertificate(rand.Reader, leaf, w.ca, &key.PublicKey, w.key))
	return &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}},
		NextProtos:   protocols,
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
