package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxText is the longest text a key may have: the longest path of the systems
// we run on.
const maxText = 4096

// checkText is what every text must pass.
func checkText(s string) *problem {
	switch {
	case len(s) > maxText:
		return &problem{what: fmt.Sprintf("is %d bytes long", len(s)), want: fmt.Sprintf("at most %d bytes", maxText)}
	case !utf8.ValidString(s):
		return &problem{what: "is not valid UTF-8"}
	case strings.ContainsFunc(s, unicode.IsControl):
		return &problem{what: "holds a control character", want: "one line of plain text"}
	}
	return nil
}

// optional lets the empty text through.
func optional(check func(string) *problem) func(string) *problem {
	return func(s string) *problem {
		if s == "" {
			return nil
		}
		return check(s)
	}
}

// oneOf lets through what is in the list.
func oneOf(allowed ...string) func(string) *problem {
	return func(s string) *problem {
		if slices.Contains(allowed, s) {
			return nil
		}
		p := &problem{what: "is " + describe(s), want: strings.Join(allowed[:len(allowed)-1], ", ") + " or " + allowed[len(allowed)-1]}
		if near := nearest(s, allowed); near != "" {
			p.suggestion = quote(near)
		}
		return p
	}
}

// checkListen wants host:port. The port 0 takes a free one; a host left out
// means every address of this machine.
func checkListen(s string) *problem {
	const want = `an address and a port, such as "127.0.0.1:8642", "[::1]:8642" or "0.0.0.0:8642"`
	host, port, err := net.SplitHostPort(s)
	if err != nil {
		p := &problem{what: notA(s, "a host and port"), want: want}
		if addr, err := netip.ParseAddr(strings.Trim(s, "[]")); err == nil {
			p.suggestion = quote(netip.AddrPortFrom(addr, 8642).String())
		} else if n, err := strconv.ParseUint(s, 10, 16); err == nil {
			p.suggestion = quote(fmt.Sprintf("127.0.0.1:%d", n))
		}
		return p
	}
	if !isPort(port, 0) {
		return &problem{what: fmt.Sprintf("%s has no valid port", short(s)), want: want}
	}
	if host != "" && !validHost(host) {
		return &problem{what: fmt.Sprintf("%s has no valid host", short(s)), want: want}
	}
	return nil
}

// isPort reports whether s is a port number of plain digits, without a leading
// zero.
func isPort(s string, least uint64) bool {
	n, err := strconv.ParseUint(s, 10, 16)
	return err == nil && n >= least && strconv.FormatUint(n, 10) == s
}

// validHost reports whether a listener could be opened there: an address, or a
// name of letters, digits, dots and hyphens.
func validHost(s string) bool {
	if _, err := netip.ParseAddr(s); err == nil {
		return true
	}
	digitsOnly := true
	for _, r := range s {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r == '-':
			digitsOnly = false
		case r >= '0' && r <= '9', r == '.':
		default:
			return false
		}
	}
	// 127.1 and 300.0.0.1 are no names: what they are depends on who reads them.
	return !digitsOnly
}

// onLoopback reports whether a listener there is reached from this machine
// only. Any name but localhost is taken to be reachable from elsewhere.
func onLoopback(listen string) bool {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return false
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}

// checkPath refuses what only a shell would understand.
func checkPath(s string) *problem {
	if s == "~" || strings.HasPrefix(s, "~/") {
		return &problem{what: fmt.Sprintf("%s begins with ~, which is not expanded here", short(s)), want: "the whole path"}
	}
	return nil
}

// checkResolver wants the address of the DNS server, not its name: a name
// would have to be looked up first.
func checkResolver(s string) *problem {
	to, err := netip.ParseAddrPort(s)
	if err == nil && to.Port() > 0 {
		return nil
	}
	p := &problem{what: notA(s, "a numeric address with a port"), want: `a DNS server such as "127.0.0.1:53" or "[::1]:53"`}
	if addr, err := netip.ParseAddr(strings.Trim(s, "[]")); err == nil {
		p.suggestion = quote(netip.AddrPortFrom(addr, 53).String())
	}
	return p
}

// checkAllow wants an address or a range, with a port or without.
func checkAllow(s string) *problem {
	const want = `an address or a range, with a port or without, such as "10.20.0.0/16", "10.0.0.0/8:8080", "127.0.0.1:9000" or "[fd00::1]:8080"`
	prefix, ok := parseAllow(s)
	switch {
	case strings.Contains(s, "%"):
		return &problem{what: fmt.Sprintf("%s has a zone", short(s)), want: want}
	case !ok:
		return &problem{what: notA(s, "an address or range"), want: want}
	case prefix.Addr().Is4In6():
		return &problem{what: fmt.Sprintf("%s is an IPv4 address written as IPv6", short(s)), want: "its IPv4 form"}
	case prefix != prefix.Masked():
		// It reads like one host and opens many.
		return &problem{what: fmt.Sprintf("%s has bits set after the first %d", short(s), prefix.Bits()), want: want,
			suggestion: quote(strings.Replace(s, prefix.Addr().String(), prefix.Masked().Addr().String(), 1))}
	}
	return nil
}

