package pdftest

import (
	"math/rand/v2"
	"strings"
)

// Book is a document of that many pages, each set as those of Paper are: its
// chapters have the parts of Paper in the same order, and its words in another.
// The seed decides it.
func Book(pages int, seed uint64) []byte {
	random := rand.New(rand.NewPCG(seed, 1))
	s := &setter{doc: New(), metrics: map[string]metrics{}}
	s.doc.Compact = true
	s.doc.Info = Info{Title: "Collected papers", Creator: "pdftest", Producer: "pdftest", Created: "D:20240514093000Z"}
	s.facts.Ruled, s.facts.Unruled = paperTables()
	pool := bookWords()
	s.startPage()
	for s.facts.Pages <= pages {
		s.source(otherWords(random, pool))
	}
	s.doc.pages = s.doc.pages[:pages]
	s.doc.Outline = upTo(s.doc.Outline, pages)
	return s.doc.Bytes()
}

// upTo gives the bookmarks that lead to the first pages.
func upTo(all []Bookmark, pages int) []Bookmark {
	var out []Bookmark
	for _, b := range all {
		if b.Page <= pages {
			b.Kids = upTo(b.Kids, pages)
			out = append(out, b)
		}
	}
	return out
}

// bookWords are the words of Paper's paragraphs, with the marks of the source.
func bookWords() []string {
	var words []string
	for line := range strings.Lines(paperSource) {
		if !prose(line) {
			continue
		}
		for w := range strings.FieldsSeq(line) {
			if exchangeable(w) {
				words = append(words, w)
			}
		}
	}
	return words
}

// prose says whether a line of the source is a paragraph: those are of letters.
func prose(line string) bool { return isLetter(line[0]) }

// exchangeable says whether a word may stand anywhere: not at the place of a
// footnote's mark, no address, and without brackets that would have to match.
func exchangeable(w string) bool { return isLetter(w[0]) && !strings.ContainsAny(w, "^()[]\"“”/") }

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// otherWords is Paper's source with other words in its paragraphs.
func otherWords(random *rand.Rand, pool []string) string {
	var b strings.Builder
	for line := range strings.Lines(paperSource) {
		if line[0] == '[' {
			// The same note or reference at the edge of many pages would be a
			// running head or foot.
			mark, rest, _ := strings.Cut(line, " ")
			b.WriteString(mark + " ")
			line = rest
		}
		if !prose(line) {
			b.WriteString(line)
			continue
		}
		for i, w := range strings.Fields(line) {
			if i > 0 {
				b.WriteByte(' ')
			}
			if exchangeable(w) {
				w = pool[random.IntN(len(pool))]
			}
			b.WriteString(w)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
