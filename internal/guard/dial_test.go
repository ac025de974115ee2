package guard

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"sift.build/sift/internal/sift"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestAPrivateAnswerAmongPublicOnesIsRefused(t *testing.T) {
	g, w := newGuard(t, Config{})
	w.names = map[string][]string{
		"last.example":   {"93.184.216.34", "2606:4700:4700::1111", "10.0.0.1"},
		"first.example":  {"10.0.0.1", "93.184.216.34"},
		"mapped.example": {"93.184.216.34", "::ffff:10.0.0.1"},
		"v6.example":     {"93.184.216.34", "::1"},
	}
	for name, want := range map[string]string{
		"last.example": "10.0.0.1", "first.example": "10.0.0.1", "mapped.example": "10.0.0.1", "v6.example": "::1",
	} {
		for _, network := range []string{"tcp", "tcp4", "tcp6"} {
			_, err := g.DialContext(t.Context(), network, name+":80")
			wantBlocked(t, err, "private address "+want)
		}
	}
	if len(w.connected) > 0 {
		t.Errorf("connected to %v", w.connected)
	}
}

func TestOnlyTCPToAHostAndPortIsDialled(t *testing.T) {
	g, w := newGuard(t, Config{})
	for _, tt := range [][3]string{
		{"udp", "8.8.8.8:80", `network "udp" is not allowed; only TCP`},
		{"udp4", "8.8.8.8:80", `network "udp4" is not allowed; only TCP`},
		{"unix", "/run/docker.sock", `network "unix" is not allowed; only TCP`},
		{"ip4:1", "8.8.8.8:80", `network "ip4:1" is not allowed; only TCP`},
		{"", "8.8.8.8:80", `network "" is not allowed; only TCP`},
		{"tcp", ":80", "the URL has no host"},
		{"tcp", "", "the URL has no host"},
		{"tcp", "8.8.8.8", `"8.8.8.8" is not a host and a port`},
		{"tcp", "8.8.8.8:", `"8.8.8.8:" is not a host and a port`},
		{"tcp", "8.8.8.8:http", `"8.8.8.8:http" is not a host and a port`},
		{"tcp", "8.8.8.8:65616", `"8.8.8.8:65616" is not a host and a port`},
		{"tcp", "127.1:80", `host "127.1" ends in a number and is not an address in four decimal parts`},
		{"tcp", "2130706433:80", `host "2130706433" ends in a number and is not an address in four decimal parts`},
		{"tcp", "[::1%lo]:80", `host "[::1%lo]" is not an IPv6 address in brackets, without a zone`},
		{"tcp", "::1:80", "the URL has no host"},
		{"tcp", "ｌｏｃａｌｈｏｓｔ:80", `host label "ｌｏｃａｌｈｏｓｔ" only looks different from an ordinary name; write it in ASCII`},
	} {
		_, err := g.DialContext(t.Context(), tt[0], tt[1])
		f, ok := Refused(err)
		if !ok {
			t.Errorf("%s %s: %v", tt[0], tt[1], err)
		} else if f.Message != tt[2] {
			t.Errorf("%s %s: %s, want %s", tt[0], tt[1], f.Message, tt[2])
		}
	}
	if len(w.asked) > 0 || len(w.connected) > 0 {
		t.Errorf("looked up %v, connected to %v", w.asked, w.connected)
	}
}

func TestTheFamilyOfTheNetworkIsKept(t *testing.T) {
	g, w := newGuard(t, Config{})
	w.names = map[string][]string{"both.example": {"93.184.216.34", "2606:4700:4700::1111"}}
	for network, want := range map[string]string{"tcp4": "93.184.216.34:80", "tcp6": "[2606:4700:4700::1111]:80"} {
		w.connected = nil
		conn, err := g.DialContext(t.Context(), network, "both.example:80")
		if err != nil {
			t.Fatal(err)
		}
		conn.Close()
		if len(w.connected) != 1 || w.connected[0].String() != want {
			t.Errorf("%s connected to %v", network, w.connected)
		}
	}
	_, err := g.DialContext(t.Context(), "tcp6", "example.com:80")
	if f := sift.AsFailure(err); f.Code != sift.CodeUnreachable || f.Message != "example.com has no address for tcp6" {
		t.Errorf("%v", err)
	}
}

