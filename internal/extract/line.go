package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// oneLine cleans a text from a stranger for a place where one line is wanted:
// white space is folded, and control characters, terminal escapes, direction
// overrides and what else cannot be seen is left out. It is cut to limit
// characters, with an ellipsis when something was lost; 0 is no limit.
func oneLine(s string, limit int) string {
	var b strings.Builder
	count, space := 0, false
	for i := 0; i < len(s); {
		if s[i] == 0x1b {
			i += escapeLength(s[i:])
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		switch {
		case unicode.IsSpace(r):
			space = b.Len() > 0
			continue
		case invisible(r):
			continue
		}
		need := 1
		if space {
			need = 2
		}
		if limit > 0 && count+need > limit {
			return ellipsis(b.String(), count < limit)
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
		count += need
	}
	return b.String()
}

// ellipsis puts the sign at the end of a text that was cut, in the place of its
// last character when there is no room.
func ellipsis(s string, room bool) string {
	if !room {
		_, n := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-n]
	}
	return strings.TrimRight(s, " ") + "…"
}

// invisible says whether a character has no place in a line of text: control
// and format characters, tags, private and unassigned ones. The joiners that
// Persian and emoji are spelled with stay.
func invisible(r rune) bool {
	switch {
	case r == '\u200c' || r == '\u200d':
		return false
	case r == utf8.RuneError:
		return false
	case r >= 0x115f && r <= 0x1160, r == 0x3164, r == 0xffa0: // Hangul fillers
		return true
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs) || r >= 0xe0000 && r <= 0xe0fff
}

// escapeLength gives the length of the terminal escape sequence that s begins
// with.
func escapeLength(s string) int {
	if len(s) < 2 {
		return len(s)
	}
	switch s[1] {
	case '[': // parameters, then one letter
		for i := 2; i < len(s) && i < 64; i++ {
			if s[i] >= 0x40 && s[i] <= 0x7e {
				return i + 1
			}
			if s[i] < 0x20 || s[i] > 0x7e {
				return i
			}
		}
		return 2
	case ']', 'P', '_', '^', 'X': // a string up to a bell or ESC \
		for i := 2; i < len(s) && i < 4096; i++ {
			if s[i] == 0x07 {
				return i + 1
			}
			if s[i] == 0x1b {
				if i+1 < len(s) && s[i+1] == '\\' {
					return i + 2
				}
				return i
			}
		}
		return 2
	}
	return 1
}
