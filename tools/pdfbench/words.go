package main

import (
	"regexp"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// words says how often each word was found.
type words map[string]int

func (w words) total() int {
	n := 0
	for _, k := range w {
		n += k
	}
	return n
}

// common is how many words both found, each as often as the one who found it
// less often.
func (w words) common(other words) int {
	n := 0
	for word, k := range w {
		n += min(k, other[word])
	}
	return n
}

// marker is what sift puts where a page begins.
func marker() *regexp.Regexp { return regexp.MustCompile(`(?m)^\[page \d+\]$`) }

// pages is how many pages sift says that it has read.
func pages(text string) int { return len(marker().FindAllString(text, -1)) }

// count splits a text into words: runs of letters and digits, in the form that
// makes ligatures and wide letters plain ones (NFKC). Characters of scripts
// that put no spaces between words count one by one, so that it does not matter
// where lines end. Hyphens within words and at the ends of lines are left out,
// because the programs differ in which they keep and neither is wrong; and so
// are invisible characters, of which those that steer the direction of text part
// words.
func count(text string) words {
	found := words{}
	runes := []rune(norm.NFKC.String(marker().ReplaceAllString(text, "")))
	var word []rune
	end := func() {
		if len(word) > 0 {
			found[string(word)]++
			word = word[:0]
		}
	}
	for i := 0; i < len(runes); i++ {
		switch r := runes[i]; {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana):
			end()
			found[string(r)]++
		case unicode.IsLetter(r), unicode.IsMark(r), unicode.IsDigit(r):
			word = append(word, r)
		case hyphen(r) && len(word) > 0:
			if j := afterHyphen(runes, i+1); j > 0 {
				i = j - 1 // the word goes on
			} else {
				end()
			}
		case unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Bidi_Control, r):
		default:
			end()
		}
	}
	end()
	return found
}

func hyphen(r rune) bool { return r == '-' || r == '\u2010' || r == '\u2011' || r == '\u00ad' }

// afterHyphen gives where a word goes on after a hyphen: at once, or at the
// beginning of the next line; 0: not at all.
func afterHyphen(runes []rune, i int) int {
	lines := 0
	for ; i < len(runes) && unicode.IsSpace(runes[i]) && runes[i] != '\f'; i++ {
		if runes[i] == '\n' {
			lines++
		} else if lines == 0 {
			return 0 // a dash within a line
		}
	}
	if i < len(runes) && unicode.IsLetter(runes[i]) && lines <= 1 {
		return i
	}
	return 0
}
