package digest

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// token is one word of a text as it is compared: folded to lower case, not yet
// stemmed.
type token struct {
	text string
	pos  int // which word of the text it is; the forms of one word share it
	kind tokenKind
	at   int // byte of the text at which it begins, and at which it ends
	end  int

	words  int // of a whole: how many words it is; 0 for a form of one word
	second int // of two characters: byte at which the second begins
}

type tokenKind uint8

const (
	tokenPart  tokenKind = iota // a word, or a part of a compound such as Max in MaxBytesReader
	tokenWhole                  // a compound as it stands: maxbytesreader, net/http, 1.2.3
	tokenGram                   // two characters of a script without spaces
)

// compoundMax bounds, in bytes, what is taken for one word: an address is
// longer now and then, a word is not.
const compoundMax = 256

// lexer cuts texts into tokens. It keeps its buffers from one text to the next.
type lexer struct {
	emit  func(token)
	pos   int
	buf   []byte
	parts []span
}

type span struct{ from, to int }

// run gives the tokens of s to l.emit and returns how many words it has.
func (l *lexer) run(s string) int {
	l.pos = 0
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			switch {
			case isAlnum(c):
				i = l.compound(s, i)
			case operatorSign(c):
				i = l.operator(s, i)
			default:
				i++
			}
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case unspaced(r):
			i = l.grams(s, i)
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			i = l.compound(s, i)
		default:
			i += size
		}
	}
	return l.pos
}

func isAlnum(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// wordRune says that r belongs to a word of a script with spaces. Marks do: a
// letter may be written as a letter and its accent.
func wordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return isAlnum(byte(r))
	}
	return (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r)) && !unspaced(r) || r == zeroWidthJoiner || r == zeroWidthNonJoiner
}

const (
	zeroWidthNonJoiner = '\u200c'
	zeroWidthJoiner    = '\u200d'
)

// connects says that c between two word characters joins them to a compound.
func connects(c byte) bool {
	switch c {
	case '_', '-', '.', '/', ':', '@', '+', '#', '&', '=', '~', '\'', '%', '>':
		return true
	}
	return false
}

// compound reads the run of words that begins at i and gives its parts and, if
// there are several or it is written in a way of its own, the whole.
func (l *lexer) compound(s string, i int) int {
	start := i
	l.parts = l.parts[:0]
	from := i           // of the part
	var prev, last rune // the one before, and the one before that
	digits := false
	cut := func(to int) {
		if to > from {
			l.parts = append(l.parts, span{from, to})
		}
		from = to
	}
	apostrophe := false
	for i < len(s) && i-start < compoundMax {
		r, size := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(s[i:])
		}
		if wordRune(r) {
			d := r < utf8.RuneSelf && isDigit(byte(r))
			switch {
			case prev == 0:
			case d != digits && r < utf8.RuneSelf && prev < utf8.RuneSelf:
				cut(i) // sha256
			case unicode.IsUpper(r) && unicode.IsLower(prev):
				cut(i) // maxBytes
			case unicode.IsLower(r) && unicode.IsUpper(prev) && last != 0 && unicode.IsUpper(last):
				cut(i - utf8.RuneLen(prev)) // HTTPServer: the S is the server's
			}
			digits, last, prev = d, prev, r
			i += size
			continue
		}
		// A sign joins when a word character stands behind it; two may, as in a::b
		// and a->b. In a number a point joins digits, and a comma groups of three.
		n, quote := 0, r == '\'' || r == '’'
		switch {
		case quote:
			n = size
		case r < utf8.RuneSelf && connects(byte(r)):
			n = 1
			if i+1 < len(s) && (s[i+1] == byte(r) || s[i+1] == '>') && r != '\'' {
				n = 2
			}
		case r == ',' && digits && thousands(s[i+1:]):
			i++
			prev = 0
			digits = true
			continue
		}
		if n == 0 || i+n >= len(s) {
			break
		}
		next, _ := utf8.DecodeRuneInString(s[i+n:])
		if !wordRune(next) || unicode.Is(unicode.M, next) {
			break
		}
		if r == '.' && n == 1 && digits && isDigit(s[i+1]) {
			i++
			prev = '0' // 1.22 is one part
			continue
		}
		apostrophe = apostrophe || quote
		cut(i)
		i += n
		from, prev, last, digits = i, 0, 0, false
	}
	if i >= len(s) || i-start >= compoundMax {
		i = min(i, len(s))
	}
	if from < i {
		cut(i)
	}
	l.give(s, start, i, apostrophe)
	return i
}

