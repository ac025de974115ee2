package fetch

import (
	"bytes"
	"strings"
)

// Robots rules are read and matched as RFC 9309 says: the groups of our own
// product token, or else of “*”; the longest matching rule decides, allow
// before disallow; “*” and “$” are the only special characters, and a rule
// begins at the start of the path.

const (
	robotsMaxRules = 4000     // of the groups that are ours; more are not read
	robotsMaxRule  = 2 << 10  // bytes of one rule; a longer one is left out
	robotsMaxKept  = 64 << 10 // bytes of rules that are worth a place in the cache
)

// robotsRules are the rules of one robots.txt that speak to us.
type robotsRules struct {
	rules []robotsRule
	bytes int
}

type robotsRule struct {
	allow   bool
	pattern string // percent-encoding normalised
}

// parseRobots picks the rules for token, a product token in lower case.
func parseRobots(text []byte, token string) *robotsRules {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	var own, all robotsRules
	var named, ownSeen bool // the group that is being read: it names us; some group did
	var star, body bool     // it names everyone; its rules have begun
	for len(text) > 0 {
		end := bytes.IndexAny(text, "\r\n")
		line := text
		if end >= 0 {
			line, text = text[:end], text[end+1:]
		} else {
			text = nil
		}
		line, _, _ = bytes.Cut(line, []byte("#"))
		k, v, ok := bytes.Cut(line, []byte(":"))
		if !ok {
			continue
		}
		key, value := strings.ToLower(string(bytes.TrimSpace(k))), string(bytes.TrimSpace(v))
		switch key {
		case "user-agent", "useragent":
			if body {
				named, star, body = false, false, false
			}
			agent := productToken(value)
			star = star || value == "*"
			if agent != "" && agent == token {
				named, ownSeen = true, true
			}
		case "allow", "disallow":
			body = true
			if value == "" || len(value) > robotsMaxRule {
				continue // “Disallow:” alone forbids nothing
			}
			r := robotsRule{allow: key == "allow", pattern: normalPattern(value)}
			if named {
				own.add(r)
			}
			if star {
				all.add(r)
			}
		}
	}
	if ownSeen {
		return &own
	}
	return &all
}

func (r *robotsRules) add(rule robotsRule) {
	if len(r.rules) >= robotsMaxRules {
		return
	}
	r.rules = append(r.rules, rule)
	r.bytes += len(rule.pattern) + 32 // what a rule costs beside its text
}

// allowed reports whether the rules let path, with its query, be fetched.
func (r *robotsRules) allowed(path string) bool {
	if path == "/robots.txt" {
		return true
	}
	path = normalEscapes(path)
	best, allow := -1, true
	for _, rule := range r.rules {
		n := len(rule.pattern)
		if n < best || n == best && (allow || !rule.allow) {
			continue
		}
		if matchPattern(rule.pattern, path) {
			best, allow = n, rule.allow
		}
	}
	return allow
}

// matchPattern matches a rule from the start of the path. What stands between
// two stars is searched for from where the one before it ended, so the time
// is linear in both lengths, and no pattern explodes.
func matchPattern(pattern, path string) bool {
	pattern, anchored := strings.CutSuffix(pattern, "$")
	first, rest, more := strings.Cut(pattern, "*")
	path, ok := strings.CutPrefix(path, first)
	if !ok {
		return false
	}
	for more {
		var piece string
		piece, rest, more = strings.Cut(rest, "*")
		if !more && anchored {
			return strings.HasSuffix(path, piece)
		}
		i := strings.Index(path, piece)
		if i < 0 {
			return false
		}
		path = path[i+len(piece):]
	}
	return !anchored || path == ""
}

// normalPattern brings a rule to the form in which paths are compared.
func normalPattern(s string) string {
	if s[0] != '/' && s[0] != '*' {
		s = "/" + s
	}
	return normalEscapes(s)
}

// normalEscapes percent-encodes what is outside ASCII and decodes what did
// not need its percent sign (RFC 9309, section 2.2.2), so that the two
// spellings of a path compare equal.
func normalEscapes(s string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]):
			d := unhex(s[i+1])<<4 | unhex(s[i+2])
			i += 2
			if isUnreserved(d) {
				b.WriteByte(d)
				continue
			}
			c = d
			fallthrough
		case c >= 0x80 || c <= ' ' || c == 0x7f:
			b.WriteByte('%')
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

func unhex(c byte) byte {
	switch {
	case c <= '9':
		return c - '0'
	case c <= 'F':
		return c - 'A' + 10
	}
	return c - 'a' + 10
}

// isUnreserved is RFC 3986, section 2.3.
func isUnreserved(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || strings.IndexByte("-._~", c) >= 0
}

// productToken is the name at the start of a user agent, in lower case: what
// stands before the first character that RFC 9309 does not allow in one.
func productToken(agent string) string {
	agent = strings.ToLower(agent)
	for i, c := range []byte(agent) {
		if c != '-' && c != '_' && (c < 'a' || c > 'z') {
			return agent[:i]
		}
	}
	return agent
}
