package narrow

import (
	"bytes"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"sift.build/sift/internal/sift"
)

// Bounds on what names a section, in characters.
const (
	wantMax = 1000
	lookMax = 2000 // of each heading looked at
)

// want is the name of a heading, as it was asked for.
type want struct {
	text    string   // as written, in one line
	anchors []string // what its anchor may be
	name    name     // of text
	letters []byte   // of name
	clipped bool     // it ended in …: the rest was cut off where the caller has it from
	trail   []want   // of "Parent > Child": the parts; nil for any other
	reader  reader
}

func parseWant(s string) (*want, error) {
	if n := utf8.RuneCountInString(s); n > wantMax {
		return nil, sift.Fail(sift.CodeInvalid, "section has %d characters, and at most %d can be looked for; the first words of a heading will do", n, wantMax)
	}
	w := &want{reader: reader{fold: cases.Fold()}}
	w.parse(s)
	if w.text == "" || len(w.name.key) == 0 && len(w.anchors) == 0 {
		return nil, sift.Fail(sift.CodeInvalid, "section names no heading; give the text of one, or its anchor, or leave it out")
	}
	for _, part := range trailOf(w.text) {
		p := want{reader: w.reader}
		if p.parse(part); len(p.name.key) == 0 {
			w.trail = nil
			break
		}
		w.trail = append(w.trail, p)
	}
	return w, nil
}

// trailMax is how many headings a trail may name.
const trailMax = 20

// trailOf gives the parts of a trail, nil when s is none. First as Grep writes
// one: a heading may have an arrow in it, "Read more ->".
func trailOf(s string) []string {
	parts := strings.Split(s, " > ")
	if len(parts) == 1 {
		parts = strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(">›»→", r) })
	}
	if len(parts) < 2 {
		parts = strings.Split(s, "/")
	}
	if len(parts) < 2 || len(parts) > trailMax {
		return nil
	}
	return parts
}

func (w *want) parse(s string) {
	w.text = oneLine(s)
	w.clipped = strings.HasSuffix(w.text, ellipsis) || strings.HasSuffix(w.text, "...")
	anchor := w.text
	if i := strings.IndexByte(anchor, '#'); i > 0 && (strings.HasPrefix(anchor, "http://") || strings.HasPrefix(anchor, "https://")) {
		anchor = anchor[i:] // the address of the section
	}
	for _, a := range []string{anchor, strings.TrimPrefix(anchor, "#")} {
		if a == "" {
			continue
		}
		w.anchors = append(w.anchors, a)
		if plain, err := url.PathUnescape(a); err == nil && plain != a {
			w.anchors = append(w.anchors, plain)
		}
	}
	w.name = w.reader.name(nil, strings.TrimLeft(w.text, "# ")) // as Markdown writes a heading
	for key := w.name.key; len(key) > 0; {
		c, size := utf8.DecodeRune(key)
		if isLetter(c) {
			w.letters = append(w.letters, key[:size]...)
		}
		key = key[size:]
	}
}

// class says how a heading answers to a name, best first.
type class int

const (
	byAnchor   class = iota
	byText           // to the letter
	byName           // but for case, space, signs and the ends
	byRest           // one of them has a number, and the other has not
	byNumber         // the number is all that is asked for
	byTrail          // with headings around it
	byLetters        // with nothing between the letters
	byPrefix         // it begins so, and no other
	byContents       // it has this in it, and no other
	byNothing
)

// finding is the best heading that answers to a name: the first in the best
// class.
type finding struct {
	index  int // -1: none
	others int // further ones in the same class

	// When none does: the headings that would, were they alone, and how many there
	// are.
	partial  []int
	partials int
}

// partialMax is how many headings are named that a name is only a part of.
const partialMax = 10

// find looks for the heading that is meant. It goes over the headings once.
func (w *want) find(heads []sift.Heading) finding {
	found, best := finding{index: -1}, byNothing
	part, partOf, alike := byNothing, "", true // whether all that w is a part of have one name
	var n name
	var around []frame
	for i := range heads {
		h := &heads[i]
		for len(around) > 0 && around[len(around)-1].level >= levelOf(*h) {
			around = around[:len(around)-1]
		}
		c := w.exactly(h)
		if c == byNothing && best > byText {
			n = w.reader.name(n.key[:0], h.Text)
			c = w.nearly(&n, h, around)
		}
		around = append(around, frame{level: levelOf(*h), head: h})
		switch {
		case c == byPrefix, c == byContents:
			if c < part {
				part, partOf, alike = c, string(n.key), true
				found.partial, found.partials = nil, 0
			}
			if c == part {
				alike = alike && partOf == string(n.key)
				if found.partials++; len(found.partial) < partialMax {
					found.partial = append(found.partial, i)
				}
			}
		case c < best:
			best, found.index, found.others = c, i, 0
		case c == best && c != byNothing:
			found.others++
		}
	}
	if found.index < 0 && found.partials > 0 && alike {
		found.index, found.others = found.partial[0], found.partials-1
	}
	return found
}