func operatorSign(c byte) bool {
	switch c {
	case '=', '<', '>', '!', '&', '|', '^', '+', '-', '*', '/', '%', ':', '.', '~', '?':
		return true
	}
	return false
}

// operator emits an operator of two or three signs, such as := or &&, that stands
// by itself. It is not a word: it has the place of the next one. The signs that end
// a sentence are no part of it.
func (l *lexer) operator(s string, i int) int {
	end := i
	for end < len(s) && operatorSign(s[end]) {
		end++
	}
	free := (i == 0 || s[i-1] <= ' ' || strings.IndexByte("([{\"'`", s[i-1]) >= 0) && (end == len(s) || s[end] <= ' ' || strings.IndexByte(",;)]}\"'`", s[end]) >= 0)
	run := s[i:end]
	if less := strings.TrimRight(run, "?!.:"); less != run {
		last := strings.TrimSpace(s[end:]) == "" // of the whole text
		switch {
		case len(less) > 1, len(less) == 1 && last:
			run = less
		case strings.Trim(run, "?!") == "" && (len(run) > 2 || last):
			run = "" // "why???"
		}
	}
	if n := len(run); free && (n == 2 || n == 3) {
		l.emit(token{text: run, pos: l.pos, kind: tokenWhole, at: i, end: i + n})
	}
	return end
}

// thousands says that s begins with three digits and no fourth.
func thousands(s string) bool {
	return len(s) >= 3 && isDigit(s[0]) && isDigit(s[1]) && isDigit(s[2]) && (len(s) == 3 || !isDigit(s[3]))
}

// give emits the parts of s[start:end] and the whole.
func (l *lexer) give(s string, start, end int, apostrophe bool) {
	first := l.pos
	parts := 0
	for _, p := range l.parts {
		text := s[p.from:p.to]
		if isDigit(text[0]) {
			l.number(text, p.from, len(l.parts) > 1)
			parts++
			continue
		}
		if len(l.parts) > 1 && utf8.RuneCountInString(text) < 2 && !apostrophe {
			continue // the x of x86 says nothing by itself
		}
		l.emit(token{text: l.fold(text), pos: l.pos, kind: tokenPart, at: p.from, end: p.to})
		l.pos++
		parts++
	}
	if l.pos == first {
		l.pos++ // only a whole stands here
	}
	whole := s[start:end]
	tail := signs(s, end, whole)
	dashes := dashesBefore(s, start)
	t := token{text: l.fold(whole), pos: first, kind: tokenWhole, at: start, end: end + len(tail), words: l.pos - first}
	if tail != "" {
		t.text += tail
	}
	if tail != "" || len(l.parts) > 1 && (!apostrophe || parts > 2) {
		l.emit(t)
	}
	if dashes > 0 {
		t.text = s[start-dashes:start] + t.text
		t.at = start - dashes
		l.emit(t)
	}
}

// number emits a number. 1,000 is 1000; 1.22.3 is also 1.22, because a question
// about a version names it so. In a compound, one or two digits say nothing.
func (l *lexer) number(text string, at int, inCompound bool) {
	end := at + len(text)
	if strings.IndexByte(text, ',') >= 0 {
		text = strings.ReplaceAll(text, ",", "")
	}
	if inCompound && len(text) < 3 {
		return
	}
	l.emit(token{text: text, pos: l.pos, kind: tokenPart, at: at, end: end})
	if dot := strings.IndexByte(text, '.'); dot >= 0 {
		if second := strings.IndexByte(text[dot+1:], '.'); second > 0 {
			l.emit(token{text: text[:dot+1+second], pos: l.pos, kind: tokenWhole, at: at, end: end})
		}
	}
	l.pos++
}

