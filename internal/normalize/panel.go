package normalize

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"sift.build/sift/internal/dom"
)

// Bounds on the search for the panel that a control opens, so that a page full
// of buttons costs no more than its size.
const (
	panelsMax   = 10_000 // panels of a page
	panelLook   = 200    // nodes of one that are looked at
	aroundMax   = 64     // elements around a control
	namesMax    = 8      // and those of them whose classes are read
	besideMax   = 8      // elements beside it
	labelMax    = 200    // characters of what it says
	rowsMax     = 3      // rows around a control that belong to it
	entryLength = 40     // characters of an entry in a list to choose from
)

// opener is what is known of a button.
type opener struct {
	panel *html.Node
	twin  *html.Node // the panel of another button of its kind
}

// control takes note of the panel that n opens when n is a button that stands
// right in front of one. Few accordions say in their attributes which button
// opens what. Here the tree is as it came: later the button is gone by the time
// that its panel has its turn.
//
// A button alone is no proof, as every page has buttons beside hidden things
// that are no content: a menu, a message, a list to choose from. So one of these
// must hold too: the button names the panel by its id or the panel the button,
// both say that they are closed, the button stands for a heading or a question,
// the list says what it is, or there are more such pairs beside it, each with a
// name of its own.
func (p *pass) control(n *html.Node, target string) {
	if n.DataAtom == atom.A && dom.Attr(n, "role") == "" {
		id, ok := strings.CutPrefix(dom.Attr(n, "href"), "#")
		if !ok || id == "" {
			return // leads to another page
		}
		target = id
	}
	head, panel := panelBehind(n)
	if panel == nil || len(p.disclosed) >= panelsMax || inFurniture(n) || n != head && otherButton(head, n) {
		return
	}
	says := label(head)
	asked := question(says) || titled(n, head)
	if says == "" || listing(panel, asked) {
		return
	}
	link := n.DataAtom == atom.A && dom.Attr(n, "role") == ""
	twin := repeated(head, panel, says)
	if !named(n, panel, target) && (link || twin == nil && !asked && !inAccordion(head)) {
		return
	}
	if n == head || !besideText(n, head) { // else the row has a name, and the button only says what it does
		if p.openers == nil {
			p.openers = make(map[*html.Node]opener)
		}
		p.openers[n] = opener{panel, twin}
	}
	if p.disclosed == nil {
		p.disclosed = make(map[*html.Node]struct{})
	}
	p.disclosed[panel] = struct{}{}
	// The panel may be a box that is always there around the one that is closed.
	for inner, k := only(panel), 0; inner != nil && k < 2; inner, k = only(inner), k+1 {
		p.disclosed[inner] = struct{}{}
	}
}

// panelBehind gives the block that stands right behind a control, or behind the
// row that the control is in, and that row.
func panelBehind(n *html.Node) (head, panel *html.Node) {
	for range rowsMax {
		if n == nil || n.Parent == nil {
			return nil, nil
		}
		switch n.DataAtom {
		case atom.Body, atom.Main, atom.Article, atom.Section, atom.Form, atom.Td, atom.Li, atom.Ul, atom.Ol:
			return nil, nil
		}
		next := nextElement(n)
		if next != nil && isPanelBlock(next) {
			if alike(n, next) && find(next, besideMax, presses) != nil {
				return nil, nil // the next row of its kind
			}
			return n, next
		}
		k := 0
		for c := n.NextSibling; c != nil; c = c.NextSibling {
			if k++; k > besideMax || c.Type == html.TextNode && strings.Trim(c.Data, " \t\r\n\f") != "" || c.Type == html.ElementNode && isPanelBlock(c) {
				return nil, nil
			}
		}
		n = n.Parent
	}
	return nil, nil
}

// presses says that n is a button.
func presses(n *html.Node) bool { return n.DataAtom == atom.Button || dom.Attr(n, "role") == "button" }

// otherButton says that a row has more than one button: it asks for an answer, as
// whether a page was of help, and opens nothing.
func otherButton(head, n *html.Node) bool {
	return find(head, 4*besideMax, func(c *html.Node) bool { return c != n && presses(c) }) != nil
}

// isPanelBlock says that n is an element that panels are made of.
func isPanelBlock(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Div, atom.Section, atom.P, atom.Dd, atom.Article, atom.Ul, atom.Ol, atom.Dl, atom.Table:
		return true
	case 0:
		return n.Namespace == ""
	}
	return false
}

// only gives the one element in n, nil when there is other text or another
// element.
func only(n *html.Node) *html.Node {
	var one *html.Node
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch {
		case c.Type == html.TextNode && strings.Trim(c.Data, " \t\r\n\f") == "", c.Type == html.CommentNode:
		case c.Type == html.ElementNode && one == nil:
			one = c
		default:
			return nil
		}
	}
	return one
}

