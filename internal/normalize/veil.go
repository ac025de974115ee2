package normalize

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"sift.build/sift/internal/dom"
)

// When a page counts as hidden until a script has run.
const (
	veilLeast  = 400 // characters of a part that is the page
	veilBlocks = 3   // blocks in it: one text alone is no page
	veilShare  = 10  // how many times as many as are seen it must have
	veilBare   = 120 // characters that may be seen without it, links and menus left out
	veilAround = 600 // characters that may be seen around a main part without any
	veilLook   = 20_000
)

// veils are the parts that a page hides as a whole until a script of its own has
// run: against flicker, or to put them together from pieces. Without them it has
// hardly any text. They are looked for when the first element is found that may be
// one.
type veils struct {
	known bool
	parts map[*html.Node]struct{}
}

// veiled says that n is such a part. A page that can be read has none, whatever
// is hidden in it, and a page without a script can show none.
func (p *pass) veiled(n *html.Node, a *attrs) bool {
	if !p.scripted || !p.veils.known && !veilKind(n, a) {
		return false
	}
	if !p.veils.known {
		p.veils.known = true
		page := p.survey(p.body, veilAround)
		if page.seen <= veilBare {
			p.unveil(&page)
		} else if page.seen <= veilAround && p.main != nil {
			main := p.survey(p.main, veilBare)
			p.unveil(&main)
		}
	}
	_, ok := p.veils.parts[n]
	return ok
}

// veilKind says that n may be a part of a page, by what it is and is called.
func veilKind(n *html.Node, a *attrs) bool {
	switch n.DataAtom {
	case atom.Div, atom.Main, atom.Section, atom.Article, atom.Form, 0:
	default:
		return false
	}
	return n.Namespace == "" && a.role != "dialog" && a.role != "alertdialog" && !furnitureName(a.id) && !furnitureName(a.class)
}

// survey is what a walk over a part of the page found.
type survey struct {
	seen int          // characters of running text that is seen
	away []*html.Node // parts that are not
	part *html.Node   // the one of them with the most text
	most int          // and how much that is
}

// survey looks at all under top once, and no further when more than limit
// characters are seen: then there is nothing to look for, and most pages have
// them near the beginning.
func (p *pass) survey(top *html.Node, limit int) (s survey) {
	for c := top.FirstChild; c != nil && s.seen <= limit; {
		if c.Type == html.TextNode {
			s.seen += countText(c.Data)
		}
		beside := aside(c)
		if c.Type != html.ElementNode || !beside && !p.away(c) {
			c = following(c, top, visibleByNature(c))
			continue
		}
		if a := readAttr(c); !beside && veilKind(c, &a) && len(s.away) < panelsMax {
			s.away = append(s.away, c)
			if chars := countSeen(c); chars > s.most {
				s.most, s.part = chars, c
			}
		}
		c = following(c, top, false)
	}
	return s
}

// unveil takes note of the part that is the page, and of the other pieces of it.
func (p *pass) unveil(s *survey) {
	if s.part == nil || s.seen > veilBare || s.most < veilLeast || s.most < veilShare*s.seen || !manyBlocks(s.part) || asksConsent(s.part) {
		return
	}
	p.veils.parts = make(map[*html.Node]struct{})
	for _, c := range s.away {
		if c == s.part || piece(c, s.part) {
			p.veils.parts[c] = struct{}{}
		}
	}
}

// piece says that c is another piece of the page that part is one of: beside it,
// or with an id that is numbered like its.
func piece(c, part *html.Node) bool {
	if !alike(c, part) {
		return false
	}
	series := strings.TrimRight(name(part, "id"), "0123456789")
	return c.Parent == part.Parent || series != "" && series == strings.TrimRight(name(c, "id"), "0123456789")
}

// asksConsent says that n is about cookies, by the names of what is in it: the
// largest hidden part of many pages with little text.
func asksConsent(n *html.Node) bool {
	named := 0
	return find(n, 500, func(c *html.Node) bool {
		id, class := dom.Attr(c, "id"), dom.Attr(c, "class")
		if hasWord(id, "cookie") || hasWord(id, "consent") || hasWord(class, "cookie") || hasWord(class, "consent") {
			named++
		}
		return named > 2
	}) != nil
}

// aside says that what n says is not what a page is about, or only to press.
func aside(n *html.Node) bool {
	switch n.DataAtom {
	case atom.A, atom.Button, atom.Label, atom.Nav, atom.Header, atom.Footer, atom.Aside, atom.Dialog:
		return true
	}
	switch dom.Attr(n, "role") {
	case "navigation", "banner", "contentinfo", "dialog", "alertdialog", "menu", "menubar", "search", "button":
		return true
	}
	return false
}

// away says that n is hidden, by its own attributes or a sheet, and not only faint.
func (p *pass) away(n *html.Node) bool {
	a := readAttr(n)
	if a.hidden && !a.untilFound || a.class != "" && hiddenClass(a.class) == hiddenText {
		return true
	}
	d := p.declarations(n, &a)
	if _, ok := d.gone(); ok {
		return true
	}
	_, ok := d.unseen()
	return ok
}

// countSeen counts the characters under n, as they are when n is shown.
func countSeen(n *html.Node) int {
	chars := 0
	for c := n.FirstChild; c != nil; c = following(c, n, visibleByNature(c)) {
		if c.Type == html.TextNode {
			chars += countText(c.Data)
		}
	}
	return chars
}

// manyBlocks says that n is built as a page is: of headings, paragraphs, entries,
// pictures.
func manyBlocks(n *html.Node) bool {
	blocks := 0
	return find(n, veilLook, func(c *html.Node) bool {
		switch {
		case IsHeading(c), c.DataAtom == atom.P, c.DataAtom == atom.Li, c.DataAtom == atom.Img, c.DataAtom == atom.Tr, c.DataAtom == atom.Dd:
			blocks++
		}
		return blocks >= veilBlocks
	}) != nil
}

// runs says that a script element has a program in it, not data.
func runs(n *html.Node) bool {
	t := strings.ToLower(dom.Attr(n, "type"))
	return t == "" || strings.Contains(t, "javascript") || t == "module" || strings.HasSuffix(t, "ecmascript")
}
