package narrow

import (
	"context"
	"strings"
	"unicode/utf8"
)

const (
	spotsMax = 5   // matches that are shown of one long line
	spotGap  = 400 // characters from one to the next of them, at least
	ellipsis = "…"
)

// excerpt gives a matching line, a long one around its first matches, and the byte
// of the line that it begins with. plain says that the match is in what a reader
// sees of it.
func (g *grep) excerpt(ctx context.Context, s string, plain bool) (part string, start int, err error) {
	if forward(s, 0, hitChars) == len(s) {
		return s, 0, nil
	}
	text := s
	if plain {
		text = g.view.of(s)
	}
	var spots []int // in s
	for from := 0; from < len(text) && len(spots) < spotsMax; {
		at, end, err := g.p.find(ctx, text, from)
		if err != nil {
			return "", 0, err
		}
		if at < 0 {
			break
		}
		if from = max(forward(text, at, spotGap), end); plain {
			at = g.view.origin(s, text, at)
		}
		spots = append(spots, at)
	}
	part, start = cutOut(s, spots)
	return part, start, nil
}

// cutOut gives hitChars characters of s in all, in equal parts around each of
// the spots, and where the first of them begins.
func cutOut(s string, spots []int) (part string, start int) {
	if len(spots) == 0 {
		spots = []int{0}
	}
	share := hitChars / len(spots)
	var b strings.Builder
	end := -1 // of what was written
	start = len(s)
	for _, at := range spots {
		from := back(s, at, share/4)
		if from > 0 {
			from = wordStart(s, from, at)
		}
		to := forward(s, from, share)
		if to < len(s) {
			to = wordEnd(s, to, at)
		} else if len(spots) == 1 {
			if from = back(s, to, share); from > 0 {
				from = wordStart(s, from, at)
			}
		}
		switch {
		case from <= end:
			from = end
		case from > 0:
			b.WriteString(ellipsis)
		}
		if to > from {
			b.WriteString(s[from:to])
			end, start = to, min(start, from)
		}
	}
	if end < len(s) {
		b.WriteString(ellipsis)
	}
	return b.String(), start
}

// clip gives the first n characters of s, or the last n.
func clip(s string, n int, tail bool) string {
	to := forward(s, 0, n)
	switch {
	case to == len(s):
		return s
	case tail:
		from := back(s, len(s), n)
		return ellipsis + s[wordStart(s, from, len(s)):]
	default:
		return s[:wordEnd(s, to, 0)] + ellipsis
	}
}

// wordLook is how far a cut may move, so that it falls between words.
const wordLook = 40

// wordStart moves a cut at from to the next beginning of a word, not beyond at.
func wordStart(s string, from, at int) int {
	if from == 0 || s[from-1] == ' ' {
		return from
	}
	if i := strings.IndexByte(s[from:min(from+wordLook, at)], ' '); i >= 0 {
		return from + i + 1
	}
	return from
}

// wordEnd moves a cut at to back to the end of a word, not before at.
func wordEnd(s string, to, at int) int {
	if to < len(s) && s[to] == ' ' {
		return to
	}
	low := max(to-wordLook, min(at+1, to))
	if i := strings.LastIndexByte(s[low:to], ' '); i >= 0 {
		return low + i
	}
	return to
}

// forward gives the place n characters behind at, or the end of s.
func forward(s string, at, n int) int {
	for ; n > 0 && at < len(s); n-- {
		_, size := utf8.DecodeRuneInString(s[at:])
		at += size
	}
	return at
}

// back gives the place n characters before at, or the beginning of s.
func back(s string, at, n int) int {
	for ; n > 0 && at > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:at])
		at -= size
	}
	return at
}
