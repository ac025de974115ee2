package digest

import "strings"

// reader gives passages as they are read: without the signs of Markdown and the
// destinations of links, whose words are not the page's.
type reader struct {
	buf      []byte
	markdown bool
}

// linkMax bounds, in bytes, how far the destination of a link is looked for.
const linkMax = 2000

func (v *reader) of(s string) string {
	if !v.markdown || !strings.ContainsAny(s, "\\*`[~<") {
		return s
	}
	v.buf = v.buf[:0]
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s) && isSign(s[i+1]):
			i++
			v.buf = append(v.buf, s[i])
		case c == '*' || c == '`':
			// A sign between two letters, as in a*b, parts them no less than a space.
			if i > 0 && i+1 < len(s) && isAlnum(s[i-1]) && isAlnum(s[i+1]) && c == '*' && s[i-1] != '*' {
				v.buf = append(v.buf, c)
			}
		case c == ']' && i+1 < len(s) && s[i+1] == '(':
			end := destination(s[i+1:])
			if end == 0 {
				v.buf = append(v.buf, c)
				continue
			}
			i += end
			v.buf = append(v.buf, ' ')
		case c == '<':
			n := 0
			for _, tag := range []string{"<sub>", "<sup>", "</sub>", "</sup>", "<br>"} {
				if strings.HasPrefix(s[i:], tag) {
					n = len(tag)
				}
			}
			if n == 0 {
				v.buf = append(v.buf, c)
				continue
			}
			if n == len("<br>") {
				v.buf = append(v.buf, ' ')
			}
			i += n - 1
		default:
			v.buf = append(v.buf, c)
		}
	}
	return string(v.buf)
}

// isSign says that a backslash before c is an escape.
func isSign(c byte) bool { return c > ' ' && c < 0x7f && !isAlnum(c) }

// destination gives the length of "(…)" at the beginning of s, 0 when it has no
// end nearby.
func destination(s string) int {
	depth := 0
	for i := 0; i < len(s) && i < linkMax; i++ {
		switch s[i] {
		case '\\':
			i++
		case '\n':
			return 0
		case '(':
			if depth++; depth > 3 {
				return 0
			}
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}
