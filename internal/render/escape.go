package render

import (
	"strings"
	"unicode/utf8"
)

// special marks the bytes that may have to be escaped in running text.
var special = func() (t [256]bool) {
	for _, c := range []byte("\\`*_[]<&~(^:|#!@") {
		t[c] = true
	}
	return t
}()

// escape writes one word of running text so that it parses back as text.
func (w *writer) escape(s string, spaced bool) {
	bare := bareLink(s) // GitHub's flavour takes its underscores as they are
	if w.bol {
		s = w.lineStart(s)
	} else if last := s[len(s)-1]; (last == '.' || last == ')') && strings.Trim(s[:len(s)-1], "0123456789") == "" && w.numbered() {
		w.out = append(append(w.out, s[:len(s)-1]...), '\\', last) // the end of an item's number that began in another element
		return
	}
	start := 0
	for i := range len(s) {
		c := s[i]
		if !special[c] {
			continue
		}
		// What stands before and after; 0 is white space or the edge of a
		// line, 1 is not known.
		var prev, next byte
		switch {
		case i > 0:
			prev = s[i-1]
		case len(w.out) > w.textAt:
			if prev = w.out[len(w.out)-1]; prev == ' ' {
				prev = 0
			}
		}
		switch {
		case i+1 < len(s):
			next = s[i+1]
		case !spaced, len(w.marks) > 0, c == '\\': // a sign may come before the white space
			next = 1
		}
		esc := false
		switch c {
		case '\\':
			esc = next == 1 || next > ' ' && next < 0x7f && !isAlnum(next)
		case '`':
			esc = true
		case '*':
			esc = prev != 0 || next != 0
		case '_':
			esc = (prev != 0 || next != 0) && !bare && !(isWord(prev) && isWord(next) && w.insideWord(s, i))
		case '~':
			esc = w.deleting() || (prev != 0 || next != 0 && !isAlnum(next)) && !(bare && prev == '/' && isAlnum(next))
		case '[':
			esc = w.inLink || next == '^' || prev == '!' && i == 0
		case ']':
			esc = w.inLink
		case '(', ':':
			esc = prev == ']'
		case '^':
			esc = prev == '['
		case '<':
			esc = next == 1 && !spaced || isLetter(next) || next == '/' || next == '!' || next == '?' || strings.IndexByte(s[i+1:min(len(s), i+1+mailLook)], '@') >= 0
		case '@':
			esc = i < mailLook && strings.IndexByte(s[:i], '@') < 0 && w.angled()
		case '&':
			esc = next == 1 && !spaced || isEntity(s[i+1:])
		case '|':
			esc = w.cell
		case '#':
			// Only signs at the heading's end would be taken for its own.
			esc = w.heading != nil && (prev == 0 || prev == '#' && strings.Trim(s[:i], "#") == "") && strings.Trim(s[i:], "#") == ""
		}
		if esc && c == '~' && w.deleting() { // a tilde before ~~ would keep it from closing, escaped or not
			w.out = append(append(w.out, s[start:i]...), "&#126;"...)
			start = i + 1
			continue
		}
		if esc {
			w.out = append(w.out, s[start:i]...)
			w.out = append(w.out, '\\')
			start = i
		}
	}
	w.out = append(w.out, s[start:]...)
}

// bareLink says that s begins like a URL that GitHub's flavour makes a link of.
func bareLink(s string) bool {
	rest, ok := strings.CutPrefix(s, "http://")
	if !ok {
		if rest, ok = strings.CutPrefix(s, "https://"); !ok {
			return false
		}
	}
	host, _, _ := strings.Cut(rest, "/")
	dot := strings.IndexByte(host, '.')
	return dot > 0 && dot < len(host)-1 && !strings.ContainsAny(host, "_~*`[]()<>\\")
}

// deleting says that the text stands inside ~~.
func (w *writer) deleting() bool {
	for i := range w.marks {
		if w.marks[i].kind == deleted {
			return true
		}
	}
	return false
}