// parseAllow takes the port off and reads the rest; a lone address is a range
// of one.
func parseAllow(s string) (netip.Prefix, bool) {
	inner, port, hasPort := s, "", false
	switch {
	case strings.HasPrefix(s, "["): // [fd00::1]:8080, [fd00::]/8:8080, [fd00::/8]:8080
		inside, after, found := strings.Cut(s[1:], "]")
		if !found || !strings.Contains(inside, ":") {
			return netip.Prefix{}, false
		}
		inner, port, hasPort = strings.Cut(after, ":")
		if inner != "" && !strings.HasPrefix(inner, "/") {
			return netip.Prefix{}, false
		}
		inner = inside + inner
	case strings.Contains(s, "/"): // 10.0.0.0/8:8080, fd00::/8
		addr, bits, _ := strings.Cut(s, "/")
		bits, port, hasPort = strings.Cut(bits, ":")
		inner = addr + "/" + bits
	case strings.Count(s, ":") == 1: // 127.0.0.1:9000
		inner, port, hasPort = strings.Cut(s, ":")
	}
	if hasPort && !isPort(port, 1) {
		return netip.Prefix{}, false
	}
	if strings.Contains(inner, "/") {
		p, err := netip.ParsePrefix(inner)
		return p, err == nil
	}
	addr, err := netip.ParseAddr(inner)
	if err != nil {
		return netip.Prefix{}, false
	}
	return netip.PrefixFrom(addr, addr.BitLen()), true
}

// checkNAT64 wants a prefix of one of the lengths of RFC 6052 section 2.2.
func checkNAT64(s string) *problem {
	const want = `an IPv6 prefix of 32, 40, 48, 56, 64 or 96 bits, such as "64:ff9b::/96"`
	p, err := netip.ParsePrefix(s)
	switch {
	case err != nil:
		return &problem{what: notA(s, "a prefix"), want: want}
	case !p.Addr().Is6() || p.Addr().Is4In6():
		return &problem{what: fmt.Sprintf("%s is not an IPv6 prefix", short(s)), want: want}
	case !slices.Contains([]int{32, 40, 48, 56, 64, 96}, p.Bits()):
		return &problem{what: fmt.Sprintf("%s has %d bits", short(s), p.Bits()), want: want}
	case p != p.Masked():
		return &problem{what: fmt.Sprintf("%s has bits set after the first %d", short(s), p.Bits()), want: want, suggestion: quote(p.Masked().String())}
	}
	return nil
}

// checkUserAgent keeps the header one line of ASCII.
func checkUserAgent(s string) *problem {
	const want = "printable ASCII, at most 256 bytes, with a way to reach you"
	if strings.TrimSpace(s) == "" {
		return &problem{what: "is empty", want: want}
	}
	if len(s) > maxUserAgent {
		return &problem{what: fmt.Sprintf("is %d bytes long", len(s)), want: want}
	}
	if strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) {
		return &problem{what: fmt.Sprintf("%s is not plain ASCII", short(s)), want: want}
	}
	return nil
}

// checkEndpoint wants a base URL. What may hold a key is refused, and not
// quoted: `sift config show` prints these URLs.
func checkEndpoint(s string) *problem {
	if p := checkWebURL(s, "https://models.example/v1"); p != nil {
		return p
	}
	if u, err := url.Parse(s); err != nil || u.RawQuery != "" || u.ForceQuery {
		return &problem{what: "has a query", want: "a base URL alone; a key belongs in the file that digest.key_file names"}
	}
	return nil
}

// checkArchive wants a web URL.
func checkArchive(s string) *problem { return checkWebURL(s, "https://web.archive.org") }

// checkWebURL wants an http or https URL without user info and fragment.
func checkWebURL(s, example string) *problem {
	want := fmt.Sprintf("an http or https URL, such as %q", example)
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return &problem{what: "is not a URL", want: want}
	case u.User != nil:
		return &problem{what: "has a user name or password in it", want: want}
	case u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "", u.Opaque != "":
		return &problem{what: notA(s, "a web URL"), want: want}
	case u.Fragment != "":
		return &problem{what: fmt.Sprintf("%s has a fragment", short(s)), want: want}
	}
	if port := u.Port(); port != "" {
		if !isPort(port, 1) {
			return &problem{what: fmt.Sprintf("%s has no valid port", short(s)), want: want}
		}
	}
	return nil
}

// checkStore refuses every shared database until there is one, and does not
// quote it: it may hold a password.
// checkOnRestart refuses what would need a claim on a job to survive its process.
func checkOnRestart(s string) *problem {
	if s == "resume" {
		return &problem{what: `is "resume", and going on with a job after a restart is not available in this build yet`, want: "fail"}
	}
	return oneOf("fail", "resume")(s)
}

func checkStore(string) *problem {
	return &problem{what: "is set, and a shared database is not available in this build yet", want: "nothing: leave it empty or out"}
}

// keyPrefix begins every key that `sift key new` makes.
const keyPrefix = "sift_"

// validName and validHash are the rules of package auth, which checks again;
// a test holds the two together.
func validName(s string) bool {
	return len(s) >= 1 && len(s) <= 64 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789_-") == ""
}

func validHash(s string) bool {
	_, err := hex.DecodeString(s)
	return err == nil && len(s) == hex.EncodedLen(sha256.Size)
}

func checkName(s string) *problem {
	if validName(s) {
		return nil
	}
	return &problem{what: "is " + describe(s), want: "1 to 64 characters of a-z, 0-9, _ and -"}
}

// checkHash never quotes what it got: it may be the key.
func checkHash(s string) *problem {
	const want = "64 hex digits, the SHA-256 of the whole key; `sift key new` prints a key and its hash"
	switch {
	case validHash(s):
		return nil
	case strings.HasPrefix(s, keyPrefix):
		return &problem{what: "is the key itself, not its hash; that key has now been in a file, so make a new one", want: want}
	case s == "":
		return &problem{what: "is empty", want: want}
	default:
		return &problem{what: fmt.Sprintf("is %d characters that are not a hash", utf8.RuneCountInString(s)), want: want}
	}
}
