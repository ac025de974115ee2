package render

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"sift.build/sift/internal/dom"
	"sift.build/sift/internal/normalize"
)

// sanitised writes the tree as HTML that is safe to show: only the elements
// and attributes named here, every text and value escaped, links only to http,
// https and mailto. It builds the markup itself instead of filtering a
// serialised tree: there is no foreign content, no raw text element and no
// attribute name of the page's in it, so nothing for a browser to read
// otherwise than it was written.
func sanitised(body *html.Node) *htmlWriter {
	w := &htmlWriter{}
	w.children(body, 0)
	return w
}

type htmlWriter struct {
	out   []byte
	pages []pageStart
	heads []head

	closedTo bool // inside a heading or a cell, whose headings are none of the page's

	// Only opening tags stand between openAt and openEnd. A heading right behind
	// them begins at the first: the element begins with it.
	openAt, openEnd int
}

// opened takes note of an opening tag that was written from at on.
func (w *htmlWriter) opened(at int) {
	if w.openEnd != at || at == 0 {
		w.openAt = at
	}
	w.openEnd = len(w.out)
}

// heading writes a heading and takes note of where it begins.
func (w *htmlWriter) heading(n *html.Node, depth int) {
	if w.closedTo {
		w.wrap(n, depth, "\n")
		return
	}
	at := len(w.out)
	if w.openEnd == at && at > 0 {
		at = w.openAt
	}
	w.closedTo = true
	w.wrap(n, depth, "\n")
	w.closedTo = false
	if text := flatText(n); text != "" {
		w.heads = append(w.heads, head{level: dom.HeadingLevel(n), text: text, anchor: dom.Attr(n, "id"), at: at})
	}
}

func (w *htmlWriter) children(n *html.Node, depth int) {
	if depth > depthMax {
		for c := n.FirstChild; c != nil; c = dom.Next(c, n) {
			if c.Type == html.TextNode {
				w.text(c.Data)
			}
		}
		return
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		w.node(c, depth+1)
	}
}

func (w *htmlWriter) node(n *html.Node, depth int) {
	if n.Type == html.TextNode {
		w.text(n.Data)
		return
	}
	if n.Type != html.ElementNode {
		return
	}
	switch n.DataAtom {
	case atom.Br:
		w.out = append(w.out, "<br>"...)
	case atom.Hr:
		w.out = append(w.out, "<hr>\n"...)
	case atom.Img:
		src, alt := dom.Attr(n, "src"), dom.Attr(n, "alt")
		if !webLink(src, false) {
			w.text(alt)
			return
		}
		w.out = append(w.out, "<img"...)
		w.attr("src", src)
		w.attr("alt", alt)
		w.out = append(w.out, '>')
	case atom.Input:
		if dom.HasAttr(n, "checked") {
			w.out = append(w.out, "[x] "...)
		} else {
			w.out = append(w.out, "[ ] "...)
		}
	case atom.Span:
		switch dom.Attr(n, "data-math") {
		case "inline":
			w.text(`\(` + flat(n) + `\)`)
		case "block":
			w.text(`\[` + flat(n) + `\]`)
		default:
			w.children(n, depth)
		}
	case atom.A:
		href := dom.Attr(n, "href")
		if !webLink(href, true) {
			w.children(n, depth)
			return
		}
		w.out = append(w.out, "<a"...)
		w.attr("href", href)
		w.attr("rel", "nofollow")
		w.out = append(w.out, '>')
		w.children(n, depth)
		w.out = append(w.out, "</a>"...)
	case atom.Pre:
		w.out = append(w.out, "<pre><code"...)
		if lang := info(dom.Attr(n, "data-lang")); lang != "" {
			w.attr("class", "language-"+lang)
		}
		w.out = append(w.out, '>')
		w.text(raw(n))
		w.out = append(w.out, "</code></pre>\n"...)
	case atom.Strong, atom.Em, atom.Del, atom.Code, atom.Sub, atom.Sup, atom.Ins, atom.Mark, atom.Small, atom.U, atom.Cite, atom.B, atom.I, atom.S:
		w.wrap(n, depth, "")
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		w.heading(n, depth)
	case atom.P, atom.Blockquote, atom.Ul, atom.Dl, atom.Dt, atom.Dd, atom.Table,
		atom.Thead, atom.Tbody, atom.Tfoot, atom.Tr, atom.Caption, atom.Figure, atom.Figcaption, atom.Details, atom.Summary:
		w.wrap(n, depth, "\n")
	case atom.Section:
		number := pageNumber(n)
		if number == 0 {
			w.other(n, depth)
			return
		}
		w.pages = append(w.pages, pageStart{number, len(w.out)})
		w.out = append(w.out, "<section"...)
		w.attr("data-page", strconv.Itoa(number))
		w.out = append(w.out, ">\n"...)
		w.opened(w.pages[len(w.pages)-1].at)
		w.children(n, depth)
		w.out = append(w.out, "</section>\n"...)
	case atom.Ol, atom.Li, atom.Td, atom.Th:
		at := len(w.out)
		w.out = append(append(w.out, '<'), n.Data...)
		for i := range n.Attr {
			switch at := &n.Attr[i]; at.Key {
			case "start", "value", "colspan", "rowspan":
				if at.Val != "" && len(at.Val) < 10 && strings.Trim(at.Val, "0123456789") == "" {
					w.attr(at.Key, at.Val)
				}
			case "type":
				if n.DataAtom == atom.Ol && (at.Val == "a" || at.Val == "A" || at.Val == "i" || at.Val == "I") {
					w.attr("type", at.Val)
				}
			case "reversed":
				if n.DataAtom == atom.Ol {
					w.out = append(w.out, " reversed"...)
				}
			}
		}
		w.out = append(w.out, '>')
		w.opened(at)
		outer := w.closedTo
		w.closedTo = outer || n.DataAtom == atom.Td || n.DataAtom == atom.Th
		w.children(n, depth)
		w.closedTo = outer
		w.close(n)
		w.out = append(w.out, '\n')
	default:
		w.other(n, depth)
	}
}

