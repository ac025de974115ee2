package extract

import (
	"bytes"

	"golang.org/x/net/html/atom"
)

// A lexer walks the tags of a document without building anything, as the
// tokenizer of golang.org/x/net/html does in the data state. It exists because
// that one holds every attribute of a tag in memory: a page that is one tag
// with five million attributes takes a gigabyte there.
type lexer struct {
	b   []byte
	pos int

	kind     lexKind
	textFrom int    // the text before this tag: b[textFrom:textTo]
	textTo   int    //
	name     []byte // of a tag, as written; at most maxTagName bytes
	attrFrom int    // the attributes of a tag: b[attrFrom:attrTo]
	attrTo   int
	attrs    int  // how many there are
	closed   bool // the tag ends in "/>"
}

type lexKind uint8

const (
	lexEnd     lexKind = iota // only text is left, or nothing
	lexStart                  // <name …>
	lexClose                  // </name>
	lexComment                // a comment, doctype, CDATA section or processing instruction
)

const maxTagName = 32

// next goes to the next tag or comment. After lexEnd the last text is set.
func (l *lexer) next() lexKind {
	l.textFrom = l.pos
	for {
		i := bytes.IndexByte(l.b[l.pos:], '<')
		if i < 0 || l.pos+i+1 >= len(l.b) {
			l.pos, l.textTo = len(l.b), len(l.b)
			l.kind = lexEnd
			return lexEnd
		}
		at := l.pos + i
		l.textTo = at
		switch c := l.b[at+1]; {
		case isLetter(c):
			return l.tag(at+1, lexStart)
		case c == '!' || c == '?':
			l.comment(at)
			return l.kind
		case c == '/':
			if at+2 < len(l.b) && isLetter(l.b[at+2]) {
				return l.tag(at+2, lexClose)
			}
			if at+2 >= len(l.b) {
				l.pos = at + 2
				continue
			}
			l.skipTo(at+2, ">")
			return l.kind
		}
		l.pos = at + 1
	}
}

// comment moves behind what begins with <! or <? at the given place.
func (l *lexer) comment(at int) {
	if !bytes.HasPrefix(l.b[at:], []byte("<!--")) {
		l.skipTo(at+2, ">")
		return
	}
	rest := l.b[at+4:]
	l.kind = lexComment
	switch {
	case bytes.HasPrefix(rest, []byte(">")):
		l.pos = at + 5
	case bytes.HasPrefix(rest, []byte("->")):
		l.pos = at + 6
	default:
		l.skipTo(at+4, "-->")
		// The standard also ends a comment at --!>.
		if i := bytes.Index(l.b[at+4:l.pos], []byte("--!>")); i >= 0 {
			l.pos = at + 4 + i + 4
		}
	}
}

// skipTo moves behind the next end mark, or to the end of the document.
func (l *lexer) skipTo(from int, end string) {
	l.kind = lexComment
	if i := bytes.Index(l.b[from:], []byte(end)); i >= 0 {
		l.pos = from + i + len(end)
		return
	}
	l.pos = len(l.b)
}

// tag reads a tag whose name begins at the given place. A tag that the
// document ends in is none.
func (l *lexer) tag(at int, kind lexKind) lexKind {
	b, i := l.b, at
	for i < len(b) && b[i] != '>' && b[i] != '/' && !isSpace(b[i]) {
		i++
	}
	l.name = b[at:min(i, at+maxTagName)]
	l.attrFrom, l.attrs, l.closed = i, 0, false
	for i < len(b) {
		switch {
		case isSpace(b[i]):
			i++
		case b[i] == '>':
			l.attrTo, l.pos, l.kind = i, i+1, kind
			l.closed = b[i-1] == '/'
			return kind
		case b[i] == '/':
			i++
		default:
			l.attrs++
			_, _, i = attribute(b, i)
		}
	}
	l.pos, l.textTo, l.kind = len(b), at-1, lexEnd
	return lexEnd
}