func (w *want) exactly(h *sift.Heading) class {
	if h.Anchor != "" {
		if slices.Contains(w.anchors, h.Anchor) {
			return byAnchor
		}
	}
	if h.Text == w.text {
		return byText
	}
	return byNothing
}

// nearly says how a heading with name n answers to w, if not exactly.
func (w *want) nearly(n *name, h *sift.Heading, around []frame) class {
	if c := w.name.like(n); c != byNothing {
		return c
	}
	if w.trail != nil && w.leadsTo(n, h, around) {
		return byTrail
	}
	switch {
	case len(n.key) == 0 && h.Anchor == "", len(w.name.key) == 0:
		return byNothing
	case w.spells(n.key), w.spells(w.reader.anchor(h.Anchor)):
		return byLetters
	case bytes.HasPrefix(n.key, w.name.key), bytes.HasPrefix(n.rest(), w.name.key):
		return byPrefix
	case len(w.name.key) >= 3 && bytes.Contains(n.key, w.name.key): // one character of Chinese, three of Latin
		return byContents
	}
	return byNothing
}

// frame is a heading around the one looked at. Its name is made when it is asked
// for, once.
type frame struct {
	level int
	head  *sift.Heading
	name  *name
}

// leadsTo says that a heading is the last of the trail, and that the others
// stand around it, in this order.
func (w *want) leadsTo(n *name, h *sift.Heading, around []frame) bool {
	left := w.trail
	if !left[len(left)-1].meets(n, h) {
		return false
	}
	left = left[:len(left)-1]
	for i := len(around) - 1; i >= 0 && len(left) > 0; i-- {
		f := &around[i]
		if f.name == nil {
			made := w.reader.name(nil, f.head.Text)
			f.name = &made
		}
		if left[len(left)-1].meets(f.name, f.head) {
			left = left[:len(left)-1]
		}
	}
	return len(left) == 0
}

// meets says that a heading may be what one part of a trail means.
func (w *want) meets(n *name, h *sift.Heading) bool {
	return w.exactly(h) != byNothing || w.name.like(n) != byNothing || w.clipped && bytes.HasPrefix(n.key, w.name.key)
}

// name is a heading's text without what two spellings of it differ in.
type name struct {
	key    []byte
	number []byte // that it begins with: 2.1
	word   []byte // in front of the number: chapter
	behind int    // where what follows the number begins in key
}

// rest gives the name without its number.
func (n *name) rest() []byte { return n.key[n.behind:] }

// like compares two names, of what is asked for and of a heading.
func (n *name) like(h *name) class {
	switch {
	case len(n.key) == 0 || len(h.key) == 0:
		return byNothing
	case bytes.Equal(n.key, h.key):
		return byName
	case len(h.word) > 0 && bytes.Equal(n.key, h.number): // B, of appendix B
		return byNumber
	case (len(n.number) == 0) != (len(h.number) == 0):
		if len(n.rest()) > 0 && bytes.Equal(n.rest(), h.rest()) {
			return byRest
		}
	case len(n.number) > 0 && bytes.Equal(n.number, h.number) && (len(n.word) == 0 || len(h.word) == 0 || bytes.Equal(n.word, h.word)):
		if bytes.Equal(n.rest(), h.rest()) { // "2.1. Install" and "2.1 Install"
			return byName
		}
		if len(n.rest()) == 0 {
			return byNumber
		}
	}
	return byNothing
}

// reader makes names.
type reader struct {
	fold cases.Caser
	view view
	buf  []byte
}

// name gives the name of s, its key in memory that is handed in.
func (r *reader) name(buf []byte, s string) name {
	n := name{key: r.key(buf, s)}
	n.split()
	return n
}

