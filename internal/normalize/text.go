package normalize

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	zwnj = '\u200c'
	zwj  = '\u200d'
)

// The classes of a byte that the quick look at a text cares about.
const (
	plain   = iota
	space   // ' '
	white   // other white space
	control // C0 controls and DEL
	lead    // first byte of a sequence that may be an invisible character
	wide    // any other byte above ASCII
)

var byteClass = func() (t [256]uint8) {
	for i := range t {
		switch {
		case i == ' ':
			t[i] = space
		case i == '\t' || i == '\n' || i == '\r' || i == '\f':
			t[i] = white
		case i < ' ' || i == 0x7f:
			t[i] = control
		case i >= 0x80:
			t[i] = wide
		}
	}
	// U+0080–00BF, U+034F, U+061C, U+1160 and U+17B4 and U+180B, U+2000–206F,
	// U+3000 and U+3164 and U+302A, the BMP's private use area, U+FE00–FFFF,
	// U+1D173, planes 14 to 16.
	for _, b := range []byte{0xc2, 0xcd, 0xd8, 0xe1, 0xe2, 0xe3, 0xee, 0xef, 0xf0, 0xf3, 0xf4} {
		t[b] = lead
	}
	return t
}()

// text gives s as the normal form has it: white space collapsed (outside of
// pre), invisible characters gone. What it removes is counted in p.res.
func (p *pass) text(s string, pre bool) string {
	// Most texts are clean, or nothing but indentation.
	ok, ascii, prev := true, true, uint8(plain)
	for i := 0; i < len(s); i++ {
		c := byteClass[s[i]]
		switch c {
		case plain:
		case space:
			ok = ok && (pre || prev != space)
		case white:
			ok = ok && pre && s[i] != '\r' && s[i] != '\f'
		case control:
			ok = false
		case lead:
			ok, ascii = false, false
		case wide:
			ascii = false
		}
		if !ok {
			break
		}
		prev = c
	}
	if ok && (ascii || utf8.ValidString(s)) {
		return s
	}
	if !pre {
		if ws := strings.TrimLeft(s, " \t\r\n\f"); ws == "" {
			if strings.IndexByte(s, '\n') >= 0 {
				return "\n"
			}
			return " "
		}
	}
	return p.slowText(s, pre)
}

func (p *pass) slowText(s string, pre bool) string {
	b := make([]byte, 0, len(s))
	var prev rune // the last character written that is not white space
	gap, newline := false, false
	icons := true // nothing but private use characters: an icon font
	quiet := 0    // invisible characters in a row that are not counted one by one
	var o oddities
	for i := 0; i < len(s); {
		r, size := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(s[i:])
		}
		at := i
		i += size
		if r < 0x80 {
			if c := byteClass[r]; c == space || c == white {
				if pre {
					switch {
					case r == '\r' && i < len(s) && s[i] == '\n', r == '\f':
					case r == '\r':
						b = append(b, '\n')
					default:
						b = append(b, byte(r))
					}
					prev = 0
					continue
				}
				gap = true
				newline = newline || r == '\n'
				continue
			} else if c == control {
				p.res.Invisible++
				continue
			}
		} else if !simple(r) {
			before := prev
			if gap {
				before = 0
			}
			k := p.odd(s, at, i, before, &o)
			if k == dropIt && quietly(r) {
				if quiet++; quiet == quietMax { // more than any word needs: somebody counts with them
					p.res.Invisible += quiet
				} else if quiet > quietMax {
					p.res.Invisible++
				}
			} else {
				quiet = 0
			}
			switch {
			case k == dropIt:
				continue
			case k == spaceIt, k == newlineIt:
				if pre {
					if k == newlineIt {
						b = append(b, '\n')
					} else {
						b = append(b, ' ')
					}
					prev = 0
					continue
				}
				gap = true
				newline = newline || k == newlineIt
				continue
			default: // keep the character, or more that follow it
				i = at + max(int(k), size)
			}
		}
		quiet = 0
		icons = icons && isPrivateUse(r)
		if gap {
			if newline {
				if !(isCJK(prev) && isCJK(r)) {
					b = append(b, '\n')
				}
			} else {
				b = append(b, ' ')
			}
			gap, newline = false, false
		}
		b = utf8.AppendRune(b, r)
		b = append(b, s[at+size:i]...)
		prev = r
	}
	if icons && prev != 0 {
		b, gap = b[:0], true
	}
	if gap {
		if newline {
			b = append(b, '\n')
		} else {
			b = append(b, ' ')
		}
	}
	if p.passages != nil {
		p.spelled(&o)
	}
	return string(b)
}