// signs gives the signs behind a short name that belong to it: C++, F#.
func signs(s string, end int, whole string) string {
	if len(whole) > 2 || len(s) == end {
		return ""
	}
	rest := s[end:]
	for _, t := range []string{"++", "#"} {
		if strings.HasPrefix(rest, t) && (len(rest) == len(t) || !isAlnum(rest[len(t)]) && rest[len(t)] != t[0]) {
			return t
		}
	}
	return ""
}

// dashesBefore counts the dashes of a flag such as -v or --dry-run.
func dashesBefore(s string, start int) int {
	n := 0
	for n < start && n < 3 && s[start-n-1] == '-' {
		n++
	}
	if n == 0 || n > 2 || n < start && s[start-n-1] > ' ' && strings.IndexByte("([{|,=\"'", s[start-n-1]) < 0 {
		return 0
	}
	return n
}

// fold gives text in lower case, without what only its writing adds.
func (l *lexer) fold(text string) string {
	lower := true
	for i := range len(text) {
		c := text[i]
		if c >= utf8.RuneSelf {
			return foldUnicode(text)
		}
		lower = lower && (c < 'A' || c > 'Z')
	}
	if lower {
		return text
	}
	l.buf = append(l.buf[:0], text...)
	for i, c := range l.buf {
		if c >= 'A' && c <= 'Z' {
			l.buf[i] = c + 'a' - 'A'
		}
	}
	return string(l.buf)
}

// grams emits the pairs of neighbouring characters of a run without spaces, and
// a character that stands alone by itself.
func (l *lexer) grams(s string, i int) int {
	var prev span
	n := 0
	for i < len(s) {
		r, size := utf8.DecodeRuneInString(s[i:])
		if !unspaced(r) {
			break
		}
		cur := span{i, i + size}
		i += size
		for i < len(s) && i-cur.from < 32 {
			m, size := utf8.DecodeRuneInString(s[i:])
			if !unicode.Is(unicode.M, m) {
				break
			}
			i += size
			cur.to = i
		}
		if n++; n > 1 {
			l.emit(token{text: foldUnicode(s[prev.from:cur.to]), pos: l.pos, kind: tokenGram, at: prev.from, end: cur.to, second: cur.from})
			l.pos++
		}
		prev = cur
	}
	if n == 1 {
		l.emit(token{text: foldUnicode(s[prev.from:prev.to]), pos: l.pos, kind: tokenGram, at: prev.from, end: prev.to})
		l.pos++
	}
	return i
}

// unspaced says that r is of a script that puts no spaces between words, or,
// as Korean does, between a word and what is bound to it.
func unspaced(r rune) bool {
	switch {
	case r < 0x0e00:
		return false
	case r < 0x1000: // Thai, Lao, Tibetan
		return unicode.In(r, unicode.Thai, unicode.Lao, unicode.Tibetan) && !unicode.IsDigit(r) && !unicode.IsPunct(r) && !unicode.IsSymbol(r)
	case r < 0x10a0: // Myanmar
		return !unicode.IsDigit(r) && !unicode.IsPunct(r)
	case r >= 0x1780 && r < 0x1800: // Khmer
		return unicode.IsLetter(r) || unicode.Is(unicode.M, r)
	case r < 0x3005:
		return r >= 0x1100 && r < 0x1200 // Hangul jamo
	case r < 0x3008: // iteration mark, closing mark, zero
		return true
	case r >= 0x3021 && r < 0x3100: // Hiragana, Katakana
		return unicode.IsLetter(r) || r >= 0x3021 && r < 0x302a
	case r >= 0x3100 && r < 0xa000:
		return unicode.IsLetter(r)
	case r >= 0xac00 && r < 0xd7a4, r >= 0xf900 && r < 0xfb00:
		return true
	case r >= 0xff66 && r < 0xffdd: // half-width Katakana and Hangul
		return true
	case r >= 0x1b000 && r < 0x1b170, r >= 0x20000 && r < 0x3fffe:
		return true
	}
	return false
}
