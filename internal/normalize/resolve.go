package normalize

import (
	"net/netip"
	"net/url"
	"strings"

	"golang.org/x/net/idna"
)

// urlMax is the longest link that is kept, in bytes, as long as the longest
// URL that a fetch takes.
const urlMax = 8192

// growthMax bounds, in bytes, by how much the links of a page may grow together
// when they are made absolute: a base of 8 KB and a million links of one letter
// would fill the memory.
const growthMax = 16 << 20

// resolver makes references absolute as browsers do: white space at the ends
// and line breaks inside are dropped, backslashes are slashes, and what cannot
// stand in a URL is percent-encoded. Nothing is rejected for a bad percent
// sign, which net/url would do.
type resolver struct {
	scheme string // http or https; "" when there is no base
	origin string // https://host:port
	path   string // of the base, at least "/"
	query  string // of the base, with its "?"
	public bool   // the page itself is not at a private address
	growth int    // see growthMax
	page   string // the page's own address without fragment: a link that begins with it is a link inside the page
}

func newResolver(base *url.URL) resolver {
	var r resolver
	r.setBase(base)
	if base != nil {
		r.page = r.origin + r.path + r.query
		r.public = !privateHost(base.Hostname())
	}
	return r
}

func (r *resolver) setBase(u *url.URL) {
	if u == nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return
	}
	r.scheme = u.Scheme
	r.origin = u.Scheme + "://" + strings.ToLower(u.Host)
	r.path = u.EscapedPath()
	if r.path == "" {
		r.path = "/"
	}
	r.query = ""
	if u.RawQuery != "" {
		r.query = "?" + u.RawQuery
	}
}

// setBaseHref takes the page's <base href>. One that is not http or https is
// ignored, as browsers do for javascript: and data:.
func (r *resolver) setBaseHref(href string) {
	abs, web := r.resolve(href)
	if !web {
		return
	}
	if u, err := url.Parse(abs); err == nil {
		r.setBase(u)
	}
}

// resolve gives the absolute form of ref, and whether it is http or https. ""
// means that ref is nothing to link to: a scheme off the list, no base to
// resolve against, too long, or too much in all (see growthMax).
func (r *resolver) resolve(ref string) (abs string, web bool) {
	if r.growth > growthMax && len(r.origin)+len(r.path) > 64 {
		if scheme, _ := splitScheme(strings.TrimSpace(ref)); scheme == "" {
			return "", false // without building it first
		}
	}
	abs, web = r.absolute(ref)
	if g := len(abs) - len(ref); g > 64 {
		if r.growth += g; r.growth > growthMax {
			return "", false
		}
	}
	return abs, web
}