// attribute reads one attribute at i and gives its key, its value as written
// and where it ends.
func attribute(b []byte, i int) (key, value []byte, end int) {
	from := i
	for i < len(b) && b[i] != '>' && b[i] != '/' && !isSpace(b[i]) && (b[i] != '=' || i == from) {
		i++
	}
	key = b[from:i]
	j := i
	for j < len(b) && isSpace(b[j]) {
		j++
	}
	if j >= len(b) || b[j] != '=' {
		return key, nil, i
	}
	for j++; j < len(b) && isSpace(b[j]); j++ {
	}
	if j >= len(b) || b[j] == '>' {
		return key, nil, j
	}
	if q := b[j]; q == '"' || q == '\'' {
		k := bytes.IndexByte(b[j+1:], q)
		if k < 0 {
			return key, b[j+1:], len(b)
		}
		return key, b[j+1 : j+1+k], j + k + 2
	}
	from = j
	for j < len(b) && b[j] != '>' && !isSpace(b[j]) {
		j++
	}
	return key, b[from:j], j
}

// attr gives the value of an attribute of the tag just read, as written, or "".
func (l *lexer) attr(key string) string {
	v, _ := l.lookup(key)
	return string(v)
}

// has says whether the tag just read has an attribute.
func (l *lexer) has(key string) bool {
	_, ok := l.lookup(key)
	return ok
}

// lookup looks at the first maxAttrs attributes of the tag.
func (l *lexer) lookup(key string) ([]byte, bool) {
	i, n := l.attrFrom, 0
	for i < l.attrTo && n < maxAttrs {
		if isSpace(l.b[i]) || l.b[i] == '/' {
			i++
			continue
		}
		var k, v []byte
		k, v, i = attribute(l.b[:l.attrTo], i)
		if len(k) == len(key) && bytes.EqualFold(k, []byte(key)) {
			return v, true
		}
		n++
	}
	return nil, false
}

// skipRaw moves behind the content of an element that holds only text, and
// gives it. The closing tag is next.
func (l *lexer) skipRaw(name atom.Atom) []byte {
	from := l.pos
	if name == atom.Script {
		l.pos = scriptEnd(l.b, from)
	} else {
		l.pos = rawEnd(l.b, from, name.String())
	}
	return l.b[from:l.pos]
}

// rawEnd gives the place of the end tag of that name, or the end.
func rawEnd(b []byte, i int, name string) int {
	for {
		j := bytes.Index(b[i:], []byte("</"))
		if j < 0 {
			return len(b)
		}
		i += j
		if isTagAt(b[i+2:], name) {
			return i
		}
		i += 2
	}
}

// isTagAt says whether b begins with the name and what ends a name.
func isTagAt(b []byte, name string) bool {
	n := len(name)
	return len(b) > n && (b[n] == '>' || b[n] == '/' || isSpace(b[n])) && bytes.EqualFold(b[:n], []byte(name))
}

// scriptEnd gives the place of the end tag of a script. Inside <!-- -->, a
// script tag makes the next end tag not count. As in golang.org/x/net/html, and
// unlike in the standard, a lone < ends that state.
func scriptEnd(b []byte, i int) int {
	const (
		plain = iota
		escaped
		double
	)
	state, dashes := plain, 0
	for i < len(b) {
		if state == plain {
			j := bytes.IndexByte(b[i:], '<')
			if j < 0 {
				return len(b)
			}
			i += j
		}
		c := b[i]
		switch {
		case c == '-':
			dashes++
			i++
			continue
		case c == '>' && dashes >= 2:
			state = plain
		case c != '<':
		case state == plain:
			if bytes.HasPrefix(b[i:], []byte("<!--")) {
				state, dashes = escaped, 2
				i += 4
				continue
			}
			if bytes.HasPrefix(b[i:], []byte("</")) && isTagAt(b[i+2:], "script") {
				return i
			}
		case bytes.HasPrefix(b[i:], []byte("</")):
			if isTagAt(b[i+2:], "script") {
				if state == escaped {
					return i
				}
				state = escaped
			}
		case state == escaped && i+1 < len(b):
			if isTagAt(b[i+1:], "script") {
				state = double
			} else if !isLetter(b[i+1]) {
				state = plain
			}
		}
		dashes = 0
		i++
	}
	return len(b)
}

// id gives one number for a tag name in any case: its atom, or for names
// without one a hash that no atom has.
func (l *lexer) id() uint32 {
	var low [maxTagName]byte
	n := copy(low[:], l.name)
	for i, c := range low[:n] {
		if 'A' <= c && c <= 'Z' {
			low[i] = c + 'a' - 'A'
		}
	}
	if a := atom.Lookup(low[:n]); a != 0 {
		return uint32(a)
	}
	h := uint32(2166136261)
	for _, c := range low[:n] {
		h = (h ^ uint32(c)) * 16777619
	}
	return h | 1<<31
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' }