// named says that a control and its panel belong to each other by their
// attributes.
func named(n, panel *html.Node, target string) bool {
	if id := dom.Attr(panel, "id"); id != "" && id == target {
		return true
	}
	if inner := only(panel); inner != nil && target != "" && dom.Attr(inner, "id") == target {
		return true
	}
	if id := dom.Attr(n, "id"); id != "" && id == dom.Attr(panel, "aria-labelledby") {
		return true
	}
	return dom.Attr(n, "data-state") == "closed" && dom.Attr(panel, "data-state") == "closed"
}

// titled says that a button is a heading, or the only thing in one.
func titled(n, head *html.Node) bool {
	if IsHeading(head) || head.DataAtom == atom.Dt {
		return n == head || !besideText(n, head)
	}
	return n == head && holdsHeading(n)
}

// holdsHeading says that the button n has a heading inside.
func holdsHeading(n *html.Node) bool { return find(n, besideMax, IsHeading) != nil }

func question(s string) bool { return strings.HasSuffix(s, "?") || strings.HasSuffix(s, "？") }

// inAccordion says that the elements around say that they open.
func inAccordion(n *html.Node) bool {
	for range rowsMax {
		if n = n.Parent; n == nil || n.DataAtom == atom.Body {
			return false
		}
		if class := name(n, "class"); class != "" && eachToken(class, func(t string) bool {
			return hasWord(t, "accordion") || hasWord(t, "collaps") || hasWord(t, "faq") || hasWord(t, "expand") || hasWord(t, "disclosure")
		}) {
			return true
		}
	}
	return false
}

// repeated says that beside this row with its panel stands another one of their
// kind with another name, in the same box or in the next one, and gives its panel. What a button does
// with each of many things has the same name on all of them.
func repeated(head, panel *html.Node, says string) (twin *html.Node) {
	for c, k := panel.NextSibling, 0; c != nil && k < besideMax; c, k = c.NextSibling, k+1 {
		if twin := pairs(c, head, panel, says); twin != nil {
			return twin
		}
	}
	for c, k := prevElement(head), 0; c != nil && k < besideMax; c, k = c.PrevSibling, k+1 {
		if twin := pairs(c, head, panel, says); twin != nil {
			return twin
		}
	}
	for _, box := range [...]*html.Node{nextElement(head.Parent), prevElement(head.Parent)} {
		if box == nil || !alike(box, head.Parent) {
			continue
		}
		for c, k := box.FirstChild, 0; c != nil && k < besideMax; c, k = c.NextSibling, k+1 {
			if twin := pairs(c, head, panel, says); twin != nil {
				return twin
			}
		}
	}
	return nil
}

// pairs gives the panel behind c when c is a row like head with another label.
func pairs(c, head, panel *html.Node, says string) *html.Node {
	if c.Type != html.ElementNode || !alike(c, head) {
		return nil
	}
	next := nextElement(c)
	if next == nil || !alike(next, panel) {
		return nil
	}
	if other := label(c); other == "" || other == says {
		return nil
	}
	return next
}

// label gives what a short element says. It does not look far for it.
func label(n *html.Node) string {
	var b []byte
	bound := panelLook
	for c := n.FirstChild; c != nil && len(b) < labelMax && bound > 0; c = following(c, n, visibleByNature(c)) {
		bound--
		switch {
		case c.Type == html.TextNode && visibleByNature(c.Parent):
			b = append(b, cut(c.Data, labelMax)...)
		case c.DataAtom == atom.Br || IsBlock(c):
			b = append(b, ' ')
		}
	}
	return cut(strings.Join(strings.Fields(string(b)), " "), labelMax)
}

// alike says that two elements are of one kind: of one name, and of the same
// class but for what is said behind it, such as whether they are open.
func alike(a, b *html.Node) bool {
	return a.DataAtom == b.DataAtom && a.Data == b.Data && firstToken(name(a, "class")) == firstToken(name(b, "class"))
}

func firstToken(class string) (first string) {
	eachToken(class, func(t string) bool {
		first = t
		return true
	})
	return first
}

// inFurniture says that n is in a menu, a bar, a dialog or the like, where what
// a button opens is no content.
func inFurniture(n *html.Node) bool {
	for k := 0; n != nil && k < aroundMax; n, k = n.Parent, k+1 {
		switch n.DataAtom {
		case atom.Nav, atom.Footer, atom.Dialog:
			return true
		case atom.Header:
			if n.Parent == nil || n.Parent.DataAtom != atom.Article && n.Parent.DataAtom != atom.Section {
				return true
			}
		case atom.Body, atom.Main, atom.Article:
			return false
		}
		switch name(n, "role") {
		case "navigation", "banner", "contentinfo", "dialog", "alertdialog", "menu", "menubar", "search", "toolbar", "listbox":
			return true
		}
		if k < namesMax && (furnitureName(name(n, "id")) || furnitureName(name(n, "class"))) {
			return true
		}
	}
	return false
}

