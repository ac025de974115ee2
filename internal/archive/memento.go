package archive

import (
	"net/url"
	"slices"
	"strings"
	"time"
)

// waybackForm is the form of date in the URLs of the Wayback Machine and of
// those built like it: YYYYMMDDhhmmss.
const waybackForm = "20060102150405"

// rawFlag asks such an archive for the bytes that it captured, with no banner
// and no link changed.
const rawFlag = "id_"

// wayback is a copy's URL of the form …/20190304050607id_/http://a.example/.
type wayback struct {
	prefix   string // up to the date, with its slash
	date     string // 14 digits
	flag     string // such as id_ or if_; "" for none
	original string // from its scheme on
}

// parseWayback takes such a URL apart. The first date in the path counts: the
// page may itself be one of another archive.
func parseWayback(u string) (wayback, bool) {
	_, rest, ok := strings.Cut(u, "://")
	if !ok {
		return wayback{}, false
	}
	at := len(u) - len(rest)
	path, _, _ := strings.Cut(rest, "?")
	for {
		i := strings.IndexByte(path, '/')
		if i < 0 {
			return wayback{}, false
		}
		path, at = path[i+1:], at+i+1
		if len(path) < len(waybackForm) || !digits(path[:len(waybackForm)]) {
			continue
		}
		flag, after, ok := strings.Cut(u[at+len(waybackForm):], "/")
		if !ok || flag != "" && !isFlag(flag) {
			continue
		}
		original, ok := withScheme(after)
		if !ok {
			continue
		}
		return wayback{prefix: u[:at], date: path[:len(waybackForm)], flag: flag, original: original}, true
	}
}

// withScheme gives the original's URL in a copy's; servers and proxies may
// have made one slash of two.
func withScheme(s string) (string, bool) {
	for _, scheme := range []string{"http:", "https:"} {
		if len(s) > len(scheme) && strings.EqualFold(s[:len(scheme)], scheme) && s[len(scheme)] == '/' {
			rest := strings.TrimLeft(s[len(scheme):], "/")
			return scheme + "//" + rest, rest != ""
		}
	}
	return "", false
}

func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// isFlag: two letters and an underscore.
func isFlag(s string) bool {
	return len(s) == 3 && s[2] == '_' && 'a' <= s[0] && s[0] <= 'z' && 'a' <= s[1] && s[1] <= 'z'
}

// time is the date in the URL; zero when it is none.
func (w wayback) time() time.Time {
	t, err := time.Parse(waybackForm, w.date)
	if err != nil {
		return time.Time{}
	}
	return t
}

// isRaw reports whether the URL is that of the bytes as captured.
func (w wayback) isRaw() bool { return w.flag == rawFlag }

// raw is the URL of the bytes as captured.
func (w wayback) raw() string { return w.prefix + w.date + rawFlag + "/" + w.original }

// samePage reports whether two URLs are of one page by the lights of an
// archive, which files http and https, with www. and without, with a slash at
// the end and without, under one name.
func samePage(a, b string) bool { return pageKey(a) == pageKey(b) }

func pageKey(u string) string {
	u, _, _ = strings.Cut(u, "#")
	scheme, rest, ok := strings.Cut(u, "://")
	if !ok || strings.ContainsAny(scheme, "/?") {
		rest = u // some archives leave the scheme out
	}
	rest, query, _ := strings.Cut(rest, "?")
	host, path, _ := strings.Cut(rest, "/")
	host = strings.ToLower(host)
	for _, port := range []string{":80", ":443"} {
		host = strings.TrimSuffix(host, port)
	}
	host = strings.TrimSuffix(host, ".")
	if first, rest, ok := strings.Cut(host, "."); ok && strings.Contains(rest, ".") {
		if n, ok := strings.CutPrefix(first, "www"); ok && (n == "" || digits(n)) {
			host = rest
		}
	}
	args := strings.FieldsFunc(normalEscapes(query), func(r rune) bool { return r == '&' })
	slices.Sort(args)
	return host + "/" + strings.TrimRight(normalEscapes(path), "/") + "?" + strings.Join(args, "&")
}

// normalEscapes makes the two spellings of a character in a URL one (RFC
// 3986, section 6.2.2).
func normalEscapes(s string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); i++ {
		c, escaped := s[i], false
		if c == '%' && i+2 < len(s) {
			if d, err := url.PathUnescape(s[i : i+3]); err == nil {
				c, escaped = d[0], true
				i += 2
			}
		}
		plain := '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' || strings.IndexByte("-._~", c) >= 0
		if plain || !escaped && c > ' ' && c < 0x7f && strings.IndexByte(`"<>\^{|}`+"`", c) < 0 {
			b.WriteByte(c)
			continue
		}
		b.Write([]byte{'%', hex[c>>4], hex[c&15]})
	}
	return b.String()
}