// other writes an element that has no name in the output.
func (w *htmlWriter) other(n *html.Node, depth int) {
	if normalize.IsBlock(n) && running(n) {
		w.out = append(w.out, "<div>"...)
		w.opened(len(w.out) - len("<div>"))
		w.children(n, depth)
		w.out = append(w.out, "</div>\n"...)
		return
	}
	w.children(n, depth)
}

// running says that n has running text of its own, not only blocks.
func running(n *html.Node) bool {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == html.TextNode && strings.Trim(c.Data, " \n") != "" || c.Type == html.ElementNode && !normalize.IsBlock(c) {
			return true
		}
	}
	return false
}

func (w *htmlWriter) wrap(n *html.Node, depth int, after string) {
	at := len(w.out)
	w.out = append(append(append(w.out, '<'), n.Data...), '>')
	w.opened(at)
	w.children(n, depth)
	w.close(n)
	w.out = append(w.out, after...)
}

func (w *htmlWriter) close(n *html.Node) {
	w.out = append(append(append(w.out, "</"...), n.Data...), '>')
}

func (w *htmlWriter) attr(key, val string) {
	w.out = append(append(append(w.out, ' '), key...), `="`...)
	w.text(val)
	w.out = append(w.out, '"')
}

// text escapes s for text and for a quoted attribute.
func (w *htmlWriter) text(s string) {
	start := 0
	for i := 0; i < len(s); i++ {
		var esc string
		switch s[i] {
		case '&':
			esc = "&amp;"
		case '<':
			esc = "&lt;"
		case '>':
			esc = "&gt;"
		case '"':
			esc = "&#34;"
		case '\'':
			esc = "&#39;"
		case '\r':
			esc = "&#13;"
		case 0:
			esc = "\ufffd"
		default:
			continue
		}
		w.out = append(append(w.out, s[start:i]...), esc...)
		start = i + 1
	}
	w.out = append(w.out, s[start:]...)
}

// webLink says that a URL is http, https or, where mail is set, mailto.
func webLink(url string, mail bool) bool {
	return strings.HasPrefix(url, "https://") || strings.HasPrefix(url, "http://") || mail && strings.HasPrefix(url, "mailto:")
}
