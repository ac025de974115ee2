package render

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"sift.build/sift/internal/dom"
	"sift.build/sift/internal/normalize"
	"sift.build/sift/internal/sift"
)

// linkTextMax bounds the text of one link in the list, in bytes: a link around
// a whole card is told apart by its beginning.
const linkTextMax = 300

// linksOf is every link under a node, in document order, each pair of text and
// URL once. A place is the number of a node.
type linksOf struct {
	links  []sift.Link
	places []LinkPlace // each time that a link stands there
	heads  []head      // at places, as what follows is
	pages  []pageStart
	end    int
}

// pageLinks gives the links under body. Links to private addresses are left
// out. A link that shows no text has that of its image, label or title; else its
// own URL.
func pageLinks(body *html.Node) linksOf {
	l := linksOf{links: []sift.Link{}}
	seen := make(map[sift.Link]int)
	var inside *html.Node // the node behind a heading or cell: the headings in it are none of the page's
	for c := body.FirstChild; c != nil; c = dom.Next(c, body) {
		l.end++
		if c == inside {
			inside = nil
		}
		if c.Type != html.ElementNode {
			continue
		}
		switch {
		case c.DataAtom == atom.Section:
			if number := pageNumber(c); number > 0 {
				l.pages = append(l.pages, pageStart{number, l.end})
			}
		case inside == nil && (c.DataAtom == atom.Td || c.DataAtom == atom.Th || normalize.IsHeading(c)):
			if text := flatText(c); text != "" && normalize.IsHeading(c) {
				l.heads = append(l.heads, head{level: dom.HeadingLevel(c), text: text, anchor: dom.Attr(c, "id"), at: l.end})
			}
			if inside = dom.Behind(c, body); inside == nil {
				inside = body // which does not come
			}
		}
		if c.DataAtom != atom.A {
			continue
		}
		href, label, title, private := "", "", "", false
		for i := range c.Attr {
			switch at := &c.Attr[i]; at.Key {
			case "href":
				href = at.Val
			case "aria-label":
				label = at.Val
			case "title":
				title = at.Val
			case "data-private":
				private = true
			}
		}
		if href == "" || private {
			continue
		}
		text := flatText(c)
		if text == "" {
			text = altText(c)
		}
		for _, s := range [...]string{label, title, href} {
			if text == "" {
				text = s
			}
		}
		link := sift.Link{Text: shorten(text, linkTextMax), URL: href}
		i, ok := seen[link]
		if !ok {
			i = len(l.links)
			seen[link] = i
			l.links = append(l.links, link)
		}
		l.places = append(l.places, LinkPlace{Place: l.end, Link: i})
	}
	l.end++
	return l
}

func altText(n *html.Node) string {
	for c := n.FirstChild; c != nil; c = dom.Next(c, n) {
		if c.DataAtom == atom.Img {
			if alt := dom.Attr(c, "alt"); alt != "" {
				return alt
			}
		}
	}
	return ""
}

// shorten cuts s to limit bytes, at the end of a word where there is one.
func shorten(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	s = strings.ToValidUTF8(s[:limit], "")
	if i := strings.LastIndexByte(s, ' '); i > limit/2 {
		s = s[:i]
	}
	return s + "…"
}
