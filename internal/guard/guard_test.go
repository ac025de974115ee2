package guard

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sift.build/sift/internal/sift"
)

// world is the outside of a Guard under test: names from a table, and
// connections that are only counted. A name that is not in the table has one
// public address.
type world struct {
	names map[string][]string

	mu        sync.Mutex
	asked     []string         // names that were looked up
	connected []netip.AddrPort // addresses that a connection was opened to
}

func (w *world) lookup(_ context.Context, host string) ([]netip.Addr, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = append(w.asked, host)
	answers, ok := w.names[host]
	if !ok {
		answers = []string{"93.184.216.34"}
	}
	var out []netip.Addr
	for _, a := range answers {
		if target, ok := strings.CutPrefix(a, "CNAME "); ok {
			for _, a := range w.names[target] {
				out = append(out, netip.MustParseAddr(a))
			}
			continue
		}
		out = append(out, netip.MustParseAddr(a))
	}
	return out, nil
}

func (w *world) connect(_ context.Context, to netip.AddrPort) (net.Conn, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.connected = append(w.connected, to)
	near, far := net.Pipe()
	far.Close()
	return near, nil
}

func noOwnAddresses() ([]netip.Addr, error) { return nil, nil }

// newGuard fills in what the test left open: no lookups beyond one public
// answer, no real connection, no own address.
func newGuard(t testing.TB, c Config) (*Guard, *world) {
	t.Helper()
	w := &world{}
	if c.Lookup == nil {
		c.Lookup = w.lookup
	}
	if c.Connect == nil {
		c.Connect = w.connect
	}
	if c.LocalAddrs == nil {
		c.LocalAddrs = noOwnAddresses
	}
	g, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return g, w
}

// dial opens and closes a connection and gives the error.
func dial(t testing.TB, g *Guard, address string) error {
	t.Helper()
	conn, err := g.DialContext(t.Context(), "tcp", address)
	if err == nil {
		conn.Close()
	}
	return err
}

func wantBlocked(t testing.TB, err error, message string) {
	t.Helper()
	f, ok := Refused(err)
	if !ok {
		t.Fatalf("got %v, want a refusal: %q", err, message)
	}
	if f.Code != sift.CodeBlocked || f.Message != message {
		t.Fatalf("got %q, want %q", f.Error(), "blocked: "+message)
	}
}

func TestAnErrorOfNewNamesEveryBadEntry(t *testing.T) {
	_, err := New(Config{
		Ports:      []uint16{80, 0},
		Allow:      []string{"10.0.0.0/8", "files.example", "10.1.0.0/8", "127.0.0.1:99999", "fe80::1%eth0", "[127.0.0.1]:80", "127.0.0.1:", "10.0.0.0/33", "::ffff:10.0.0.0/104", ""},
		NAT64:      []string{"64:ff9b::/96", "64:ff9b::/95", "10.0.0.0/32", "64:ff9b::1/96", "nonsense"},
		Resolver:   "dns.example:53",
		LocalAddrs: func() ([]netip.Addr, error) { return nil, errors.New("no netlink here") },
	})
	want := `guard ports: 0 is not a port
guard allow: "files.example": not an address or a range, with or without a port (names cannot be opened)
guard allow: "10.1.0.0/8": the range starts at 10.0.0.0/8
guard allow: "127.0.0.1:99999": the port is not a number from 1 to 65535
guard allow: "fe80::1%eth0": not an address or a range, with or without a port (names cannot be opened)
guard allow: "[127.0.0.1]:80": not an address or a range, with or without a port (names cannot be opened)
guard allow: "127.0.0.1:": the port is not a number from 1 to 65535
guard allow: "10.0.0.0/33": not an address or a range, with or without a port (names cannot be opened)
guard allow: "::ffff:10.0.0.0/104": not an address or a range, with or without a port (names cannot be opened)
guard allow: "": not an address or a range, with or without a port (names cannot be opened)
guard nat64: "64:ff9b::/95": a NAT64 prefix is 32, 40, 48, 56, 64 or 96 bits long (RFC 6052)
guard nat64: "10.0.0.0/32": not an IPv6 range
guard nat64: "64:ff9b::1/96": the range starts at 64:ff9b::/96
guard nat64: "nonsense": not an IPv6 range
guard resolver: "dns.example:53": not an address with a port, such as "127.0.0.1:53"
guard: this host's own addresses cannot be listed (under systemd, RestrictAddressFamilies must include AF_NETLINK): no netlink here`
	if err == nil {
		t.Fatal("accepted")
	}
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Error(diff)
	}
}

func TestTheZeroConfigWorksOnThisHost(t *testing.T) {
	g, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	if got := g.Exceptions(); len(got) != 0 {
		t.Errorf("the zero Config opened %q", got)
	}
	wantBlocked(t, dial(t, g, "127.0.0.1:80"), "private address 127.0.0.1")
}