// What a caller can see of a private address must not tell whether something
// listens there.
func TestABlockedAddressIsNeverConnectedTo(t *testing.T) {
	attempts := 0
	g, w := newGuard(t, Config{Connect: func(_ context.Context, to netip.AddrPort) (net.Conn, error) {
		attempts++
		if to.Port() == 80 {
			return nil, syscall.ECONNREFUSED
		}
		near, _ := net.Pipe()
		return near, nil
	}})
	w.names = map[string][]string{"priv.example": {"10.0.0.1"}}
	var texts []string
	for range 3 {
		for _, address := range []string{"10.0.0.1:80", "10.0.0.1:443", "priv.example:80", "priv.example:443"} {
			texts = append(texts, dial(t, g, address).Error())
		}
	}
	for _, text := range texts {
		if text != "private address 10.0.0.1" {
			t.Errorf("%q", text)
		}
	}
	if attempts > 0 {
		t.Errorf("%d connections were tried", attempts)
	}
	if len(w.asked) != 6 {
		t.Errorf("looked up %v; a literal needs no lookup", w.asked)
	}
}

func TestTheKernelsAddressIsJudgedAgain(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	here := listener.Addr().(*net.TCPAddr).AddrPort()

	// The one that goes behind DialContext's back is stopped by Control.
	closed, _ := newGuard(t, Config{})
	conn, err := closed.connectTCP(t.Context(), here)
	if err == nil {
		conn.Close()
	}
	wantBlocked(t, err, "private address 127.0.0.1")

	// The one that an exception opens really connects.
	open, err := New(Config{Allow: []string{here.String()}})
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{here.String(), fmt.Sprintf("[::ffff:127.0.0.1]:%d", here.Port())} {
		conn, err = open.DialContext(t.Context(), "tcp", address)
		if err != nil {
			t.Fatalf("%s: %v", address, err)
		}
		if got := conn.RemoteAddr().String(); got != here.String() {
			t.Errorf("connected to %s, want %s", got, here)
		}
		conn.Close()
	}
	if err := open.control("tcp4", here.String(), nil); err != nil {
		t.Errorf("control: %v", err)
	}
}

func TestControlFailsClosed(t *testing.T) {
	g, _ := newGuard(t, Config{})
	for _, tt := range [][3]string{
		{"udp4", "8.8.8.8:80", `network "udp4" is not allowed; only TCP`},
		{"tcp", "8.8.8.8:80", `network "tcp" is not allowed; only TCP`},
		{"unix", "/run/docker.sock", `network "unix" is not allowed; only TCP`},
		{"tcp4", ":80", `":80" is not an address and a port`},
		{"tcp4", "example.com:80", `"example.com:80" is not an address and a port`},
		{"tcp4", "10.0.0.1:80", "private address 10.0.0.1"},
		{"tcp6", "[::ffff:10.0.0.1]:80", "private address 10.0.0.1"},
		{"tcp6", "[::]:80", "private address :: (unspecified, ::/128)"},
		{"tcp6", "[fe80::1%eth0]:80", "private address fe80::1%eth0 (with a zone)"},
		{"tcp4", "8.8.8.8:22", "port 22 is not open for 8.8.8.8; [guard] allow opens it for other addresses only"},
	} {
		wantBlocked(t, g.control(tt[0], tt[1], nil), tt[2])
	}
	if err := g.control("tcp4", "8.8.8.8:80", nil); err != nil {
		t.Error(err)
	}
}