// lineStart writes what must be escaped because s is the first word of a line,
// and gives the rest of it.
func (w *writer) lineStart(s string) string {
	cut := 0
	if w.heading != nil && s[0] != '[' {
		return s // behind the heading's own sign
	}
	switch c := s[0]; c {
	case '#':
		if len(s) <= 6 && strings.Trim(s, "#") == "" {
			w.out = append(w.out, '\\')
			cut = 1
		}
	case '>', '|', '~', '*', '_', '`':
		w.out = append(w.out, '\\')
		cut = 1
	case '-', '+', '=', ':':
		if strings.Trim(s, "-+=:|") == "" {
			w.out = append(w.out, '\\')
			cut = 1
		}
	case '[':
		// A task, or the beginning of a definition whose end is not in this word.
		if end := strings.IndexByte(s, ']'); end < 0 || end < 3 && (s[1]|0x20 == 'x' || end == 1) {
			w.out = append(w.out, '\\')
			cut = 1
		}
	default:
		if c >= '0' && c <= '9' {
			i := 1
			for i < len(s) && i < 10 && s[i] >= '0' && s[i] <= '9' {
				i++
			}
			if i == len(s)-1 && (s[i] == '.' || s[i] == ')') {
				w.out = append(w.out, s[:i]...)
				w.out = append(w.out, '\\')
				cut = i
				w.out = append(w.out, s[i])
				cut++
			}
			return s[cut:]
		}
		return s
	}
	if cut > 0 {
		w.out = append(w.out, s[0])
	}
	return s[cut:]
}

// numbered says that there are only digits on the line so far: a full stop
// would make it an item.
func (w *writer) numbered() bool {
	line := w.out[w.textAt:]
	if len(line) == 0 || len(line) > 9 {
		return false
	}
	for _, c := range line {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// isEntity says that what stands behind an ampersand makes it a character
// reference.
func isEntity(s string) bool {
	for i := 0; i < len(s) && i < 40; i++ {
		switch c := s[i]; {
		case c == ';':
			return i > 0
		case isAlnum(c), i == 0 && c == '#':
		default:
			return false
		}
	}
	return false
}

func isAlnum(c byte) bool { return c >= '0' && c <= '9' || isLetter(c) }

// isWord says that c may be of a word: a letter, a digit, or part of a character
// above ASCII.
func isWord(c byte) bool { return isAlnum(c) || c >= 0x80 }

// mailLook is how far a mail address behind an angle bracket is looked for.
const mailLook = 256

// angled says that an angle bracket stands open in the word so far, whose
// beginning is in another element: <0<b>@0></b> would be the link of a mail
// address.
func (w *writer) angled() bool {
	before := w.out[max(w.textAt, len(w.out)-mailLook):]
	for i := len(before) - 1; i >= 0 && before[i] != ' '; i-- {
		if before[i] == '<' {
			return i == 0 || before[i-1] != '\\'
		}
	}
	return false
}

// insideWord says that the characters on both sides of s[i] are no punctuation.
func (w *writer) insideWord(s string, i int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	if i == 0 {
		before, _ = utf8.DecodeLastRune(w.out)
	}
	after, _ := utf8.DecodeRuneInString(s[i+1:])
	return !isPunct(before) && !isPunct(after)
}

// escapeInline gives one line of text as inline Markdown; inside the text of a
// link or an image when link is set.
func escapeInline(s string, link bool) string {
	w := writer{inLink: link}
	w.filled = false
	w.text(s)
	return string(w.out)
}

// destination gives a URL as the destination of a link.
func destination(url string, cell bool) string {
	depth, bad := 0, false
	for i := range len(url) {
		switch c := url[i]; {
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth < 0 {
				bad = true
			}
		case c <= ' ', c == '<', c == '>', c == '\\', c == 0x7f, c == '&', c == '|' && cell, c == '`':
			bad = true
		}
	}
	if !bad && depth == 0 && url != "" {
		return url
	}
	const hex = "0123456789ABCDEF"
	b := make([]byte, 0, len(url)+16)
	for i := range len(url) {
		switch c := url[i]; {
		case c == '(' || c == ')' || c <= ' ' || c == '<' || c == '>' || c == '\\' || c == 0x7f || c == '|' || c == '`':
			b = append(b, '%', hex[c>>4], hex[c&15])
		case c == '&' && isEntity(url[i+1:]):
			b = append(b, "&amp;"...)
		default:
			b = append(b, c)
		}
	}
	return string(b)
}
