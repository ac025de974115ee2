package normalize

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// How says by what a text was kept from sight.
type How string

// The ways to hide text.
const (
	HowAttribute   How = "attribute"   // hidden, inert, a closed dialog, a template
	HowStyle       How = "style"       // a style attribute: display, visibility
	HowSheet       How = "sheet"       // a style sheet of the page, or a class that means so
	HowOffscreen   How = "offscreen"   // moved or clipped away
	HowTransparent How = "transparent" // no opacity, no colour, or the colour of its ground
	HowSize        How = "size"        // letters or a box of no size
	HowTags        How = "tags"        // Unicode tag characters
	HowBidi        How = "bidi"        // direction overrides
	HowZeroWidth   How = "zero-width"  // zero-width and other invisible characters
)

// Bounds on the list of what was hidden.
const (
	passageMax  = 1_000  // characters of one passage
	passagesMax = 200    // passages of a page
	hiddenMax   = 50_000 // characters in all
)

// Passage is a text of the page that was left out because nobody could see it.
// It is a stranger's text, and was hidden from people: never part of the
// content, and never to be followed.
type Passage struct {
	Text  string // on one line, at most 1,000 characters
	Chars int    // of the whole passage, white space left out
	How   How
	Where string // the headings that it stands under, "A > B"
}

// Hidden gives the texts that Page leaves out of the document under root, in
// the order of the page. It takes the document apart as Page does.
//
// A passage of tag characters, and of variation selectors that spell a text, is
// what they spell; other invisible characters and direction overrides are named
// and counted, in one passage each.
func Hidden(root *html.Node, base *url.URL) []Passage {
	c := collected{}
	run(root, base, &c)
	return c.list
}

// collected is what was hidden so far.
type collected struct {
	list  []Passage
	chars int
	faint *html.Node // whose faint text the last passage is
	trail []*html.Node
	odd   map[rune]int // invisible characters
	bidi  map[rune]int
}

// passage adds a text that was left out. It does nothing when nobody asked.
func (p *pass) passage(text string, chars int, how How) {
	c := p.passages
	if c == nil || len(c.list) >= passagesMax || c.chars >= hiddenMax {
		return
	}
	clean := builderPass()
	text = cut(clean.line(text), passageMax)
	c.chars += utf8.RuneCountInString(text)
	c.faint = nil
	c.list = append(c.list, Passage{Text: text, Chars: chars, How: how, Where: c.where()})
}

// builderPass gives a pass that only cleans text and counts nothing of it.
func builderPass() *pass { return &pass{} }

// faintText adds text that cannot be seen by its colour or size, to the last
// passage where that is of the same element.
func (p *pass) faintText(text string, chars int, how How, of *html.Node) {
	c := p.passages
	if c == nil {
		return
	}
	if n := len(c.list); n > 0 && c.faint == of {
		last := &c.list[n-1]
		last.Chars += chars
		if room := passageMax - utf8.RuneCountInString(last.Text); room > 1 {
			more := cut(builderPass().line(text), room-1)
			last.Text = strings.Trim(last.Text+" "+more, " ")
			c.chars += utf8.RuneCountInString(more)
		}
		return
	}
	p.passage(text, chars, how)
	c.faint = of
}

// under takes note of a heading that what follows stands under.
func (c *collected) under(h *html.Node) {
	for n := len(c.trail); n > 0 && c.trail[n-1].Data >= h.Data; n-- {
		c.trail = c.trail[:n-1]
	}
	c.trail = append(c.trail, h)
}

func (c *collected) where() string {
	var parts []string
	for _, h := range c.trail {
		if s := cut(plainText(h, 400), 100); s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, " > ")
}

// finish adds what was counted character by character.
func (c *collected) finish() {
	for _, k := range []struct {
		how   How
		chars map[rune]int
	}{{HowBidi, c.bidi}, {HowZeroWidth, c.odd}} {
		if len(k.chars) == 0 {
			continue
		}
		var all []rune
		total := 0
		for r, n := range k.chars {
			all = append(all, r)
			total += n
		}
		slices.Sort(all)
		var b strings.Builder
		for i, r := range all {
			if i == 20 {
				b.WriteString(" …")
				break
			}
			if i > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(&b, "%U × %d", r, k.chars[r])
		}
		c.list = append(c.list, Passage{Text: b.String(), Chars: total, How: k.how})
	}
}

// smuggled gives the text that variation selectors spell, a byte each: FE00 to
// FE0F are 0 to 15, E0100 to E01EF the rest. "" when it is none.
func smuggled(b []byte) string {
	if len(b) < 3 || !utf8.Valid(b) {
		return ""
	}
	for _, r := range string(b) {
		if !unicode.IsPrint(r) && r != '\n' && r != '\t' {
			return ""
		}
	}
	return string(b)
}
