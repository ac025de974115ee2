package guard

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"sift.build/sift/internal/sift"
)

// maxURL bounds a URL in bytes, as it is written and as it is sent.
const maxURL = 8192

// URL is a URL that passed the pre-check, in its canonical form. It is
// immutable, and only a Guard makes one.
type URL struct {
	scheme   string     // http or https
	host     string     // an ASCII name in lower case, or an address without brackets
	addr     netip.Addr // valid when host is an address
	port     uint16
	path     string // encoded, begins with a slash
	query    string // encoded, with its question mark; "" for none
	fragment string // as written
	text     string
}

// String is the canonical form without the fragment: what is cached, compared
// and shown. It is ASCII, and CheckURL reads it back to the same URL.
func (u *URL) String() string { return u.text }

// Scheme is http or https.
func (u *URL) Scheme() string { return u.scheme }

// Host is the name in lower case and ASCII form, without the root dot, or the
// address without brackets.
func (u *URL) Host() string { return u.host }

// Port is the port, also where it is the scheme's default one.
func (u *URL) Port() uint16 { return u.port }

// Fragment is what stands behind the #, as it was written. It is never sent.
func (u *URL) Fragment() string { return u.fragment }

// Literal reports whether the host is an address.
func (u *URL) Literal() bool { return u.addr.IsValid() }

// HTTP gives a fresh url.URL for a request. Its path and query go over the
// wire exactly as String shows them.
func (u *URL) HTTP() *url.URL {
	path, err := url.PathUnescape(u.path)
	if err != nil {
		path = u.path // never: encodePath leaves no bad escape
	}
	out := &url.URL{Scheme: u.scheme, Host: u.authority(), Path: path, RawPath: u.path}
	if u.query != "" {
		out.RawQuery, out.ForceQuery = u.query[1:], u.query == "?"
	}
	return out
}

func (u *URL) authority() string {
	host := u.host
	if u.addr.Is6() {
		host = "[" + host + "]"
	}
	if u.port == defaultPort(u.scheme) {
		return host
	}
	return host + ":" + strconv.Itoa(int(u.port))
}

func defaultPort(scheme string) uint16 {
	if scheme == "https" {
		return 443
	}
	return 80
}

// CheckURL is the pre-check of a URL that a caller wrote. It looks nothing
// up. There is one way to write a host, and what another parser might read
// differently is refused, be its target public or not. The error is a
// *sift.Failure with code blocked.
func (g *Guard) CheckURL(raw string) (*URL, error) {
	if len(raw) > maxURL {
		return nil, errTooLong()
	}
	for i := range len(raw) {
		if c := raw[i]; c <= ' ' || c == 0x7f {
			return nil, blocked("the URL has a space or control character at byte %d; percent-encode it", i)
		}
	}
	if !utf8.ValidString(raw) {
		return nil, blocked("the URL is not valid UTF-8; percent-encode it")
	}
	p := split(raw)
	if err := p.checkSlashes(); err != nil {
		return nil, err
	}
	return g.build(p)
}

// CheckReference is the same pre-check for what a server wrote: a Location or
// Refresh header, or a meta refresh. The reference is resolved against base
// by RFC 3986. Since servers put blanks around it and raw UTF-8 or spaces
// into it, and browsers cope, those are encoded; control bytes are refused.
func (g *Guard) CheckReference(base *URL, ref string) (*URL, error) {
	ref = strings.Trim(ref, " \t\r\n\f")
	if len(ref) > maxURL {
		return nil, errTooLong()
	}
	for i := range len(ref) {
		if c := ref[i]; c < ' ' || c == 0x7f {
			return nil, blocked("the redirect's URL has a control character at byte %d", i)
		}
	}
	p := split(ref)
	if err := p.checkSlashes(); err != nil {
		return nil, err
	}
	if p.scheme != "" || base == nil {
		return g.build(p)
	}
	if p.hasAuthority {
		p.scheme = base.scheme
		return g.build(p)
	}
	// RFC 3986 section 5.2.2, for a reference without scheme and authority.
	u := *base
	u.fragment = p.fragment
	switch {
	case p.path == "":
		if p.query != "" {
			u.query = encodeQuery(p.query)
		}
	case p.path[0] == '/':
		u.path, u.query = encodePath(p.path), encodeQuery(p.query)
	default:
		dir := base.path[:strings.LastIndexByte(base.path, '/')+1]
		u.path, u.query = encodePath(dir+p.path), encodeQuery(p.query)
	}
	return u.finish()
}

// parts is a URL reference cut up by RFC 3986 appendix B, nothing decoded.
type parts struct {
	scheme       string // lower case; "" for none
	hasAuthority bool
	authority    string
	path         string
	query        string // with its question mark
	fragment     string
}