// A public address that refuses the connection comes first, and the block is
// the reason all the same.
func TestARefusalAtTheSocketIsTheReasonWhateverTheOrder(t *testing.T) {
	for _, order := range [][]string{{"93.184.216.34", "8.8.8.8"}, {"8.8.8.8", "93.184.216.34"}} {
		g, w := newGuard(t, Config{Connect: func(_ context.Context, to netip.AddrPort) (net.Conn, error) {
			err := error(syscall.ECONNREFUSED)
			if to.Addr().String() == "8.8.8.8" { // as when it became this host's own a moment ago
				err = &AddressError{Host: "8.8.8.8", Addr: to.Addr(), why: "this host's own address"}
			}
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: err}
		}})
		w.names = map[string][]string{"two.example": order}
		wantBlocked(t, dial(t, g, "two.example:80"), "private address 8.8.8.8 (this host's own address)")
	}
}

// attempt is one connection that a scripted Connect was asked for.
type attempt struct {
	addr string
	at   time.Duration
}

// script is a Connect that answers each address after a time of the bubble.
type script struct {
	start   time.Time
	answers map[string]func(ctx context.Context) (net.Conn, error)

	mu       sync.Mutex // guards what follows
	attempts []attempt
	opened   []*watchedConn
}

type watchedConn struct {
	net.Conn
	closed atomic.Bool
}

func (c *watchedConn) Close() error { c.closed.Store(true); return nil }

func (s *script) connect(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	s.mu.Lock()
	s.attempts = append(s.attempts, attempt{to.Addr().String(), time.Since(s.start)})
	s.mu.Unlock()
	return s.answers[to.Addr().String()](ctx)
}

func (s *script) succeed(after time.Duration) func(context.Context) (net.Conn, error) {
	return func(context.Context) (net.Conn, error) {
		time.Sleep(after) // of the bubble's clock
		c := &watchedConn{}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.opened = append(s.opened, c)
		return c, nil
	}
}

func (s *script) fail(after time.Duration, err error) func(context.Context) (net.Conn, error) {
	return func(context.Context) (net.Conn, error) {
		time.Sleep(after)
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: err}
	}
}

func hang(ctx context.Context) (net.Conn, error) {
	<-ctx.Done()
	return nil, &net.OpError{Op: "dial", Net: "tcp", Err: ctx.Err()}
}

