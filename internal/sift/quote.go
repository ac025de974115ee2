package sift

import (
	"strconv"
	"unicode/utf8"
)

// QuoteMax is how much of a caller's own word Quote shows, in characters.
const QuoteMax = 40

// Quote shows a caller's own word, cut, with nothing in it that a terminal or
// a log would act on.
func Quote(s string) string {
	if utf8.RuneCountInString(s) > QuoteMax {
		s = string([]rune(s)[:QuoteMax]) + "…"
	}
	return strconv.QuoteToGraphic(s)
}