func split(s string) (p parts) {
	s, p.fragment, _ = strings.Cut(s, "#")
	if i := strings.IndexByte(s, '?'); i >= 0 {
		s, p.query = s[:i], s[i:]
	}
	if i := strings.IndexAny(s, ":/"); i > 0 && s[i] == ':' && isScheme(s[:i]) {
		p.scheme, s = strings.ToLower(s[:i]), s[i+1:]
	}
	if rest, ok := strings.CutPrefix(s, "//"); ok {
		p.hasAuthority = true
		i := strings.IndexByte(rest, '/')
		if i < 0 {
			i = len(rest)
		}
		p.authority, s = rest[:i], rest[i:]
	}
	p.path = s
	return p
}

func isScheme(s string) bool {
	for i, c := range []byte(s) {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (i == 0 || !('0' <= c && c <= '9' || c == '+' || c == '-' || c == '.')) {
			return false
		}
	}
	return s != ""
}

// checkSlashes refuses a backslash where browsers read it as a slash.
func (p parts) checkSlashes() error {
	if strings.Contains(p.authority, `\`) || strings.Contains(p.path, `\`) {
		return blocked(`the URL has a backslash before its query, which parsers read differently; write / or %%5C`)
	}
	return nil
}

// build checks an absolute URL and puts it into canonical form.
func (g *Guard) build(p parts) (*URL, error) {
	switch p.scheme {
	case "http", "https":
	case "":
		return nil, blocked("the URL has no scheme; write http:// or https:// in front of it")
	default:
		return nil, blocked("scheme %q is not allowed; only http and https are", excerpt(p.scheme))
	}
	if !p.hasAuthority {
		return nil, blocked("the URL needs two slashes behind %s:", p.scheme)
	}
	if strings.Contains(p.authority, "@") {
		return nil, blocked("the URL has user information in front of its host; leave it and the @ out")
	}
	hostText, portText, hasPort := cutPort(p.authority)
	u := &URL{scheme: p.scheme, port: defaultPort(p.scheme), fragment: p.fragment}
	var err error
	if u.host, u.addr, err = parseHost(hostText); err != nil {
		return nil, err
	}
	if u.host == "http" || u.host == "https" {
		// http://http://example.com/ or http://https//example.com/
		return nil, blocked("the URL has a second scheme where its host should be; write one only")
	}
	if hasPort && portText != "" {
		port, ok := parsePort(portText)
		if !ok {
			return nil, blocked("port %q is not a number from 1 to 65535 in plain digits", excerpt(portText))
		}
		u.port = port
	}
	if !g.portOpen(u.port) {
		return nil, blocked("port %d is not allowed; only %s", u.port, g.portList())
	}
	u.path, u.query = encodePath(p.path), encodeQuery(p.query)
	return u.finish()
}

// finish fills in the text of a URL and holds it to the limit once more:
// encoding can triple a path.
func (u *URL) finish() (*URL, error) {
	u.text = u.scheme + "://" + u.authority() + u.path + u.query
	if len(u.text) > maxURL {
		return nil, errTooLong()
	}
	return u, nil
}

func errTooLong() *sift.Failure {
	return blocked("the URL is longer than %d bytes", maxURL)
}

// excerpt bounds a stranger's text in a message.
func excerpt(s string) string {
	const most = 40
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}

// encodePath gives the path as it goes over the wire: dot segments removed,
// and nothing in it that net/http would encode another way. Percent signs
// that begin an escape stay, so %2F does not become a slash.
func encodePath(p string) string {
	p = removeDotSegments(p)
	return encode(p, func(c byte) bool {
		return isAlnum(c) || strings.IndexByte("-._~!$&'()*+,;=:@/[]", c) >= 0
	}, true)
}

// encodeQuery leaves printable ASCII as browsers do, for servers that compare
// the query as text. A lone percent sign stays for the same reason.
func encodeQuery(q string) string {
	return encode(q, func(c byte) bool {
		return c > ' ' && c < 0x7f && c != '"' && c != '<' && c != '>'
	}, false)
}

func encode(s string, keep func(byte) bool, fixPercent bool) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		escape := c == '%' && (!fixPercent || i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]))
		if escape || c != '%' && keep(c) {
			b.WriteByte(c)
			continue
		}
		b.Write([]byte{'%', digits[c>>4], digits[c&15]})
	}
	return b.String()
}

func isAlnum(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'
}

// removeDotSegments is RFC 3986 section 5.2.4 for a path below an authority.
// An encoded dot is left alone.
func removeDotSegments(p string) string {
	if p == "" {
		return "/"
	}
	var out []string
	segments := strings.Split(p[1:], "/")
	for i, s := range segments {
		last := i == len(segments)-1
		switch s {
		case "..":
			if len(out) > 0 {
				out = out[:len(out)-1]
			}
		case ".":
		default:
			out = append(out, s)
			continue
		}
		if last {
			out = append(out, "")
		}
	}
	return "/" + strings.Join(out, "/")
}
