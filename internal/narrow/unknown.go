package narrow

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"sift.build/sift/internal/sift"
	"sift.build/sift/internal/spelling"
)

// listMax bounds the headings that an error lists.
const listMax = 40

// noHeadings says what to do with a content that has none.
func noHeadings(t Text) error {
	also := ""
	if len(t.Pages) > 0 {
		also = ", or choose pages with pages"
	}
	return sift.Fail(sift.CodeInvalid, "section finds nothing here: this content has no headings; search it with grep, or read it in windows with max_chars and offset%s", also)
}

// unknown says that no heading is meant by w, and which there are. The headings
// are a stranger's words: they are quoted, and cut.
func (w *want) unknown(t Text, found finding) error {
	var b strings.Builder
	if found.partials > 0 {
		fmt.Fprintf(&b, "section %s is a part of %d headings: ", sift.Quote(w.text), found.partials)
		for n, i := range found.partial {
			if n > 0 {
				b.WriteString(", ")
			}
			b.WriteString(shown(t.Headings[i].Text))
		}
		if more := found.partials - len(found.partial); more > 0 {
			fmt.Fprintf(&b, " and %d more", more)
		}
		b.WriteString("; name one of them")
		return sift.Fail(sift.CodeInvalid, "%s", b.String())
	}
	fmt.Fprintf(&b, "section %s is no heading here", sift.Quote(w.text))
	if i := w.nearest(t.Headings); i >= 0 {
		b.WriteString("; did you mean " + shown(t.Headings[i].Text) + "?")
	} else {
		b.WriteByte('.')
	}
	if len(t.Pages) > 0 {
		b.WriteString(" The headings of the pages read are:")
	} else {
		b.WriteString(" The headings are:")
	}
	if more := list(&b, t.Headings); more > 0 {
		fmt.Fprintf(&b, "\nand %d more, which mode outline lists", more)
	}
	return sift.Fail(sift.CodeInvalid, "%s", b.String())
}

// shown quotes a heading. No more of it is read than may be shown.
func shown(s string) string {
	return sift.Quote(oneLine(s[:forward(s, 0, 4*sift.QuoteMax)]))
}

// listFew is how many headings are too few to stop a list at their level.
const listFew = 10

// list writes the headings, nested, those of the upper levels only where all are
// too many, and says how many it left out.
func list(b *strings.Builder, heads []sift.Heading) (more int) {
	var ofLevel [7]int
	all := 0
	for _, h := range heads {
		if h.Text != "" || h.Anchor != "" {
			ofLevel[levelOf(h)]++
			all++
		}
	}
	deepest, sum := 0, 0
	for l, n := range ofLevel {
		if sum+n > listMax && sum >= listFew {
			break
		}
		if sum += n; n > 0 {
			deepest = l
		}
		if sum > listMax {
			break
		}
	}
	var around []int // the levels of the headings around
	n := 0
	for _, h := range heads {
		level := levelOf(h)
		if level > deepest || h.Text == "" && h.Anchor == "" {
			continue
		}
		if n == listMax {
			break
		}
		for len(around) > 0 && around[len(around)-1] >= level {
			around = around[:len(around)-1]
		}
		b.WriteString("\n" + strings.Repeat("  ", len(around)) + "- ")
		around = append(around, level)
		if h.Text != "" {
			b.WriteString(shown(h.Text))
		} else { // a picture
			b.WriteString(shown("#" + h.Anchor))
		}
		n++
	}
	return all - n
}

// Bounds on the search for a heading that is spelt nearly so.
const (
	nearMax  = 64      // characters of what is asked for
	nearWork = 8 << 20 // characters compared
)

// nearest gives the heading whose name differs least from w, -1 when none is
// near enough.
func (w *want) nearest(heads []sift.Heading) int {
	asked := []rune(string(w.name.key))
	if len(asked) < 2 || len(asked) > nearMax {
		return -1
	}
	limit := 1
	if len(asked) > 3 {
		limit = min(max(2, len(asked)/4), 8)
	}
	best := -1
	var near spelling.Comparer[rune]
	var n name
	for i, work := 0, 0; i < len(heads) && work < nearWork && limit > 0; i++ {
		n = w.reader.name(n.key[:0], heads[i].Text)
		for _, key := range [][]byte{n.key, n.rest()} {
			size := utf8.RuneCount(key)
			if size < len(asked)-limit || size > len(asked)+limit {
				continue
			}
			work += size * len(asked)
			if diff := near.Distance(asked, []rune(string(key))); diff <= limit {
				best, limit = i, diff-1
			}
		}
	}
	return best
}
