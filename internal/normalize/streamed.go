package normalize

import (
	"strings"

	"golang.org/x/net/html"
)

// hole takes note of a place that React will fill: <template id="B:…"> behind
// a comment, with what to show meanwhile after it.
func (p *pass) hole(n *html.Node) {
	id := Attr(n, "id")
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
		for c := hole.NextSibling; fallback && c != nil; { // what was shown meanwhile
			next := c.NextSibling
			if c.Type == html.CommentNode && strings.HasPrefix(c.Data, "/$") {
				break
			}
			c.Parent.RemoveChild(c)
			c = next
		}
	}
}