// simple says that r is an ordinary letter, sign or emoji: nothing that odd
// needs to look at.
func simple(r rune) bool {
	switch {
	case r < 0xc0:
		return r > 0xa0 && r != 0xad
	case r == 0x34f, r == 0x61c, r == utf8.RuneError:
		return false
	case r < 0x115f:
		return true
	case r < 0x2000:
		return r > 0x1160 && r != 0x1680 && r != 0x17b4 && r != 0x17b5 && (r < 0x180b || r > 0x180f)
	case r < 0x2070:
		return (r > 0x200f && r < 0x2028) || (r > 0x202f && r < 0x205f)
	case r < 0xfe00:
		return r != 0x3164 && (r < 0xfdd0 || r > 0xfdef)
	case r < 0x10000:
		return r > 0xfe0f && r != 0xfeff && r != 0xffa0 && r < 0xfff9
	case r >= 0x1d173 && r <= 0x1d17a:
		return false
	case r == 0x1f3f4: // a flag may follow
		return false
	}
	return r < 0xe0000 && r&0xfffe != 0xfffe
}

// verdict is what to do with an odd character: one of the constants, or the
// number of bytes to keep as they are.
type verdict int

const (
	keepIt    verdict = 0
	dropIt    verdict = -1
	spaceIt   verdict = -2
	newlineIt verdict = -3
)

// odd judges the character s[at:end]. prev is the visible character before it.
func (p *pass) odd(s string, at, end int, prev rune, o *oddities) verdict {
	r, _ := utf8.DecodeRuneInString(s[at:])
	next, _ := utf8.DecodeRuneInString(s[end:]) // RuneError at the end
	switch {
	case r == utf8.RuneError: // U+FFFD itself, or a byte that is not UTF-8
		return keepIt
	case r == 0x85, r == 0x2028, r == 0x2029:
		return newlineIt
	case r == 0xa0, r == 0x1680, r >= 0x2000 && r <= 0x200a, r == 0x202f, r == 0x205f:
		return spaceIt
	case r == 0xad, r == 0x200b, r == 0x2060, r == 0xfeff, // break hints, byte-order mark
		r == 0x200e, r == 0x200f, r == 0x61c: // direction marks
		return dropIt
	case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
		p.res.Bidi++
		if p.passages != nil {
			p.passages.bidi = counted(p.passages.bidi, r)
		}
		return dropIt
	case r == zwnj:
		if shapes(prev) && shapes(next) {
			return keepIt
		}
	case r == zwj:
		if shapes(prev) || (isEmoji(prev) || prev == 0xfe0f) && isEmoji(next) {
			return keepIt
		}
	case r == 0xfe0f || r == 0xfe0e: // emoji or text presentation
		if isEmoji(prev) || prev == '#' || prev == '*' || prev >= '0' && prev <= '9' {
			return keepIt
		}
	case r >= 0xfe00 && r < 0xfe0e:
		if unicode.In(prev, unicode.Han, unicode.Sm, unicode.Myanmar, unicode.Phags_Pa, unicode.Manichaean) {
			return keepIt
		}
	case r >= 0xe0100 && r <= 0xe01ef: // ideographic variants
		if unicode.Is(unicode.Han, prev) {
			return keepIt
		}
	case r >= 0x180b && r <= 0x180d, r == 0x180f: // Mongolian variants
		if unicode.Is(unicode.Mongolian, prev) {
			return keepIt
		}
	case r == 0x115f, r == 0x1160: // Hangul fillers
		if isJamo(prev) || isJamo(next) {
			return keepIt
		}
	case r == 0x1f3f4:
		if n := flagSequence(s[end:]); n > 0 {
			return verdict(end - at + n)
		}
		return keepIt
	case r >= 0xe0000 && r <= 0xe007f:
		p.res.TagChars++
		if p.passages != nil {
			o.tagChars++
			if len(o.tags) < 4*passageMax && r >= 0xe0020 && r < 0xe007f {
				o.tags = append(o.tags, byte(r-0xe0000))
			}
		}
		return dropIt
	}
	p.res.Invisible++
	if p.passages != nil {
		p.passages.odd = counted(p.passages.odd, r)
		switch {
		case len(o.bytes) >= 4*passageMax:
		case r >= 0xfe00 && r <= 0xfe0f:
			o.bytes = append(o.bytes, byte(r-0xfe00))
		case r >= 0xe0100 && r <= 0xe01ef:
			o.bytes = append(o.bytes, byte(r-0xe0100+16))
		}
	}
	return dropIt
}

