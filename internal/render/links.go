package render

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"sift.build/sift/internal/normalize"
	"sift.build/sift/internal/sift"
)

// linkTextMax bounds the text of one link in the list, in bytes: a link around
// a whole card is told apart by its beginning.
const linkTextMax = 300

// pageLinks gives every link under body in document order, each pair of text
// and URL once. Links to private addresses are left out. A link that shows no
// text has that of its image, label or title; else its own URL.
func pageLinks(body *html.Node) []sift.Link {
	links := []sift.Link{}
	seen := make(map[sift.Link]struct{})
	for c := body.FirstChild; c != nil; c = following(c, body) {
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
		l := sift.Link{Text: shorten(text, linkTextMax), URL: href}
		if _, ok := seen[l]; ok {
			continue
		}
		seen[l] = struct{}{}
		links = append(links, l)
	}
	return links
}

func altText(n *html.Node) string {
	for c := n.FirstChild; c != nil; c = following(c, n) {
		if c.DataAtom == atom.Img {
			if alt := normalize.Attr(c, "alt"); alt != "" {
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
