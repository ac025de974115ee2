package guard

import (
	"net/netip"
	"slices"
	"strconv"
)

// judgeAll decides about all addresses of a host, of which one bad one is
// enough. A private address is the reason before a closed port, whichever
// comes first.
func (g *Guard) judgeAll(host string, addrs []netip.Addr, port uint16) (opened string, refused *AddressError) {
	for _, a := range addrs {
		o, r := g.judge(host, netip.AddrPortFrom(a, port))
		if r != nil && (refused == nil || refused.closedPort) {
			refused = r
		}
		if o != "" {
			opened = o
		}
	}
	return opened, refused
}

// judge decides about one address and port. It gives the exception that
// opened them, where one did, or why they are refused.
func (g *Guard) judge(host string, to netip.AddrPort) (opened string, refused *AddressError) {
	addr := to.Addr()
	f := finding{bad: true, why: "not a valid IP address"}
	switch {
	case !addr.IsValid():
	case addr.Zone() != "":
		f.why = "with a zone"
	default:
		addr = addr.Unmap()
		f = g.weigh(addr, to.Port())
	}
	switch {
	case f.bad:
		return "", &AddressError{Host: host, Addr: addr, Port: to.Port(), why: f.why, note: f.note}
	case f.opened == "" && !slices.Contains(g.ports, to.Port()):
		return "", &AddressError{Host: host, Addr: addr, Port: to.Port(), closedPort: true}
	}
	return f.opened, nil
}

// finding is what weigh thinks of an address.
type finding struct {
	bad    bool
	why    string // for the brackets behind the address; "" where the address says it all
	note   string // for the operator who opened something near it
	opened string // the exception that opens this address and port
}

// weigh decides about a valid, unmapped address. Whether the port may be used
// on an address that no exception opens is left to the caller.
//
// An address that carries an IPv4 address inside is judged by both, since a
// translator on the way may send the packet to either. One is never judged
// instead of the other: a guard that looked only at the inside took a
// public-looking tail for the target.
func (g *Guard) weigh(addr netip.Addr, port uint16) finding {
	opened, covered := g.exceptionFor(addr, port)
	inside, declared := g.inside(addr)

	if g.isMetadata(addr) {
		f := finding{bad: true}
		if !g.rangeOf(addr).plain {
			f.why = "cloud metadata"
		}
		if covered {
			f.note = "no exception opens cloud metadata"
		}
		return f
	}
	if covered && addr.Is6() {
		// What an exception opens may be a translation prefix that nobody
		// declared: metadata is looked for in every layout there is.
		for _, bits := range layouts() {
			if v4, _ := translated(addr, bits); g.isMetadata(v4) {
				return finding{
					bad: true, why: "with " + v4.String() + " inside, cloud metadata",
					note: "no exception opens cloud metadata",
				}
			}
		}
	}
	if opened == "" {
		f := finding{bad: true}
		if covered {
			f.note = "the exception for it does not open port " + strconv.Itoa(int(port))
		}
		switch {
		case !declared && g.registry.SafeAddr(addr) != nil:
			f.why = g.rangeOf(addr).String()
			return f
		case g.isOwn(addr):
			f.why = "this host's own address"
			return f
		}
	}
	for _, in := range inside {
		if !in.addr.IsValid() {
			return finding{bad: true, why: in.form + ", malformed"}
		}
		f := g.weigh(in.addr, port)
		if f.bad {
			return finding{bad: true, why: in.form + " with " + in.addr.String() + " inside"}
		}
		if declared && opened == "" {
			opened = f.opened
		}
	}
	return finding{opened: opened}
}

// exceptionFor finds the exception that opens the address and port; covered
// says that there is one for the address, if only on another port.
func (g *Guard) exceptionFor(addr netip.Addr, port uint16) (opened string, covered bool) {
	for _, e := range g.exceptions {
		if !e.prefix.Contains(addr) {
			continue
		}
		covered = true
		if e.port == port || e.port == 0 && slices.Contains(g.ports, port) {
			return e.text, true
		}
	}
	return "", covered
}