func TestTheNextAddressIsTriedWhenOneFailsOrIsSlow(t *testing.T) {
	type answer = func(context.Context) (net.Conn, error)
	for _, tt := range []struct {
		name    string
		addrs   []string
		answers func(s *script) map[string]answer
		want    string // attempts
		takes   time.Duration
		fails   string
	}{
		{
			name:  "the first one answers",
			addrs: []string{"1.1.1.1", "8.8.8.8"},
			answers: func(s *script) map[string]answer {
				return map[string]answer{"1.1.1.1": s.succeed(100 * time.Millisecond), "8.8.8.8": hang}
			},
			want: "1.1.1.1@0s", takes: 100 * time.Millisecond,
		},
		{
			name:  "the first one fails at once",
			addrs: []string{"1.1.1.1", "8.8.8.8"},
			answers: func(s *script) map[string]answer {
				return map[string]answer{"1.1.1.1": s.fail(0, syscall.ENETUNREACH), "8.8.8.8": s.succeed(0)}
			},
			want: "1.1.1.1@0s 8.8.8.8@0s",
		},
		{
			name:  "the first one never answers",
			addrs: []string{"1.1.1.1", "8.8.8.8"},
			answers: func(s *script) map[string]answer {
				return map[string]answer{"1.1.1.1": hang, "8.8.8.8": s.succeed(time.Second)}
			},
			want: "1.1.1.1@0s 8.8.8.8@300ms", takes: 1300 * time.Millisecond,
		},
		{
			name:  "the first one is slow and still the faster",
			addrs: []string{"1.1.1.1", "8.8.8.8"},
			answers: func(s *script) map[string]answer {
				return map[string]answer{"1.1.1.1": s.succeed(400 * time.Millisecond), "8.8.8.8": s.succeed(time.Second)}
			},
			want: "1.1.1.1@0s 8.8.8.8@300ms", takes: 400 * time.Millisecond,
		},
		{
			name:  "the families take turns",
			addrs: []string{"2606:4700::1", "2606:4700::2", "2606:4700::3", "1.1.1.1", "8.8.8.8"},
			answers: func(s *script) map[string]answer {
				return map[string]answer{
					"2606:4700::1": s.fail(0, syscall.ENETUNREACH), "2606:4700::2": s.fail(0, syscall.ENETUNREACH), "2606:4700::3": s.fail(0, syscall.ENETUNREACH),
					"1.1.1.1": s.fail(0, syscall.ECONNREFUSED), "8.8.8.8": s.fail(0, syscall.ECONNREFUSED),
				}
			},
			want:  "2606:4700::1@0s 1.1.1.1@0s 2606:4700::2@0s 8.8.8.8@0s 2606:4700::3@0s",
			fails: "unreachable: slow.example refused the connection",
		},
		{
			name:  "none has a route",
			addrs: []string{"2606:4700::1"},
			answers: func(s *script) map[string]answer {
				return map[string]answer{"2606:4700::1": s.fail(0, syscall.ENETUNREACH)}
			},
			want: "2606:4700::1@0s", fails: "unreachable: there is no route to slow.example",
		},
		{
			name:  "none answers within five seconds",
			addrs: []string{"1.1.1.1", "8.8.8.8"},
			answers: func(*script) map[string]answer {
				return map[string]answer{"1.1.1.1": hang, "8.8.8.8": hang}
			},
			want: "1.1.1.1@0s 8.8.8.8@300ms", takes: 5 * time.Second,
			fails: "timeout: slow.example did not accept a connection within 5s",
		},
		{
			name:  "one fails and the other never answers",
			addrs: []string{"1.1.1.1", "8.8.8.8"},
			answers: func(s *script) map[string]answer {
				return map[string]answer{"1.1.1.1": s.fail(0, syscall.EHOSTUNREACH), "8.8.8.8": hang}
			},
			want: "1.1.1.1@0s 8.8.8.8@0s", takes: 5 * time.Second,
			fails: "timeout: slow.example did not accept a connection within 5s",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{start: time.Now()}
				s.answers = tt.answers(s)
				g, w := newGuard(t, Config{Connect: s.connect})
				w.names = map[string][]string{"slow.example": tt.addrs}
				conn, err := g.DialContext(t.Context(), "tcp", "slow.example:80")
				if took := time.Since(s.start); took != tt.takes {
					t.Errorf("took %v, want %v", took, tt.takes)
				}
				synctest.Wait()
				time.Sleep(10 * time.Second) // of the bubble: late connections come in
				s.mu.Lock()
				defer s.mu.Unlock()
				var got []string
				for _, a := range s.attempts {
					got = append(got, fmt.Sprintf("%s@%v", a.addr, a.at))
				}
				if strings.Join(got, " ") != tt.want {
					t.Errorf("tried %v, want %s", got, tt.want)
				}
				if tt.fails != "" {
					f := sift.AsFailure(err)
					if f.Error() != tt.fails || f.Hint != sift.HintRetry {
						t.Errorf("%v (hint %q), want %s", err, f.Hint, tt.fails)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				for _, c := range s.opened {
					if c.closed.Load() == (net.Conn(c) == conn) {
						t.Errorf("the winner is closed or a late connection is not")
					}
				}
			})
		})
	}
}

