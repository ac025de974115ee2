package normalize

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"sift.build/sift/internal/dom"
)

// asksForm says that a form is one for a password or a comment. Its labels say
// nothing about what the page is about.
func asksForm(n *html.Node) bool {
	return find(n, 300, func(c *html.Node) bool {
		return c.DataAtom == atom.Textarea && dom.HasAttr(c, "name") && commentName(dom.Attr(c, "name")+" "+dom.Attr(c, "id")) || c.DataAtom == atom.Input && strings.EqualFold(dom.Attr(c, "type"), "password")
	}) != nil
}

func commentName(s string) bool {
	return hasWord(s, "comment") || hasWord(s, "reply") || hasWord(s, "post-text") || hasWord(s, "answer") || hasWord(s, "text") && !hasWord(s, "context")
}

// tabLabels knows the classes of rows of labels that open panels.
func tabLabels(class string) bool {
	return eachToken(class, func(t string) bool {
		return t == "tabbed-labels" || t == "tab-labels" || t == "nav-tabs" || t == "tabs-nav" || t == "tab-list" || t == "tabs-list" || t == "tablist"
	})
}

// nameTabs puts the labels of tabs over the panels that they open, so that one
// that is read alone says what it is. It says whether it found them all; then the
// row of labels is not needed any more.
func (p *pass) nameTabs(list *html.Node) bool {
	const most = 50
	if p.tablists++; p.tablists > 200 {
		return false
	}
	var labels, panels []*html.Node
	for c := list.FirstChild; c != nil && len(labels) <= most; {
		if dom.Attr(c, "role") == "tab" || c.DataAtom == atom.Label || (c.DataAtom == atom.A || c.DataAtom == atom.Button) && find(c, 8, func(k *html.Node) bool { return dom.Attr(k, "role") == "tab" }) == nil {
			labels = append(labels, c)
			c = following(c, list, false)
			continue
		}
		c = following(c, list, true)
	}
	if len(labels) == 0 || len(labels) > most {
		return false
	}
	top := list.Parent
	for range 3 {
		if top == nil {
			return false
		}
		if panels = panelsIn(top, list, most); len(panels) == len(labels) {
			break
		}
		top = top.Parent
		if top == p.body {
			return false
		}
	}
	if len(panels) != len(labels) {
		return false
	}
	for i, panel := range panels {
		if label := plainText(labels[i], 80); label != "" && !strings.HasPrefix(plainText(panel, 80), label) {
			name, bold := dom.Element(atom.P), dom.Element(atom.Strong)
			bold.AppendChild(dom.Text(label))
			name.AppendChild(bold)
			panel.InsertBefore(name, panel.FirstChild)
		}
	}
	return true
}

// panelsIn gives the outermost panels under top, but those in list.
func panelsIn(top, list *html.Node, most int) []*html.Node {
	var panels []*html.Node
	bound := 5_000
	for c := top.FirstChild; c != nil; {
		if bound--; bound < 0 || len(panels) > most {
			return nil
		}
		switch {
		case c == list:
			c = following(c, top, false)
		case c.Type == html.ElementNode && isPanel(c):
			panels = append(panels, c)
			c = following(c, top, false)
		default:
			c = following(c, top, true)
		}
	}
	return panels
}

func isPanel(n *html.Node) bool {
	return dom.Attr(n, "role") == "tabpanel" || eachToken(dom.Attr(n, "class"), func(t string) bool {
		return t == "tabbed-block" || t == "tab-pane" || t == "tab-panel" || t == "tabs-panel" || t == "tabpanel"
	})
}