// name gives an attribute of an element that many others may ask for: no more of
// it than names take, and nothing of an element with hundreds of attributes.
func name(n *html.Node, key string) string {
	const attrs, long = 64, 512
	if len(n.Attr) > attrs {
		return ""
	}
	s := dom.Attr(n, key)
	return s[:min(len(s), long)]
}

func furnitureName(s string) bool {
	return len(s) > 1 && eachToken(s, func(t string) bool {
		return hasWord(t, "cookie") || hasWord(t, "consent") || hasWord(t, "gdpr") || hasWord(t, "menu") || hasWord(t, "navbar") || hasWord(t, "dropdown") ||
			hasWord(t, "modal") || hasWord(t, "popup") || hasWord(t, "dialog") || t == "nav" || strings.HasPrefix(t, "nav-")
	})
}

// listing says that a panel holds things to press or to choose from, and next
// to no text: a menu, a list of countries, ways to sort. What it says is no
// answer to anything. Short entries that nothing can be pressed in are an answer
// when asked says that there was a question or a heading.
func listing(panel *html.Node, asked bool) bool {
	text, pressed, entries, running := 0, 0, 0, false
	for c, bound := panel.FirstChild, panelLook; c != nil && bound > 0; bound-- {
		switch {
		case c.Type == html.TextNode:
			text += countText(c.Data)
		case chosen(c):
			entries++
			if s := label(c); readable(c, s, asked) {
				text, running = text+len(s), true
			} else {
				pressed += len(s)
			}
		default:
			running = running || c.DataAtom == atom.P
			c = following(c, panel, visibleByNature(c))
			continue
		}
		c = following(c, panel, false)
	}
	return entries > 0 && (pressed > text || !running && entries > 2 && text < entryLength)
}

// readable says that n, which says s, is an entry of a list that is read, or a
// link in a sentence.
func readable(n *html.Node, s string, asked bool) bool {
	if n.DataAtom == atom.A {
		const sign = 3 // characters of what stands between the links of a bar
		prev, next := n.PrevSibling, n.NextSibling
		return prev != nil && prev.Type == html.TextNode && countText(prev.Data) > sign || next != nil && next.Type == html.TextNode && countText(next.Data) > sign
	}
	if n.DataAtom != atom.Li || dom.Attr(n, "role") != "" {
		return false
	}
	return len(s) > entryLength || (asked || ends(s)) && find(n, besideMax, chosen) == nil
}

// chosen says that n is something to press or to choose.
func chosen(n *html.Node) bool {
	switch n.DataAtom {
	case atom.A, atom.Button, atom.Label, atom.Input, atom.Select, atom.Li:
		return true
	}
	switch dom.Attr(n, "role") {
	case "option", "menuitem", "menuitemradio", "button", "radio", "checkbox":
		return true
	}
	return false
}

// ends says that s ends as a sentence does.
func ends(s string) bool {
	return strings.HasSuffix(s, ".") || strings.HasSuffix(s, "!") || question(s) || strings.HasSuffix(s, "。")
}

// names says that the button n stands for a panel that is closed, and is what it
// is called; or that another one of its kind is closed, while this one is open at
// first. The panels come behind n: they are still as they were.
func (p *pass) names(n *html.Node) bool {
	o, ok := p.openers[n]
	return ok && (p.shut(o.panel) || o.twin != nil && p.shut(o.twin))
}

// shut says that a panel is closed, or the only thing in it is.
func (p *pass) shut(panel *html.Node) bool {
	for range rowsMax {
		if panel == nil || panel.Type != html.ElementNode {
			return false
		}
		if p.hides(panel) {
			a := readAttr(panel)
			return p.opens(panel, &a)
		}
		panel = only(panel)
	}
	return false
}

// hides says that n, which the walk has not come to yet, is not seen at first.
func (p *pass) hides(n *html.Node) bool {
	a := readAttr(n)
	if a.hidden || a.inert || a.ariaHidden {
		return true
	}
	_, hid := p.unseen(n, &a)
	return hid
}

// nameLine makes the button n, which says what the panel behind it is called,
// a line of its own.
func nameLine(n *html.Node) {
	if n.Parent == nil || !IsBlock(n.Parent) || IsHeading(n.Parent) || n.Parent.DataAtom == atom.P || n.Parent.DataAtom == atom.Dt || n.Parent.DataAtom == atom.Summary {
		rename(n, atom.Span)
		return
	}
	if find(n, panelLook, IsBlock) != nil {
		rename(n, atom.Div)
		return
	}
	bold := dom.Element(atom.Strong)
	for c := n.FirstChild; c != nil; c = n.FirstChild {
		n.RemoveChild(c)
		bold.AppendChild(c)
	}
	n.AppendChild(bold)
	rename(n, atom.P)
}
