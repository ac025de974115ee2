package normalize

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// When a page is hidden until a script has run.
const (
	veilLeast  = 400 // characters of a part that is the page
	veilBlocks = 3   // blocks in it: one text alone is no page
	veilBare   = 120 // characters that a page without it may have, menus and links left out
	veilShare  = 10  // and how many times as many it must have
)

// veils are the parts that a page hides as a whole until a script of its own has
// run, against flicker or to put them together from pieces: without them it has
// hardly any text.
type veils struct {
	known bool
	parts map[*html.Node]struct{}
}

// veiled says that n is such a part. A page that a reader can read has none,
// whatever is hidden in it.
func (p *pass) veiled(n *html.Node, a *attrs) bool {
	if !p.scripted || !veilKind(n, a) || short(n, veilLeast-1) {
		return false
	}
	if !p.veils.known {
		p.veils.known = true
		p.lookForVeils()
	}
	_, ok := p.veils.parts[n]
	return ok
}

// veilKind says that n may be a part of a page by its name and its names.
func veilKind(n *html.Node, a *attrs) bool {
	switch n.DataAtom {
	case atom.Div, atom.Main, atom.Section, atom.Article, atom.Form, 0:
	default:
		return false
	}
	return n.Namespace == "" && !furnitureName(a.id+" "+a.class)
}

// region is what is counted of a page, or of its main part.
type region struct {
	seen   int // characters of running text that are seen
	hidden []veil
}

// veil is a part that is not seen.
type veil struct {
	node  *html.Node
	chars int
}

// lookForVeils walks over the page once, and judges the page as a whole and its
// main part.
func (p *pass) lookForVeils() {
	var page, main region
	var in *html.Node // the main part that the walk is in
	for c := p.body.FirstChild; c != nil; {
		if in != nil && !inside(c, in) {
			in = nil
		}
		c = c
	}
	_, _ = page, main
}
