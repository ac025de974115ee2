package narrow

import "strings"

// view gives lines of Markdown as a reader sees them. It is used for one line
// after the other, so that its memory is.
type view struct {
	drop []bool // for each byte of the line: it is a sign, not text
	text []byte
}

// openMax bounds the brackets that wait for their end.
const openMax = 100

// of gives the line without escapes, emphasis, the signs of code, and the
// destinations of links and images. It knows no more of Markdown than that: what
// it takes for a sign and is none, stands in the line itself.
func (v *view) of(line string) string {
	if !strings.ContainsAny(line, "\\*`[~<") {
		return line
	}
	v.mark(line)
	v.text = v.text[:0]
	for i, drop := range v.drop {
		if !drop {
			v.text = append(v.text, line[i])
		}
	}
	return string(v.text)
}

// origin gives the place in the line of byte n of what was last made of it.
func (v *view) origin(line, seen string, n int) int {
	if seen == line {
		return n
	}
	for i, drop := range v.drop {
		if drop {
			continue
		}
		if n == 0 {
			return i
		}
		n--
	}
	return len(line)
}

func (v *view) mark(line string) {
	if cap(v.drop) < len(line) {
		v.drop = make([]bool, len(line))
	}
	v.drop = v.drop[:len(line)]
	clear(v.drop)
	var open []int // brackets that may be of a link
	for i := 0; i < len(line); {
		switch c := line[i]; c {
		case '\\':
			if i+1 < len(line) && isSign(line[i+1]) {
				v.drop[i] = true
				i++
			}
			i++
		case '*', '`', '~':
			n := run(line[i:], c)
			before := i == 0 || line[i-1] == ' '
			after := i+n == len(line) || line[i+n] == ' '
			switch {
			case c == '*' && before && after: // the sign itself, or a list's
			case c == '~' && n != 2:
			default:
				v.dropped(i, i+n)
			}
			i += n
		case '[':
			if len(open) < openMax {
				open = append(open, i)
			}
			i++
		case ']':
			if len(open) > 0 {
				from := open[len(open)-1]
				open = open[:len(open)-1]
				if n := destination(line[i+1:]); n > 0 {
					v.drop[from] = true
					if from > 0 && line[from-1] == '!' {
						v.drop[from-1] = true
					}
					v.dropped(i, i+1+n)
					i += n
				}
			}
			i++
		case '<':
			n := 0
			for _, tag := range []string{"<sub>", "<sup>", "</sub>", "</sup>"} {
				if strings.HasPrefix(line[i:], tag) {
					n = len(tag)
				}
			}
			v.dropped(i, i+n)
			i += max(n, 1)
		default:
			i++
		}
	}
}

func (v *view) dropped(from, to int) {
	for i := from; i < to; i++ {
		v.drop[i] = true
	}
}

// run counts how often c stands at the beginning of s.
func run(s string, c byte) int {
	n := 0
	for n < len(s) && s[n] == c {
		n++
	}
	return n
}

// destination gives the length of "(…)" at the beginning of s, 0 when it is not
// there. Parentheses may be nested once, as in the addresses of encyclopedias;
// a third one ends the search, which keeps it linear over a line of them.
func destination(s string) int {
	if s == "" || s[0] != '(' {
		return 0
	}
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '(':
			if depth++; depth > 2 {
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

// isSign says that a backslash before c is an escape.
func isSign(c byte) bool {
	return c > ' ' && c < 0x7f && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z')
}
