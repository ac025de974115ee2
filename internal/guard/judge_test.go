package guard

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"code.dny.dev/ssrf"
)

// registryIPv4 is the first and last address of every block in the IANA IPv4
// Special-Purpose Address Registry, and multicast from the IPv4 address space
// registry, typed from there.
const registryIPv4 = `
0.0.0.0         0.255.255.255    this network
10.0.0.0        10.255.255.255   private use
100.64.0.0      100.127.255.255  shared address space
127.0.0.0       127.255.255.255  loopback
169.254.0.0     169.254.255.255  link local
172.16.0.0      172.31.255.255   private use
192.0.0.0       192.0.0.255      IETF protocol assignments
192.0.0.0       192.0.0.7        IPv4 service continuity
192.0.0.8       192.0.0.8        IPv4 dummy address
192.0.0.170     192.0.0.171      NAT64 and DNS64 discovery
192.0.2.0       192.0.2.255      TEST-NET-1
192.31.196.0    192.31.196.255   AS112-v4
192.52.193.0    192.52.193.255   AMT
192.88.99.0     192.88.99.255    6to4 relay anycast
192.168.0.0     192.168.255.255  private use
192.175.48.0    192.175.48.255   AS112 direct delegation
198.18.0.0      198.19.255.255   benchmarking
198.51.100.0    198.51.100.255   TEST-NET-2
203.0.113.0     203.0.113.255    TEST-NET-3
224.0.0.0       239.255.255.255  multicast
240.0.0.0       255.255.255.255  reserved
255.255.255.255 255.255.255.255  limited broadcast
168.63.129.16   168.63.129.16    Azure WireServer
`

// registryIPv6 is the same for the IANA IPv6 registry, with what the IPv6
// address space registry holds outside of 2000::/3.
const registryIPv6 = `
::              ::                                        unspecified
::1             ::1                                       loopback
::              ::ffff:ffff                               IPv4-compatible
::ffff:0:0:0    ::ffff:0:ffff:ffff                        IPv4-translated
64:ff9b::       64:ff9b::ffff:ffff                        NAT64
64:ff9b:1::     64:ff9b:1:ffff:ffff:ffff:ffff:ffff        local-use NAT64
100::           100::ffff:ffff:ffff:ffff                  discard-only
100:0:0:1::     100::1:ffff:ffff:ffff:ffff                dummy prefix
200::           3ff:ffff:ffff:ffff:ffff:ffff:ffff:ffff    NSAP, returned
400::           7ff:ffff:ffff:ffff:ffff:ffff:ffff:ffff    unassigned
1000::          1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff   unassigned
2001::          2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff    IETF protocol assignments
2001::          2001:0:ffff:ffff:ffff:ffff:ffff:ffff      Teredo
2001:2::        2001:2:0:ffff:ffff:ffff:ffff:ffff         benchmarking
2001:3::        2001:3:ffff:ffff:ffff:ffff:ffff:ffff      AMT
2001:4:112::    2001:4:112:ffff:ffff:ffff:ffff:ffff       AS112-v6
2001:10::       2001:1f:ffff:ffff:ffff:ffff:ffff:ffff     ORCHID
2001:20::       2001:2f:ffff:ffff:ffff:ffff:ffff:ffff     ORCHIDv2
2001:30::       2001:3f:ffff:ffff:ffff:ffff:ffff:ffff     drone remote ID
2001:db8::      2001:db8:ffff:ffff:ffff:ffff:ffff:ffff    documentation
2002::          2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff   6to4
2620:4f:8000::  2620:4f:8000:ffff:ffff:ffff:ffff:ffff     AS112 direct delegation
3fff::          3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff    documentation
4000::          5eff:ffff:ffff:ffff:ffff:ffff:ffff:ffff   unassigned
5f00::          5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff   SRv6 segment identifiers
6000::          fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff   unassigned
fc00::          fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff   unique local
fe00::          fe7f:ffff:ffff:ffff:ffff:ffff:ffff:ffff   unassigned
fe80::          febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff   link local
fec0::          feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff   site local
ff00::          ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff   multicast
fd00:ec2::254   fd00:ec2::254                             AWS metadata
fd20:ce::254    fd20:ce::254                              Google metadata
`