func (r *resolver) absolute(ref string) (abs string, web bool) {
	ref = strings.Trim(ref, " \t\n\r\f\v\x00")
	if len(ref) > urlMax {
		return "", false
	}
	if strings.ContainsAny(ref, "\t\n\r") {
		ref = strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(ref)
	}
	scheme, rest := splitScheme(ref)
	switch scheme {
	case "":
		rest = ref
	case "http", "https":
		if len(rest) > 0 && (rest[0] == '/' || rest[0] == '\\') || scheme != r.scheme {
			return absolute(scheme, strings.TrimLeft(rest, `/\`))
		} // "https:page" is a relative link of the old kind
	case "mailto", "tel", "ftp", "ftps", "sftp", "magnet", "irc", "ircs", "xmpp", "git", "ssh", "sms", "gemini", "news":
		if rest == "" {
			return "", false
		}
		return scheme + ":" + encode(rest, false), false
	default:
		return "", false
	}
	if r.scheme == "" {
		return "", false
	}
	switch {
	case rest == "":
		return r.origin + r.path + r.query, true
	case rest[0] == '#':
		return r.origin + r.path + r.query + encode(rest, false), true
	case rest[0] == '?':
		return r.origin + r.path + encode(rest, false), true
	case isSlash(rest[0]) && len(rest) > 1 && isSlash(rest[1]):
		return absolute(r.scheme, strings.TrimLeft(rest, `/\`))
	case isSlash(rest[0]):
		return r.origin + pathAndRest(rest), true
	}
	dir := r.path[:strings.LastIndexByte(r.path, '/')+1]
	return r.origin + pathAndRest(dir+rest), true
}

func isSlash(b byte) bool { return b == '/' || b == '\\' }

// splitScheme splits off a lower-case scheme; "" when there is none.
func splitScheme(s string) (scheme, rest string) {
	for i := 0; i < len(s) && i < 24; i++ {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
		case i > 0 && (c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.'):
		case c == ':' && i > 0:
			return strings.ToLower(s[:i]), s[i+1:]
		default:
			return "", s
		}
	}
	return "", s
}

// absolute builds a URL from its scheme and what follows the slashes.
func absolute(scheme, rest string) (string, bool) {
	end := strings.IndexAny(rest, `/\?#`)
	if end < 0 {
		end = len(rest)
	}
	host, tail := rest[:end], rest[end:]
	user := ""
	if i := strings.LastIndexByte(host, '@'); i >= 0 {
		user, host = strings.ReplaceAll(encode(host[:i], true), "@", "%40")+"@", host[i+1:]
	}
	host = cleanHost(host)
	if host == "" {
		return "", false
	}
	if tail != "" && isSlash(tail[0]) {
		tail = pathAndRest(tail)
	} else {
		tail = encode(tail, false)
	}
	return scheme + "://" + user + host + tail, true
}

// cleanHost gives host[:port] in lower case and in ASCII, "" for one that no
// browser would take.
func cleanHost(host string) string {
	lower, ascii := true, true
	for i := range len(host) {
		switch c := host[i]; {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '.', c == '-', c == '_', c == ':', c == '[', c == ']':
		case c >= 'A' && c <= 'Z':
			lower = false
		case c == '%' || c >= 0x80:
			ascii = false
		default:
			return ""
		}
	}
	if !lower {
		host = strings.ToLower(host)
	}
	if ascii {
		return host
	}
	name, port, _ := strings.Cut(host, ":")
	if u, err := url.PathUnescape(name); err == nil {
		name = u
	}
	name, err := idna.Lookup.ToASCII(name)
	if err != nil || name == "" || strings.ContainsAny(name, " /\\?#@%<>[]^|`\"(){}") {
		return ""
	}
	if port != "" {
		name += ":" + encode(port, true)
	}
	return name
}

// pathAndRest cleans a path with what follows it: dot segments resolved,
// backslashes turned, the rest percent-encoded.
func pathAndRest(s string) string {
	end := strings.IndexAny(s, "?#")
	if end < 0 {
		end = len(s)
	}
	path, tail := s[:end], s[end:]
	if strings.IndexByte(path, '\\') >= 0 {
		path = strings.ReplaceAll(path, `\`, "/")
	}
	if strings.Contains(path, "/.") || strings.Contains(path, "/%2") {
		path = removeDots(path)
	}
	if tail == "" {
		return encode(path, false)
	}
	return encode(path+tail, false)
}

// removeDots resolves . and .. segments; the path begins with a slash.
func removeDots(path string) string {
	var out []byte
	for path != "" {
		seg := path[1:]
		end := strings.IndexByte(seg, '/')
		last := end < 0
		if last {
			end = len(seg)
		}
		seg, path = seg[:end], path[1+end:]
		switch {
		case seg == "." || strings.EqualFold(seg, "%2e"):
			if last {
				out = append(out, '/')
			}
		case seg == ".." || isDotDot(seg):
			i := len(out) - 1
			for i >= 0 && out[i] != '/' {
				i--
			}
			out = out[:max(i, 0)]
			if last {
				out = append(out, '/')
			}
		default:
			out = append(append(out, '/'), seg...)
		}
	}
	if len(out) == 0 {
		return "/"
	}
	return string(out)
}

func isDotDot(seg string) bool {
	return strings.EqualFold(seg, ".%2e") || strings.EqualFold(seg, "%2e.") || strings.EqualFold(seg, "%2e%2e")
}

// mustEncode marks the bytes that cannot stand in a URL as it is written in
// Markdown, HTML and plain text.
var mustEncode = func() (t [256]bool) {
	for i := range t {
		t[i] = i <= ' ' || i >= 0x7f || strings.IndexByte("\"<>\\^`{|}", byte(i)) >= 0
	}
	return t
}()

// encode percent-encodes what cannot stand in a URL.
func encode(s string, component bool) string {
	need := 0
	for i := range len(s) {
		if mustEncode[s[i]] || component && (s[i] == '/' || s[i] == '(' || s[i] == ')' || s[i] == '[' || s[i] == ']') {
			need++
		}
	}
	if need == 0 {
		return s
	}
	const hex = "0123456789ABCDEF"
	b := make([]byte, 0, len(s)+2*need)
	for i := 0; i < len(s); i++ {
		if c := s[i]; mustEncode[c] || component && (c == '/' || c == '(' || c == ')' || c == '[' || c == ']') {
			b = append(b, '%', hex[c>>4], hex[c&15])
		} else {
			b = append(b, c)
		}
	}
	return string(b)
}

// private says that abs, an http or https URL, names a private address or
// localhost in so many words. It resolves nothing.
func (r *resolver) private(abs string) bool {
	_, rest, _ := strings.Cut(abs, "://")
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		rest = rest[:end]
	}
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		rest = rest[i+1:]
	}
	if strings.HasPrefix(rest, "[") {
		rest, _, _ = strings.Cut(rest[1:], "]")
	} else if i := strings.LastIndexByte(rest, ':'); i >= 0 {
		rest = rest[:i]
	}
	return privateHost(rest)
}

func privateHost(host string) bool {
	if host == "" {
		return false
	}
	if c := host[0]; (c < '0' || c > '9') && strings.IndexByte(host, ':') < 0 {
		host = strings.TrimSuffix(host, ".")
		return host == "localhost" || strings.HasSuffix(host, ".localhost")
	}
	a, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	a = a.Unmap()
	return a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast() || a.IsUnspecified()
}