func (g *Guard) isMetadata(addr netip.Addr) bool { return slices.Contains(g.metadata, addr) }

// embeddedAddr is an IPv4 address inside an IPv6 one. An invalid addr means
// that the outer address breaks the rules of its form.
type embeddedAddr struct {
	addr netip.Addr
	form string
}

// inside lists every IPv4 address that some mechanism would read out of an
// unmapped address; declared says that it lies in a translation prefix of the
// configuration, which then is the only thing it can be.
func (g *Guard) inside(addr netip.Addr) (found []embeddedAddr, declared bool) {
	if !addr.Is6() {
		return nil, false
	}
	for _, p := range g.nat64 {
		if p.Contains(addr) {
			v4, ok := translated(addr, p.Bits())
			if !ok {
				v4 = netip.Addr{}
			}
			found = append(found, embeddedAddr{v4, "NAT64"})
		}
	}
	if len(found) > 0 {
		return found, true
	}
	b := addr.As16()
	add := func(form string, v4 ...byte) {
		found = append(found, embeddedAddr{netip.AddrFrom4([4]byte(v4)), form})
	}
	high := func(n int) uint64 { // the first n bytes, at most 8 of them
		var v uint64
		for _, c := range b[:n] {
			v = v<<8 | uint64(c)
		}
		return v
	}
	switch {
	case high(8) == 0 && b[8] == 0 && b[9] == 0 && b[10] == 0 && b[11] == 0:
		// ::/96, RFC 4291 section 2.5.5.1. The loopback and the unspecified
		// address are in it and carry nothing.
		if b[12] != 0 || b[13] != 0 || b[14] != 0 || b[15] > 1 {
			add("IPv4-compatible", b[12:]...)
		}
	case high(8) == 0 && b[8] == 0xff && b[9] == 0xff && b[10] == 0 && b[11] == 0:
		add("IPv4-translated", b[12:]...) // ::ffff:0:0:0/96, RFC 2765
	case high(8) == 0x0064_ff9b_0000_0000 && b[8] == 0 && b[9] == 0 && b[10] == 0 && b[11] == 0:
		add("NAT64", b[12:]...) // 64:ff9b::/96, RFC 6052
	case high(6) == 0x0064_ff9b_0001:
		// 64:ff9b:1::/48, RFC 8215: the layout is the operator's, and nobody
		// declared it, so each is judged.
		for _, bits := range []int{48, 56, 64, 96} {
			v4, _ := translated(addr, bits)
			found = append(found, embeddedAddr{v4, "local-use NAT64"})
		}
	case high(2) == 0x2002:
		add("6to4", b[2:6]...) // RFC 3056
	case high(4) == 0x2001_0000:
		add("Teredo", b[4:8]...)                      // the server, RFC 4380
		add("Teredo", ^b[12], ^b[13], ^b[14], ^b[15]) // the client
	}
	if b[8]&^0x02 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe {
		add("ISATAP", b[12:]...) // ::0:5efe:a.b.c.d and ::200:5efe:a.b.c.d under any prefix, RFC 5214
	}
	return found, false
}

// layouts is every prefix length that RFC 6052 section 2.2 knows.
func layouts() []int { return []int{32, 40, 48, 56, 64, 96} }

// translated reads the IPv4 address behind a translation prefix of the given
// length. Bits 64 to 71 are the "u" octet: it is skipped, and must be zero in
// an address that is well formed.
func translated(addr netip.Addr, bits int) (v4in netip.Addr, wellFormed bool) {
	b := addr.As16()
	if bits == 96 {
		return netip.AddrFrom4([4]byte(b[12:])), true
	}
	var v4 [4]byte
	at := bits / 8
	for i := range v4 {
		if at == 8 {
			at++
		}
		v4[i] = b[at]
		at++
	}
	return netip.AddrFrom4(v4), b[8] == 0
}