// publicAddresses lie just outside of a closed range, or are in plain use.
const publicAddresses = `
1.0.0.0 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0
169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 191.255.255.255 192.0.1.0 192.0.1.255
192.0.3.0 192.31.195.255 192.31.197.0 192.52.192.255 192.52.194.0 192.88.98.255 192.88.100.0
192.167.255.255 192.169.0.0 192.175.47.255 192.175.49.0 198.17.255.255 198.20.0.0
198.51.99.255 198.51.101.0 203.0.112.255 203.0.114.0 223.255.255.255 168.63.129.15 168.63.129.17
8.8.8.8 93.184.216.34
2000:: 2001:200:: 2001:db7:ffff:ffff:ffff:ffff:ffff:ffff 2001:db9:: 2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff
2003:: 2620:4f:7fff:ffff:ffff:ffff:ffff:ffff 2620:4f:8001:: 3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff 3fff:1000::
2001:4860:4860::8888 2606:4700:4700::1111
`

// within gives the texts of an IPv4 address in every way to write it into an
// IPv6 one, put together as the standards draw them.
func within(v4 string) map[string]string {
	b := netip.MustParseAddr(v4).As4()
	hi, lo := fmt.Sprintf("%02x%02x", b[0], b[1]), fmt.Sprintf("%02x%02x", b[2], b[3])
	return map[string]string{
		"mapped":               "::ffff:" + v4,
		"compatible":           "::" + hi + ":" + lo,
		"translated":           "::ffff:0:" + v4,
		"NAT64":                "64:ff9b::" + v4,
		"local-use NAT64 /48":  fmt.Sprintf("64:ff9b:1:%s:%02x:%02x00::", hi, b[2], b[3]),
		"local-use NAT64 tail": fmt.Sprintf("64:ff9b:1:%s:%02x:%02x00:808:808", hi, b[2], b[3]),
		"local-use NAT64 /56":  fmt.Sprintf("64:ff9b:1:%02x:%02x:%02x%02x::", b[0], b[1], b[2], b[3]),
		"local-use NAT64 /64":  fmt.Sprintf("64:ff9b:1:0:%02x:%02x%02x:%02x00:0", b[0], b[1], b[2], b[3]),
		"local-use NAT64 /96":  "64:ff9b:1::" + v4,
		"6to4":                 "2002:" + hi + ":" + lo + "::1",
		"Teredo server":        "2001:0:" + hi + ":" + lo + ":8000:63bf:f7f7:f7f7",
		"Teredo client":        fmt.Sprintf("2001:0:808:808:8000:63bf:%02x%02x:%02x%02x", ^b[0], ^b[1], ^b[2], ^b[3]),
		"ISATAP":               "2606:4700::5efe:" + v4,
		"ISATAP with u bit":    "2606:4700::200:5efe:" + v4,
	}
}

// declared are NAT64 prefixes of every length of RFC 6052 in public space,
// each with an address of it that holds v4.
func declared(v4 string) map[string]string {
	b := netip.MustParseAddr(v4).As4()
	return map[string]string{
		"2606:4700::/32":         fmt.Sprintf("2606:4700:%02x%02x:%02x%02x::", b[0], b[1], b[2], b[3]),
		"2606:4700:100::/40":     fmt.Sprintf("2606:4700:1%02x:%02x%02x:%02x::", b[0], b[1], b[2], b[3]),
		"2606:4700:200::/48":     fmt.Sprintf("2606:4700:200:%02x%02x:%02x:%02x00::", b[0], b[1], b[2], b[3]),
		"2606:4700:300:100::/56": fmt.Sprintf("2606:4700:300:1%02x:%02x:%02x%02x::", b[0], b[1], b[2], b[3]),
		"2606:4700:400:100::/64": fmt.Sprintf("2606:4700:400:100:%02x:%02x%02x:%02x00:0", b[0], b[1], b[2], b[3]),
		"2606:4700:500:100::/96": "2606:4700:500:100::" + v4,
		"64:ff9b::/96":           "64:ff9b::" + v4,
		"64:ff9b:1:fffe::/96":    "64:ff9b:1:fffe::" + v4,
	}
}