func (r *reader) key(buf []byte, s string) []byte {
	if len(s) > lookMax {
		s = s[:forward(s, 0, lookMax)]
	}
	s = r.view.of(s)
	if !isASCII(s) {
		s = norm.NFKC.String(r.fold.String(norm.NFKC.String(s)))
	}
	gap := false
	for _, c := range s {
		switch {
		case unicode.IsSpace(c), unicode.IsControl(c):
			gap = true
			continue
		case c >= utf8.RuneSelf && unicode.Is(unicode.Cf, c): // joiners, marks of direction
			continue
		case c >= 'A' && c <= 'Z':
			c |= 0x20
		}
		if gap && len(buf) > 0 {
			buf = append(buf, ' ')
		}
		gap = false
		buf = utf8.AppendRune(buf, c)
	}
	if bare := bytes.TrimFunc(buf, isEdge); len(bare) > 0 {
		buf = append(buf[:0], bare...)
	}
	return buf
}

// isEdge says that c counts for nothing at the ends of a heading: a full stop, a
// quotation mark, an emoji, but not the sign in C# or 5 %.
func isEdge(c rune) bool {
	switch c {
	case '#', '%', '@', '&', '/', '*':
		return false
	case '<', '>', 0xfe0f: // of an arrow; what makes an emoji of the sign before it
		return true
	}
	return c == ' ' || c >= 0x2190 && c < 0x2200 || // arrows
		unicode.IsPunct(c) || unicode.Is(unicode.So, c)
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// anchor makes a key of an anchor. It is gone with the next.
func (r *reader) anchor(s string) []byte {
	if s == "" {
		return nil
	}
	r.buf = r.key(r.buf[:0], s)
	return r.buf
}

// spells says that key has the letters that are asked for, and no others.
func (w *want) spells(key []byte) bool {
	left := w.letters
	for len(key) > 0 {
		c, size := rune(key[0]), 1
		if c >= utf8.RuneSelf {
			c, size = utf8.DecodeRune(key)
		}
		if isLetter(c) {
			if !bytes.HasPrefix(left, key[:size]) {
				return false
			}
			left = left[size:]
		}
		key = key[size:]
	}
	return len(left) == 0 && len(w.letters) > 0
}

// isLetter says that c counts where only letters do: digits and symbols too, such
// as the signs of C++ and C#.
func isLetter(c rune) bool {
	if c < utf8.RuneSelf {
		return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || strings.ContainsRune("#%@&+$<=>^`|~", c)
	}
	return unicode.In(c, unicode.L, unicode.N, unicode.M, unicode.S)
}

// numberWords may stand in front of a heading's number.
var numberWords = [...]string{"chapter", "section", "part", "appendix", "article", "step", "annex"}

// split finds the number that a name begins with: 2.1, 2.1.3., a.1, b), iv., and
// what they number, such as chapter.
func (n *name) split() {
	k := n.key
	at := 0
	for _, w := range numberWords {
		if bytes.HasPrefix(k, []byte(w)) && len(k) > len(w) && k[len(w)] == ' ' {
			at = len(w) + 1
		}
	}
	end := number(k[at:], at > 0)
	if end == 0 {
		return
	}
	n.number = k[at : at+end]
	if at > 0 {
		n.word = k[:at-1]
	}
	n.behind = len(k) - len(bytes.TrimLeft(k[at+end:], " -–—:.)、．"))
}

// number gives the length of the number at the beginning of k, 0 when there is
// none. named says that a word in front of it says that it is one.
func number(k []byte, named bool) int {
	i := digits(k)
	if i == 0 && len(k) > 0 && k[0] >= 'a' && k[0] <= 'z' {
		for i < len(k) && i < 8 && isRoman(k[i]) {
			i++
		}
		i = max(i, 1)
		named = named || i < len(k) && (k[i] == '.' || k[i] == ')') // or any letter would be one
	} else {
		named = true
	}
	if i == 0 || !named {
		return 0
	}
	for i+1 < len(k) && k[i] == '.' {
		d := digits(k[i+1:])
		if d == 0 {
			break
		}
		i += 1 + d
	}
	if i == len(k) {
		return i
	}
	if c, _ := utf8.DecodeRune(k[i:]); !strings.ContainsRune(" .):、．", c) {
		return 0
	}
	if k[i] == '.' && i+1 < len(k) && k[i+1] != ' ' { // 3.x, e.g.
		return 0
	}
	return i
}

func isRoman(c byte) bool { return c == 'i' || c == 'v' || c == 'x' || c == 'l' || c == 'c' }

func digits(k []byte) int {
	i := 0
	for i < len(k) && k[i] >= '0' && k[i] <= '9' {
		i++
	}
	return i
}
