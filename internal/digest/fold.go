package digest

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// foldUnicode gives s in lower case and in one spelling: full-width and
// half-width forms, ligatures and decomposed accents as their plain
// characters.
func foldUnicode(s string) string {
	return strings.Map(func(r rune) rune {
		switch r = unicode.ToLower(r); r {
		case 'ё':
			return 'е' // Russian writes it as it likes
		case zeroWidthJoiner, zeroWidthNonJoiner, '\u00ad':
			return -1
		case '’':
			return '\''
		}
		return r
	}, norm.NFKC.String(s))
}

// bare takes the accents off the letters of Latin, Greek and Arabic: people
// leave them out when they ask. Those of other scripts make other letters.
func bare(s string) string {
	ascii := true
	for i := range len(s) {
		ascii = ascii && s[i] < 0x80
	}
	if ascii {
		return s
	}
	base := rune(0)
	return norm.NFC.String(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			if unicode.In(base, unicode.Latin, unicode.Greek, unicode.Arabic) {
				return -1
			}
			return r
		}
		base = r
		return r
	}, norm.NFD.String(s)))
}