func rows(table string) (out [][2]string) {
	for line := range strings.Lines(table) {
		if f := strings.Fields(line); len(f) > 1 {
			out = append(out, [2]string{f[0], f[1]})
		}
	}
	return out
}

func mustRefuse(t *testing.T, g *Guard, addr, what string) {
	t.Helper()
	to := netip.AddrPortFrom(netip.MustParseAddr(addr), 80)
	if opened, refused := g.judge(addr, to); refused == nil {
		t.Errorf("%s (%s) may be reached; opened by %q", addr, what, opened)
	} else if !strings.HasPrefix(refused.Error(), "private address "+to.Addr().Unmap().String()) {
		t.Errorf("%s (%s): %s", addr, what, refused)
	}
}

func mustAllow(t *testing.T, g *Guard, addr, what string) {
	t.Helper()
	if _, refused := g.judge(addr, netip.AddrPortFrom(netip.MustParseAddr(addr), 80)); refused != nil {
		t.Errorf("%s (%s) is refused: %s", addr, what, refused)
	}
}

func TestEveryRegistryRangeIsClosedInEveryEmbedding(t *testing.T) {
	strict, _ := newGuard(t, Config{})
	for _, row := range rows(registryIPv6) {
		mustRefuse(t, strict, row[0], "first")
		mustRefuse(t, strict, row[1], "last")
	}
	for _, row := range rows(registryIPv4) {
		for _, v4 := range row {
			mustRefuse(t, strict, v4, "as it is")
			for form, v6 := range within(v4) {
				mustRefuse(t, strict, v6, form)
			}
			for prefix, v6 := range declared(v4) {
				nat64, _ := newGuard(t, Config{NAT64: []string{prefix}})
				mustRefuse(t, nat64, v6, prefix)
			}
		}
	}
}

func TestAddressesJustOutsideAreOpen(t *testing.T) {
	g, _ := newGuard(t, Config{})
	for addr := range strings.FieldsSeq(publicAddresses) {
		mustAllow(t, g, addr, "public")
	}
	for form, v6 := range within("8.8.8.8") {
		switch form {
		case "mapped", "ISATAP", "ISATAP with u bit":
			mustAllow(t, g, v6, form)
		default:
			mustRefuse(t, g, v6, form+", whatever is inside") // deprecated, or nobody declared it
		}
	}
	for prefix, v6 := range declared("8.8.8.8") {
		g, _ := newGuard(t, Config{NAT64: []string{prefix}})
		mustAllow(t, g, v6, prefix)
	}
}

func TestAnExceptionForTheOutsideDoesNotOpenTheInside(t *testing.T) {
	g, _ := newGuard(t, Config{Allow: []string{"::/0"}})
	for _, row := range rows(registryIPv4) {
		for _, v4 := range row {
			for form, v6 := range within(v4) {
				if form == "compatible" && v4 == "0.0.0.0" {
					continue // that is ::, which carries nothing
				}
				mustRefuse(t, g, v6, form)
			}
		}
	}
	for form, v6 := range within("8.8.8.8") {
		if strings.HasPrefix(form, "local-use") {
			continue // one of the layouts always reads zeros
		}
		mustAllow(t, g, v6, form)
	}
	both, _ := newGuard(t, Config{Allow: []string{"2002::/16", "10.0.0.0/8"}})
	mustAllow(t, both, "2002:a00:1::1", "6to4 and the address inside opened")
}