// quietMax is how many characters in a row that ordinary pages have one by one
// are counted after all.
const quietMax = 4

// quietly says that r goes uncounted when it stands alone.
func quietly(r rune) bool {
	return r == 0xad || r == 0x200b || r == 0x2060 || r == 0xfeff || r == 0x200e || r == 0x200f || r == 0x61c
}

// oddities are what the invisible characters of one text spell.
type oddities struct {
	tags     []byte // tag characters as ASCII
	tagChars int
	bytes    []byte // variation selectors as bytes
}

func counted(m map[rune]int, r rune) map[rune]int {
	if m == nil {
		m = make(map[rune]int)
	}
	m[r]++
	return m
}

// spelled adds what the invisible characters of one text spell to the list.
func (p *pass) spelled(o *oddities) {
	if o.tagChars > 0 {
		p.passage(string(o.tags), o.tagChars, HowTags)
	}
	if s := smuggled(o.bytes); s != "" {
		p.passage(s, len(o.bytes), HowZeroWidth)
	}
}

// flagSequence gives the length of the tag characters at the start of s when
// together with the black flag before them they are the flag of a part of the
// United Kingdom, of Texas and the like; else 0. Nothing else is let through:
// six free letters a flag would be an alphabet to smuggle with.
func flagSequence(s string) int {
	var id [6]byte
	n := 0
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		if r == 0xe007f {
			switch string(id[:n]) {
			case "gbeng", "gbsct", "gbwls", "gbnir":
				return i
			}
			if n == 4 && id[0] == 'u' && id[1] == 's' {
				return i
			}
			return 0
		}
		if r < 0xe0061 || r > 0xe007a || n == len(id) {
			return 0
		}
		id[n] = byte(r - 0xe0000)
		n++
	}
	return 0
}

// shapes says that r is of a script in which a joiner or non-joiner changes
// the spelling: Arabic (so Persian), Syriac, N'Ko, Mongolian and the scripts
// of India.
func shapes(r rune) bool {
	return r >= 0x600 && r < 0xe00 || r >= 0x1000 && r < 0x10a0 || r >= 0x1780 && r < 0x18b0 || r >= 0xfb50 && r < 0xfe00 || r >= 0xfe70 && r < 0xfeff ||
		r >= 0xa8e0 && r < 0xa900 || r >= 0x11000 && r < 0x11a00
}

func isEmoji(r rune) bool {
	switch {
	case r < 0xa9:
		return false
	case r == 0xa9, r == 0xae, r == 0x203c, r == 0x2049, r == 0x3030, r == 0x303d, r == 0x3297, r == 0x3299:
		return true
	case r >= 0x1f000:
		return r < 0x1fb00
	}
	return r >= 0x2100 && r < 0x2c00
}

func isJamo(r rune) bool {
	return r >= 0x1100 && r < 0x1200 && r != 0x115f && r != 0x1160 || r >= 0xa960 && r < 0xa980 || r >= 0xd7b0 && r < 0xd800
}

func isPrivateUse(r rune) bool { return r >= 0xe000 && r < 0xf900 || r >= 0xf0000 }

// isCJK says that r is of a script that is written without spaces, so that a
// line break of the source between two of them means nothing.
func isCJK(r rune) bool {
	switch {
	case r < 0x2e80:
		return false
	case r < 0xa4d0:
		return r < 0x3130 || r > 0x318f // Hangul is written with spaces
	case r >= 0xf900 && r < 0xfb00, r >= 0xfe30 && r < 0xfe50, r >= 0xff00 && r < 0xffa0, r >= 0xffe0 && r < 0xfff0:
		return true
	}
	return r >= 0x1b000 && r < 0x1b300 || r >= 0x20000 && r < 0x32000
}

// line gives s as one clean line, for an attribute's text and for TeX.
func (p *pass) line(s string) string {
	s = p.text(s, false)
	if strings.IndexByte(s, '\n') >= 0 {
		s = strings.ReplaceAll(s, "\n", " ")
	}
	return strings.Trim(s, " ")
}