// metadata lists the addresses at which clouds hand out credentials to
// whoever asks from the inside. No exception opens them. Most lie in ranges
// that are closed anyway; Azure's does not.
func metadata() []netip.Addr {
	var out []netip.Addr
	for _, s := range []string{
		"169.254.169.254",    // AWS, Google, Azure, DigitalOcean, Oracle, IBM, OpenStack and more
		"169.254.170.2",      // AWS ECS task credentials
		"169.254.170.23",     // AWS EKS pod identity
		"169.254.42.42",      // Scaleway
		"169.254.0.23",       // Tencent
		"168.63.129.16",      // Azure WireServer, in ordinary public space
		"100.100.100.200",    // Alibaba
		"192.0.0.192",        // Oracle classic
		"fd00:ec2::254",      // AWS
		"fd00:ec2::23",       // AWS EKS pod identity
		"fd20:ce::254",       // Google
		"fd00:42::42",        // Scaleway
		"fd00:c1::a9fe:a9fe", // Oracle
		"fd00:a9fe:a9fe::1",  // Akamai
		"fe80::a9fe:a9fe",    // OpenStack
	} {
		out = append(out, netip.MustParseAddr(s))
	}
	return out
}

// special is a range with the name that an operator reads in the refusal.
type special struct {
	name   string // "" where rangeOf found none
	prefix netip.Prefix
	plain  bool // private in everybody's understanding: the address needs no comment
}

func (s special) String() string {
	switch {
	case s.plain:
		return ""
	case s.prefix.IsValid():
		return s.name + ", " + s.prefix.String()
	}
	return s.name
}

// rangeOf names the range that an address is refused for.
func (g *Guard) rangeOf(addr netip.Addr) special {
	for _, s := range g.ranges {
		if s.prefix.Contains(addr) {
			return s
		}
	}
	if addr.Is6() {
		return special{name: "outside 2000::/3, the global unicast range"}
	}
	return special{}
}

// specials names the ranges of the IANA special-purpose registries, the more
// specific first. It only explains: what is refused is the registry package's
// decision, so that a range missing here is still refused.
func specials() []special {
	var out []special
	add := func(name string, plain bool, prefixes ...string) {
		for _, p := range prefixes {
			out = append(out, special{name, netip.MustParsePrefix(p), plain})
		}
	}
	add("private use", true, "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")
	add("loopback", true, "127.0.0.0/8", "::1/128")
	add("link-local", true, "169.254.0.0/16", "fe80::/10")
	add("unique local", true, "fc00::/7")
	add("this network", false, "0.0.0.0/8")
	add("carrier-grade NAT", false, "100.64.0.0/10")
	add("IETF protocol assignments", false, "192.0.0.0/24")
	add("documentation", false, "192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32", "3fff::/20")
	add("AS112", false, "192.31.196.0/24", "192.175.48.0/24", "2001:4:112::/48", "2620:4f:8000::/48")
	add("AMT", false, "192.52.193.0/24", "2001:3::/32")
	add("6to4 relay anycast", false, "192.88.99.0/24")
	add("benchmarking", false, "198.18.0.0/15", "2001:2::/48")
	add("limited broadcast", false, "255.255.255.255/32")
	add("multicast", false, "224.0.0.0/4", "ff00::/8")
	add("reserved", false, "240.0.0.0/4")
	add("unspecified", false, "::/128")
	add("IPv4-compatible", false, "::/96")
	add("IPv4-translated", false, "::ffff:0:0:0/96")
	add("NAT64", false, "64:ff9b::/96")
	add("local-use NAT64", false, "64:ff9b:1::/48")
	add("discard-only", false, "100::/64")
	add("dummy prefix", false, "100:0:0:1::/64")
	add("Teredo", false, "2001::/32")
	add("ORCHID", false, "2001:10::/28", "2001:20::/28")
	add("drone remote ID", false, "2001:30::/28")
	add("IETF protocol assignments", false, "2001::/23")
	add("6to4", false, "2002::/16")
	add("SRv6 segment identifiers", false, "5f00::/16")
	add("site-local", false, "fec0::/10")
	return out
}