func TestMetadataIsNeverOpened(t *testing.T) {
	allow := []string{"0.0.0.0/0", "::/0", "169.254.0.0/16", "169.254.169.254", "168.63.129.16:80", "fd00:ec2::254"}
	open, _ := newGuard(t, Config{Allow: allow})
	for _, v4 := range []string{
		"169.254.169.254", "169.254.170.2", "169.254.170.23", "169.254.42.42", "169.254.0.23",
		"168.63.129.16", "100.100.100.200", "192.0.0.192",
	} {
		mustRefuse(t, open, v4, "as it is")
		for form, v6 := range within(v4) {
			mustRefuse(t, open, v6, form)
		}
		for prefix, v6 := range declared(v4) {
			mustRefuse(t, open, v6, "opened but not declared "+prefix)
			nat64, _ := newGuard(t, Config{Allow: allow, NAT64: []string{prefix}})
			mustRefuse(t, nat64, v6, "opened and declared "+prefix)
		}
	}
	for _, v6 := range []string{
		"fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254", "fd00:42::42", "fd00:c1::a9fe:a9fe", "fd00:a9fe:a9fe::1", "fe80::a9fe:a9fe",
	} {
		mustRefuse(t, open, v6, "as it is")
	}
	wantBlocked(t, dial(t, open, "169.254.169.254:80"), "private address 169.254.169.254")
	mustAllow(t, open, "169.254.7.7", "the rest of the range")
}

// The address examples of RFC 6052 section 2.4.
func TestTranslatedAddressesAreReadByRFC6052(t *testing.T) {
	for text, bits := range map[string]int{
		"2001:db8:c000:221::":          32,
		"2001:db8:1c0:2:21::":          40,
		"2001:db8:122:c000:2:2100::":   48,
		"2001:db8:122:3c0:0:221::":     56,
		"2001:db8:122:344:c0:2:2100::": 64,
		"2001:db8:122:344::192.0.2.33": 96,
		"64:ff9b::192.0.2.33":          96,
	} {
		got, ok := translated(netip.MustParseAddr(text), bits)
		if !ok || got != netip.MustParseAddr("192.0.2.33") {
			t.Errorf("%s holds %v %v", text, got, ok)
		}
	}
}

func TestNAT64IsJudgedByTheAddressInside(t *testing.T) {
	own := func() ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("93.184.216.34"), netip.MustParseAddr("64:ff9b::5db8:d823")}, nil
	}
	g, _ := newGuard(t, Config{NAT64: []string{"64:ff9b::/96", "2606:4700:400::/64"}, Allow: []string{"10.0.0.0/8", "127.0.0.1:9000"}, LocalAddrs: own})
	for addr, want := range map[string]string{
		"[64:ff9b::808:808]:80":              "",
		"[64:ff9b::a00:1]:80":                "", // what is inside is opened
		"[64:ff9b::7f00:1]:9000":             "",
		"[64:ff9b::7f00:1]:80":               "private address 64:ff9b::7f00:1 (NAT64 with 127.0.0.1 inside)",
		"[64:ff9b::c0a8:1]:80":               "private address 64:ff9b::c0a8:1 (NAT64 with 192.168.0.1 inside)",
		"[64:ff9b::a9fe:a9fe]:80":            "private address 64:ff9b::a9fe:a9fe (NAT64 with 169.254.169.254 inside)",
		"[64:ff9b::5db8:d822]:80":            "private address 64:ff9b::5db8:d822 (NAT64 with 93.184.216.34 inside)", // this host's own
		"[64:ff9b::5db8:d823]:80":            "private address 64:ff9b::5db8:d823 (this host's own address)",
		"[64:ff9b::808:808]:9000":            "port 9000 is not open for 64:ff9b::808:808; [guard] allow opens it for other addresses only",
		"[2606:4700:400:0:8:808:800:0]:80":   "",
		"[2606:4700:400:0:108:808:800:0]:80": "private address 2606:4700:400:0:108:808:800:0 (NAT64, malformed)",
		"[64:ff9b:1::808:808]:80":            "private address 64:ff9b:1::808:808 (local-use NAT64, 64:ff9b:1::/48)", // not declared
	} {
		err := dial(t, g, addr)
		if want == "" {
			if err != nil {
				t.Errorf("%s: %v", addr, err)
			}
			continue
		}
		wantBlocked(t, err, want)
	}
}

