package normalize

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"sift.build/sift/internal/dom"
)

// hole takes note of a place that React will fill: <template id="B:…"> behind
// a comment, with what to show meanwhile after it.
func (p *pass) hole(n *html.Node) {
	id := dom.Attr(n, "id")
	if !strings.HasPrefix(id, "B:") && !strings.HasPrefix(id, "P:") {
		return
	}
	if p.holes == nil {
		p.holes = make(map[string]*html.Node)
	}
	p.holes[id] = n
}

// streamed puts the parts of a page that React sends late, each in a
// <div hidden id="S:…"> that a script would move, where they belong. Without
// that most of such a page would be hidden text.
//
// A part without a place is hidden text like any other.
func (p *pass) streamed() {
	for key, part := range p.parts {
		hole := p.holes["B:"+key]
		fallback := hole != nil
		if hole == nil {
			hole = p.holes["P:"+key]
		}
		if hole == nil || hole.Parent == nil || inside(hole, part) || part.Parent == nil {
			continue
		}
		removeAttr(part, "hidden")
		part.Parent.RemoveChild(part)
		hole.Parent.InsertBefore(part, hole)
		if fallback {
			dropMeanwhile(hole)
		}
	}
}

// dropMeanwhile takes out what was shown behind a hole until its part came: all
// up to the comment that ends it. Where a tool has taken the comments out, it
// is the one element behind the hole.
func dropMeanwhile(hole *html.Node) {
	end := hole.NextSibling
	for end != nil && (end.Type != html.CommentNode || !strings.HasPrefix(end.Data, "/$")) && !isHole(end) {
		end = end.NextSibling
	}
	if end == nil || end.Type != html.CommentNode {
		if end = nextElement(hole); end == nil || isHole(end) {
			return
		}
		end = end.NextSibling
	}
	for c := hole.NextSibling; c != end; {
		next := c.NextSibling
		c.Parent.RemoveChild(c)
		c = next
	}
}

func isHole(n *html.Node) bool {
	return n.DataAtom == atom.Template && (strings.HasPrefix(dom.Attr(n, "id"), "B:") || strings.HasPrefix(dom.Attr(n, "id"), "P:"))
}
