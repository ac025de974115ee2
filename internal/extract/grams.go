package extract

import (
	"hash/maphash"
	"strings"
	"unicode"

	"golang.org/x/net/html"

	"sift.build/sift/internal/dom"
)

// grams are the hashes of a text's runs of four words: what is needed to know
// it again.
type grams struct {
	seed maphash.Seed
	set  map[uint64]bool // whether it was met
}

// maxGrams is how many are kept: the beginning of a text will do.
const maxGrams = 50_000

func (g *grams) learn(n *html.Node) {
	g.seed, g.set = maphash.MakeSeed(), map[uint64]bool{}
	g.walk(n, func(h uint64) bool {
		g.set[h] = false
		return len(g.set) < maxGrams
	})
}

// known counts how many of them stand in another text.
func (g *grams) known(n *html.Node) int {
	count := 0
	g.walk(n, func(h uint64) bool {
		if met, ok := g.set[h]; ok && !met {
			g.set[h] = true
			count++
		}
		return true
	})
	return count
}

func (g *grams) walk(n *html.Node, f func(uint64) bool) {
	w := gramWriter{seed: g.seed}
	for c := n; c != nil; c = dom.Next(c, n) {
		if c.Type == html.TextNode && !w.words(c.Data, f) {
			return
		}
	}
}

// A gramWriter makes hashes of four words in a row. Characters of scripts
// without spaces count as words.
type gramWriter struct {
	seed maphash.Seed
	last [4]uint64
	n    int
}

func (w *gramWriter) words(s string, f func(uint64) bool) bool {
	from := -1
	for i, c := range s {
		wide := c >= 0x2e80 && unicode.IsLetter(c) || c >= 0x0e00 && c <= 0x0eff
		if !wide && (unicode.IsLetter(c) || unicode.IsDigit(c)) {
			if from < 0 {
				from = i
			}
			continue
		}
		if from >= 0 {
			if !w.word(s[from:i], f) {
				return false
			}
			from = -1
		}
		if wide && !w.word(string(c), f) {
			return false
		}
	}
	return from < 0 || w.word(s[from:], f)
}

func (w *gramWriter) word(s string, f func(uint64) bool) bool {
	h := maphash.String(w.seed, strings.ToLower(s))
	w.last[w.n%4] = h
	w.n++
	if w.n < 4 {
		return true
	}
	sum := uint64(0)
	for i := range 4 {
		sum = sum*0x9e3779b97f4a7c15 + w.last[(w.n+i)%4]
	}
	return f(sum)
}