func TestExceptionsAreReadInEverySpelling(t *testing.T) {
	for _, tt := range []struct{ entry, opens, keeps string }{
		{"10.20.0.0/16", "10.20.255.255:443", "10.21.0.0:443"},
		{"10.0.0.7", "10.0.0.7:80", "10.0.0.8:80"},
		{"127.0.0.1:9000", "127.0.0.1:9000", "127.0.0.1:80"},
		{"10.0.0.0/8:8080", "10.255.255.255:8080", "10.255.255.255:80"},
		{"fd00::/8", "[fdff::1]:80", "[fc00::1]:80"},
		{"fd00::1", "[fd00::1]:443", "[fd00::2]:443"},
		{"[fd00::1]:8080", "[fd00::1]:8080", "[fd00::1]:80"},
		{"fd00::/8:8080", "[fd00::1]:8080", "[fd00::1]:443"},
		{"[fd00::/8]:8080", "[fd00::1]:8080", "[fd00::1]:443"},
		{"[fd00::]/8:8080", "[fd00::1]:8080", "[fd00::1]:443"},
		{"[::1]:8080", "[::1]:8080", "[::1]:80"},
		{"::ffff:10.0.0.7", "10.0.0.7:80", "10.0.0.8:80"},
		{"198.18.0.0/15", "198.19.255.255:443", "198.17.255.255:22"},
		{"93.184.216.34:8443", "93.184.216.34:8443", "93.184.216.35:8443"},
	} {
		t.Run(tt.entry, func(t *testing.T) {
			g, w := newGuard(t, Config{Allow: []string{tt.entry}})
			if err := dial(t, g, tt.opens); err != nil {
				t.Errorf("%s stays closed: %v", tt.opens, err)
			}
			if _, refused := Refused(dial(t, g, tt.keeps)); !refused {
				t.Errorf("%s is open as well", tt.keeps)
			}
			if want := []netip.AddrPort{netip.MustParseAddrPort(tt.opens)}; !cmp.Equal(want, w.connected, cmp.Comparer(func(a, b netip.AddrPort) bool { return a == b })) {
				t.Errorf("connected to %v, want %v", w.connected, want)
			}
			if got := g.Exceptions(); len(got) != 1 || !strings.HasPrefix(got[0], tt.entry) {
				t.Errorf("reported as %q", got)
			}
		})
	}
}

func TestExceptionsSayWhatStaysClosed(t *testing.T) {
	g, _ := newGuard(t, Config{Allow: []string{"10.20.0.0/16", "169.254.0.0/16", "168.63.129.16:80"}, NAT64: []string{"64:ff9b::/96"}})
	want := []string{
		"10.20.0.0/16",
		"169.254.0.0/16 (cloud metadata addresses stay closed)",
		"168.63.129.16:80 (cloud metadata addresses stay closed)",
		"nat64 64:ff9b::/96 (the address inside is judged)",
	}
	if diff := cmp.Diff(want, g.Exceptions()); diff != "" {
		t.Error(diff)
	}
}

func TestTheHostsOwnAddressesAreReadAgainAfterAWhile(t *testing.T) {
	var own []netip.Addr
	var fail error
	reads := 0
	g, _ := newGuard(t, Config{LocalAddrs: func() ([]netip.Addr, error) { reads++; return own, fail }})
	now := g.now()
	g.now = func() time.Time { return now }

	if err := dial(t, g, "93.184.216.34:80"); err != nil {
		t.Fatal(err)
	}
	own = []netip.Addr{netip.MustParseAddr("93.184.216.34"), netip.MustParseAddr("fe80::1%eth0")}
	now = now.Add(ownRefresh)
	wantBlocked(t, dial(t, g, "93.184.216.34:80"), "private address 93.184.216.34 (this host's own address)")
	before := reads
	for range 100 {
		dial(t, g, "93.184.216.34:80")
	}
	if reads != before {
		t.Errorf("%d more reads within the refresh time", reads-before)
	}

	own, fail = nil, errors.New("netlink went away")
	now = now.Add(ownRefresh)
	wantBlocked(t, dial(t, g, "93.184.216.34:80"), "private address 93.184.216.34 (this host's own address)")
}

func TestAnOwnAddressCanBeOpenedWithItsPort(t *testing.T) {
	own := func() ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("93.184.216.34"), netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("10.0.0.5")}, nil
	}
	g, _ := newGuard(t, Config{LocalAddrs: own, Allow: []string{"93.184.216.34:9000", "127.0.0.1:9001", "10.0.0.5"}})
	for _, open := range []string{"93.184.216.34:9000", "127.0.0.1:9001", "10.0.0.5:80"} {
		if err := dial(t, g, open); err != nil {
			t.Errorf("%s: %v", open, err)
		}
	}
	wantBlocked(t, dial(t, g, "93.184.216.34:80"), "private address 93.184.216.34 (this host's own address)")
	wantBlocked(t, dial(t, g, "127.0.0.1:9000"), "private address 127.0.0.1")
}