func TestAtMostSixteenAddressesAreTried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{start: time.Now(), answers: map[string]func(context.Context) (net.Conn, error){}}
		g, w := newGuard(t, Config{Connect: s.connect})
		var addrs []string
		for i := range 1000 {
			a := fmt.Sprintf("93.184.%d.%d", i/250, i%250)
			addrs = append(addrs, a)
			s.answers[a] = s.fail(0, syscall.ECONNREFUSED)
		}
		w.names = map[string][]string{"big.example": addrs}
		if err := dial(t, g, "big.example:80"); sift.AsFailure(err).Message != "big.example refused the connection" {
			t.Error(err)
		}
		if len(s.attempts) != 16 {
			t.Errorf("%d were tried", len(s.attempts))
		}
	})
}

func TestTheCallersContextEndsADial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, _ := newGuard(t, Config{Connect: func(ctx context.Context, _ netip.AddrPort) (net.Conn, error) { return hang(ctx) }})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := g.DialContext(ctx, "tcp", "example.com:80"); err != context.DeadlineExceeded {
			t.Errorf("connecting: %v", err)
		}
		slow, _ := newGuard(t, Config{Lookup: func(ctx context.Context, host string) ([]netip.Addr, error) {
			<-ctx.Done()
			return nil, &net.DNSError{Err: "i/o timeout", Name: host, IsTimeout: true}
		}})
		ctx, cancel = context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if _, err := slow.DialContext(ctx, "tcp", "example.com:80"); err != context.Canceled {
			t.Errorf("looking up: %v", err)
		}
		// The lookup has a limit of its own.
		start := time.Now()
		err := dial(t, slow, "example.com:80")
		if f := sift.AsFailure(err); f.Error() != "unreachable: the name example.com could not be looked up in time" || f.Hint != sift.HintRetry {
			t.Errorf("%v", err)
		}
		if took := time.Since(start); took != 5*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

func TestAFailureToConnectTellsNoAddress(t *testing.T) {
	g, _ := newGuard(t, Config{Connect: func(_ context.Context, to netip.AddrPort) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Addr: net.TCPAddrFromAddrPort(to), Err: io.ErrUnexpectedEOF}
	}})
	err := dial(t, g, "example.com:80")
	if f := sift.AsFailure(err); f.Error() != "unreachable: example.com could not be connected to" || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%v", err)
	}
}

func TestARefusalIsFoundAnywhereInAnError(t *testing.T) {
	refused := &AddressError{Host: "priv.example", Addr: netip.MustParseAddr("10.0.0.7"), Port: 80}
	through := func(err error) error {
		return &url.Error{Op: "Get", URL: "http://priv.example/", Err: &net.OpError{Op: "dial", Net: "tcp", Err: err}}
	}
	down := sift.Fail(sift.CodeUnreachable, "down")
	for what, err := range map[string]error{
		"as it is":                refused,
		"through net and url":     through(refused),
		"joined, last":            errors.Join(syscall.ECONNREFUSED, down, refused),
		"joined, first":           errors.Join(refused, syscall.ECONNREFUSED),
		"joined and wrapped":      through(fmt.Errorf("fetch: %w", errors.Join(syscall.ECONNREFUSED, through(refused)))),
		"behind another failure":  down.WithCause(through(refused)),
		"as the failure it makes": through(refused.Failure(false)),
	} {
		f, ok := Refused(err)
		if !ok || f.Error() != "blocked: private address 10.0.0.7" {
			t.Errorf("%s: %v %v", what, f, ok)
		}
	}
	// A text that was made for a restricted caller stays as it was made.
	if f, ok := Refused(through(refused.Failure(true))); !ok || f.Error() != "blocked: private address" {
		t.Errorf("restricted: %v %v", f, ok)
	}
	for _, err := range []error{nil, syscall.ECONNREFUSED, down, errors.Join(down, io.EOF), errors.New("blocked: private address 10.0.0.7")} {
		if f, ok := Refused(err); ok {
			t.Errorf("%v: found %v", err, f)
		}
	}
}
