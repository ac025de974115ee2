package extract

import "strings"

const (
	// maxLinkHeader is how much of a Link header is read, in bytes, and
	// maxHeaderLinks how many links of it.
	maxLinkHeader  = 64 << 10
	maxHeaderLinks = 300
)

// A headerLink is one link of a Link header.
type headerLink struct {
	target string
	params map[string]string // by lower-case name; the first of a name counts
}

// parseLinkHeader reads a Link header as RFC 8288, appendix B.2 says. Links
// whose context is another page ("anchor") are left out.
func parseLinkHeader(s string) []headerLink {
	s = s[:min(len(s), maxLinkHeader)]
	var out []headerLink
	for len(out) < maxHeaderLinks {
		i := strings.IndexByte(s, '<')
		if i < 0 {
			return out
		}
		s = s[i+1:]
		target, rest, ok := strings.Cut(s, ">")
		if !ok {
			return out
		}
		l := headerLink{target: target, params: map[string]string{}}
		s = l.parameters(rest)
		if _, other := l.params["anchor"]; !other {
			out = append(out, l)
		}
	}
	return out
}

// parameters reads what stands behind the target, up to the next link, and
// gives the rest.
func (l *headerLink) parameters(s string) string {
	for {
		s = strings.TrimLeft(s, " \t")
		if s == "" || s[0] == ',' {
			return s
		}
		if s[0] != ';' {
			s = s[1:]
			continue
		}
		s = strings.TrimLeft(s[1:], " \t;")
		end := strings.IndexAny(s, "=;, \t")
		if end < 0 {
			end = len(s)
		}
		name := strings.ToLower(s[:end])
		s = strings.TrimLeft(s[end:], " \t")
		value := ""
		if strings.HasPrefix(s, "=") {
			s = strings.TrimLeft(s[1:], " \t")
			if strings.HasPrefix(s, `"`) {
				value, s = quotedString(s[1:])
			} else {
				end := strings.IndexAny(s, ";,")
				if end < 0 {
					end = len(s)
				}
				value, s = strings.TrimSpace(s[:end]), s[end:]
			}
		}
		if ext, ok := strings.CutSuffix(name, "*"); ok { // RFC 8187: UTF-8'en'%e2%82%ac
			charset, rest, _ := strings.Cut(value, "'")
			if _, v, ok := strings.Cut(rest, "'"); ok && strings.EqualFold(charset, "utf-8") {
				l.params[ext] = unpercent(v) // goes before the plain one
			}
			continue
		}
		if _, ok := l.params[name]; !ok && name != "" && len(l.params) < 20 {
			l.params[name] = value
		}
	}
}

// quotedString reads up to the closing quotation mark.
func quotedString(s string) (value, rest string) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			return b.String(), s[i+1:]
		case '\\':
			if i++; i < len(s) {
				b.WriteByte(s[i])
			}
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String(), ""
}
