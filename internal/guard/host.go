package guard

import (
	"net/netip"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// cutPort cuts an authority without user information into host and port.
// The host of an IPv6 literal keeps its brackets.
func cutPort(authority string) (host, port string, hasPort bool) {
	at := 0
	if strings.HasPrefix(authority, "[") {
		if at = strings.IndexByte(authority, ']'); at < 0 {
			return authority, "", false
		}
	}
	if i := strings.IndexByte(authority[at:], ':'); i >= 0 {
		return authority[:at+i], authority[at+i+1:], true
	}
	return authority, "", false
}

// parseHost reads a host in the one canonical way to write it: a name, a
// dotted quad, or an IPv6 address in brackets. It gives the canonical text
// and, for an address, the address.
func parseHost(s string) (string, netip.Addr, error) {
	if s == "" {
		return "", netip.Addr{}, blocked("the URL has no host")
	}
	if s[0] == '[' {
		return parseIPv6(s)
	}
	if strings.Contains(s, "%") {
		return "", netip.Addr{}, blocked("host %q has a percent sign; write it plainly", excerpt(s))
	}
	if addr, err := netip.ParseAddr(s); err == nil && addr.Is4() {
		return addr.String(), addr, nil
	}
	name, err := parseName(s)
	return name, netip.Addr{}, err
}

func parseIPv6(s string) (string, netip.Addr, error) {
	inside, ok := strings.CutSuffix(s[1:], "]")
	addr, err := netip.ParseAddr(inside)
	if !ok || err != nil || !addr.Is6() || addr.Zone() != "" {
		return "", netip.Addr{}, blocked("host %q is not an IPv6 address in brackets, without a zone", excerpt(s))
	}
	addr = addr.Unmap() // ::ffff:192.0.2.1 is another spelling of 192.0.2.1
	return addr.String(), addr, nil
}

// parseName reads a name into its ASCII form, in lower case and without the
// root dot. It asks for no more than real sites keep to: underscores and
// hyphens anywhere are in use.
func parseName(s string) (string, error) {
	labels := strings.Split(s, ".")
	if n := len(labels) - 1; n > 0 && labels[n] == "" {
		labels = labels[:n]
	}
	for i, label := range labels {
		ascii, err := parseLabel(label)
		if err != nil {
			return "", err
		}
		labels[i] = ascii
	}
	name := strings.Join(labels, ".")
	if len(name) > 253 {
		return "", blocked("host %q is longer than 253 bytes", excerpt(name))
	}
	if isNumber(labels[len(labels)-1]) {
		// Browsers read such a host as an IPv4 address, in decimal, octal or
		// hex and with parts left out; resolvers do not agree.
		return "", blocked("host %q ends in a number and is not an address in four decimal parts", excerpt(s))
	}
	return name, nil
}

func parseLabel(label string) (string, error) {
	switch {
	case label == "":
		return "", blocked("the host has an empty label: two dots in a row, or a dot in front")
	case len(label) > 63 && (isASCII(label) || len(label) > 63*utf8.UTFMax):
		// Also what bounds the work below.
		return "", blocked("host label %q is longer than 63 bytes", excerpt(label))
	}
	ascii := strings.ToLower(label)
	if !isASCII(label) {
		var err error
		if ascii, err = toASCII(label); err != nil || !utf8.ValidString(label) {
			return "", blocked("host label %q is not a valid international name", excerpt(label))
		}
		if !strings.HasPrefix(ascii, "xn--") {
			// Full-width letters, circled digits, zero-width characters:
			// nobody needs them, and what is read is not what is reached.
			return "", blocked("host label %q only looks different from an ordinary name; write it in ASCII", excerpt(label))
		}
	}
	for _, c := range []byte(ascii) {
		if !isAlnum(c) && c != '-' && c != '_' {
			return "", blocked("host label %q has a character that no host name has", excerpt(label))
		}
	}
	if len(ascii) > 63 {
		return "", blocked("host label %q is longer than 63 bytes", excerpt(label))
	}
	if strings.HasPrefix(ascii, "xn--") {
		// One that decodes to plain ASCII, or to something that encodes
		// differently, is a second spelling of another name.
		u, err := idna.Punycode.ToUnicode(ascii)
		if err != nil || isASCII(u) {
			return "", errALabel(label)
		}
		if again, err := toASCII(u); err != nil || again != ascii {
			return "", errALabel(label)
		}
	}
	return ascii, nil
}

func errALabel(label string) error {
	return blocked("host label %q is not an international name in its canonical form", excerpt(label))
}

// toASCII maps one international label as browsers do (UTS 46, not
// transitional). It is looser than IDNA's lookup profile only in ASCII
// characters and hyphens, which parseLabel looks at itself.
func toASCII(label string) (string, error) {
	return idna.New(
		idna.MapForLookup(),
		idna.BidiRule(),
		idna.Transitional(false),
		idna.StrictDomainName(false),
		idna.CheckHyphens(false),
		idna.CheckJoiners(true),
	).ToASCII(label)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// isNumber is the "ends in a number" test of the WHATWG URL standard, section
// 3.5, on the last label.
func isNumber(label string) bool {
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		for i := range len(hex) {
			if !isHex(hex[i]) {
				return false
			}
		}
		return true
	}
	for i := range len(label) {
		if label[i] < '0' || label[i] > '9' {
			return false
		}
	}
	return true
}
