package maincontent

import (
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"sift.build/sift/internal/dom"
)

// cursor walks over a page and says of each child of an element whether it
// stays.
type cursor struct {
	page  *Page
	kept  []int32 // how many blocks before the i-th are kept
	keep  []bool
	elem  int32 // the next element
	block int32 // the block that is being read, or the next
}

func (p *Page) cursor(keep []bool) *cursor {
	c := &cursor{page: p, keep: keep, kept: make([]int32, len(keep)+1), elem: 1}
	for i, k := range keep {
		c.kept[i+1] = c.kept[i]
		if k {
			c.kept[i+1]++
		}
	}
	return c
}

// child says whether n stays, and whether its children are to be looked at.
func (c *cursor) child(n *html.Node) (stays, into bool) {
	p := c.page
	if int(c.elem) < len(p.elements) && p.elements[c.elem].node == n {
		e := &p.elements[c.elem]
		if e.to == e.from && n.DataAtom == atom.Hr {
			c.elem++
			return e.from > 0 && int(e.from) < len(c.keep) && c.keep[e.from-1] && c.keep[e.from], false
		}
		if c.kept[e.to] == c.kept[e.from] {
			c.elem, c.block = e.end, e.to
			return false, false
		}
		c.elem++
		return true, true
	}
	if int(c.block) < len(p.Blocks) {
		b := &p.Blocks[c.block]
		stays = c.keep[c.block]
		if n == b.Last {
			c.block++
		}
	}
	return stays, false
}

// Copy gives the kept blocks with the elements around them as a <body> element
// that shares nothing with the page.
func (p *Page) Copy(keep []bool) *html.Node {
	out := dom.Shallow(p.elements[0].node)
	p.cursor(keep).copy(out, p.elements[0].node)
	return out
}

func (c *cursor) copy(to, from *html.Node) {
	for n := from.FirstChild; n != nil; n = n.NextSibling {
		stays, into := c.child(n)
		if !stays {
			continue
		}
		k := dom.Shallow(n)
		to.AppendChild(k)
		if into {
			c.copy(k, n)
		} else {
			deep(k, n)
		}
	}
}

// Carve takes what is not kept out of the page, and gives what is left.
func (p *Page) Carve(keep []bool) *html.Node {
	p.cursor(keep).carve(p.elements[0].node)
	return p.elements[0].node
}

func (c *cursor) carve(from *html.Node) {
	for n := from.FirstChild; n != nil; {
		after := n.NextSibling
		stays, into := c.child(n)
		switch {
		case !stays:
			from.RemoveChild(n)
		case into:
			c.carve(n)
		}
		n = after
	}
}

func deep(to, from *html.Node) {
	for n := from.FirstChild; n != nil; n = n.NextSibling {
		k := dom.Shallow(n)
		to.AppendChild(k)
		deep(k, n)
	}
}