func TestAnAddressThatIsNoneFailsClosed(t *testing.T) {
	g, _ := newGuard(t, Config{Allow: []string{"0.0.0.0/0", "::/0"}})
	for _, tt := range []struct {
		addr netip.Addr
		want string
	}{
		{netip.Addr{}, "private address (not a valid IP address)"},
		{netip.MustParseAddr("fe80::1%eth0"), "private address fe80::1%eth0 (with a zone)"},
		{netip.MustParseAddr("2606:4700:4700::1111%eth0"), "private address 2606:4700:4700::1111%eth0 (with a zone)"},
	} {
		_, refused := g.judge("", netip.AddrPortFrom(tt.addr, 80))
		if refused == nil {
			t.Errorf("%v was accepted", tt.addr)
		} else if refused.Error() != tt.want {
			t.Errorf("%v: %s, want %s", tt.addr, refused, tt.want)
		}
	}
}

func TestTheRefusalNamesTheRange(t *testing.T) {
	g, _ := newGuard(t, Config{})
	for addr, want := range map[string]string{
		// What everybody knows as private stands alone.
		"10.0.0.7": "private address 10.0.0.7", "172.16.0.1": "private address 172.16.0.1", "192.168.1.1": "private address 192.168.1.1",
		"127.0.0.1": "private address 127.0.0.1", "169.254.169.254": "private address 169.254.169.254",
		"::1": "private address ::1", "fd00::1": "private address fd00::1", "fe80::1": "private address fe80::1",
		"::ffff:10.0.0.7": "private address 10.0.0.7",
		// The rest says why.
		"198.18.0.7":                "private address 198.18.0.7 (benchmarking, 198.18.0.0/15)",
		"100.64.0.1":                "private address 100.64.0.1 (carrier-grade NAT, 100.64.0.0/10)",
		"255.255.255.255":           "private address 255.255.255.255 (limited broadcast, 255.255.255.255/32)",
		"168.63.129.16":             "private address 168.63.129.16 (cloud metadata)",
		"::":                        "private address :: (unspecified, ::/128)",
		"4000::1":                   "private address 4000::1 (outside 2000::/3, the global unicast range)",
		"2606:4700::200:5efe:a00:1": "private address 2606:4700::200:5efe:a00:1 (ISATAP with 10.0.0.1 inside)",
	} {
		_, refused := g.judge(addr, netip.AddrPortFrom(netip.MustParseAddr(addr), 80))
		if refused == nil || refused.Error() != want {
			t.Errorf("%s: %v, want %s", addr, refused, want)
		}
	}
	// A range that the registry package comes to know needs a name here.
	for _, p := range append(append([]netip.Prefix(nil), ssrf.IPv4DeniedPrefixes...), ssrf.IPv6DeniedPrefixes...) {
		if r := g.rangeOf(p.Addr()); r.name == "" || !r.prefix.IsValid() {
			t.Errorf("%s has no name", p)
		}
	}
}

func TestAPortOpenedByAnExceptionIsClosedForOtherAddresses(t *testing.T) {
	g, w := newGuard(t, Config{Allow: []string{"127.0.0.1:9000", "10.0.0.0/8"}})
	w.names = map[string][]string{
		"mixed.example": {"93.184.216.34", "192.168.0.1"},
		"local.example": {"127.0.0.1"},
	}
	if _, err := g.CheckURL("http://example.com:9000/"); err != nil {
		t.Errorf("the pre-check refuses a port that an exception opens: %v", err)
	}
	if _, err := g.CheckURL("http://127.0.0.1:9001/"); err == nil {
		t.Error("the pre-check accepts a port that nothing opens")
	}
	const elsewhere = "; [guard] allow opens it for other addresses only"
	for addr, want := range map[string]string{
		"example.com:9000":   "port 9000 is not open for 93.184.216.34" + elsewhere,
		"8.8.8.8:9000":       "port 9000 is not open for 8.8.8.8" + elsewhere,
		"192.168.0.1:9000":   "private address 192.168.0.1",
		"10.0.0.1:9000":      "private address 10.0.0.1",
		"127.0.0.1:80":       "private address 127.0.0.1",
		"mixed.example:9000": "private address 192.168.0.1", // the graver reason, though it comes second
	} {
		wantBlocked(t, dial(t, g, addr), want)
	}
	if len(w.connected) > 0 {
		t.Errorf("connected to %v", w.connected)
	}
	for _, addr := range []string{"127.0.0.1:9000", "local.example:9000", "10.0.0.1:443"} {
		if err := dial(t, g, addr); err != nil {
			t.Errorf("%s: %v", addr, err)
		}
	}
}

func TestExplainTellsTheOperatorWhatAnExceptionDoesNotOpen(t *testing.T) {
	own := func() ([]netip.Addr, error) { return []netip.Addr{netip.MustParseAddr("93.184.216.34")}, nil }
	g, _ := newGuard(t, Config{
		Allow:      []string{"127.0.0.1:9000", "169.254.0.0/16", "198.18.0.0/15:9000", "93.184.216.34:9000", "64:ff9b::/96"},
		LocalAddrs: own,
	})
	for raw, want := range map[string]string{
		"http://127.0.0.1/":           "private address 127.0.0.1; the exception for it does not open port 80",
		"http://198.18.0.7/":          "private address 198.18.0.7 (benchmarking, 198.18.0.0/15); the exception for it does not open port 80",
		"http://93.184.216.34/":       "private address 93.184.216.34 (this host's own address); the exception for it does not open port 80",
		"http://169.254.169.254/":     "private address 169.254.169.254; no exception opens cloud metadata",
		"http://[64:ff9b::a9fe:a9fe]": "private address 64:ff9b::a9fe:a9fe (with 169.254.169.254 inside, cloud metadata); no exception opens cloud metadata",
		"http://8.8.8.8:9000/":        "port 9000 is not open for 8.8.8.8; [guard] allow opens it for other addresses only",
		"http://127.0.0.1:9000/":      "opened by the exception 127.0.0.1:9000",
		"http://10.0.0.1/":            "private address 10.0.0.1",
	} {
		if v := g.Explain(t.Context(), raw); v.Reason != want {
			t.Errorf("%s: %s, want %s", raw, v.Reason, want)
		}
	}
}

func TestARestrictedCallerIsNotToldAnAddress(t *testing.T) {
	g, w := newGuard(t, Config{Allow: []string{"127.0.0.1:9000"}})
	w.names = map[string][]string{"priv.example": {"198.18.0.7"}}
	for address, want := range map[string][2]string{
		"priv.example:80":        {"private address 198.18.0.7 (benchmarking, 198.18.0.0/15)", "private address"},
		"198.18.0.7:80":          {"private address 198.18.0.7 (benchmarking, 198.18.0.0/15)", "private address 198.18.0.7 (benchmarking, 198.18.0.0/15)"},
		"[::ffff:198.18.0.7]:80": {"private address 198.18.0.7 (benchmarking, 198.18.0.0/15)", "private address 198.18.0.7 (benchmarking, 198.18.0.0/15)"},
		"[fd00:0::1]:443":        {"private address fd00::1", "private address fd00::1"},
		"other.example:9000":     {"port 9000 is not open for 93.184.216.34; [guard] allow opens it for other addresses only", "port 9000 is not open for this host; [guard] allow opens it for other addresses only"},
	} {
		err := dial(t, g, address)
		refused, ok := errors.AsType[*AddressError](err)
		if !ok {
			t.Fatalf("%s: %v", address, err)
		}
		if got := [2]string{refused.Failure(false).Message, refused.Failure(true).Message}; got != want {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
		redirected := *refused // to an address that the caller did not write
		redirected.Host = ""
		if got := redirected.Failure(true).Message; strings.ContainsAny(strings.ReplaceAll(got, "9000", ""), "0123456789") {
			t.Errorf("%s: after a redirect: %q", address, got)
		}
	}
}
