package normalize

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"sift.build/sift/internal/dom"
)

// leaveItem puts a task's mark first, and gives an item that stands outside of
// any list one of its own.
func (p *pass) leaveItem(n *html.Node) {
	if mark := find(n, 5, func(c *html.Node) bool { return c.DataAtom == atom.Input }); mark != nil && mark != n.FirstChild {
		mark.Parent.RemoveChild(mark)
		n.InsertBefore(mark, n.FirstChild)
	}
	up := n.Parent
	for range 3 {
		switch up.DataAtom {
		case atom.Ul, atom.Ol:
			return // leaveList takes away what stands between
		case atom.Div, atom.Span, atom.Section, atom.Form:
			if up = up.Parent; up != nil {
				continue
			}
		}
		break
	}
	if prev := prevElement(n); prev != nil && prev.DataAtom == atom.Ul && prev.Attr == nil {
		n.Parent.RemoveChild(n)
		prev.AppendChild(n)
		return
	}
	list := dom.Element(atom.Ul)
	replace(n, list)
	list.AppendChild(n)
}

// leaveList brings everything in a list into items: a list directly inside
// goes into the item before it, wrappers around items go, loose text becomes
// an item.
func (p *pass) leaveList(n *html.Node) {
	for c := n.FirstChild; c != nil; {
		next := c.NextSibling
		switch {
		case c.DataAtom == atom.Li:
		case c.Type == html.TextNode && strings.Trim(c.Data, " \n") == "":
			n.RemoveChild(c)
		case c.Type == html.ElementNode && wrapsItems(c):
			first := c.FirstChild
			unwrap(c)
			next = first
		default:
			into := c.PrevSibling // everything before is an item by now
			if into == nil || c.DataAtom != atom.Ul && c.DataAtom != atom.Ol && !loose(into) {
				into = dom.Element(atom.Li)
				n.InsertBefore(into, c)
			}
			n.RemoveChild(c)
			into.AppendChild(c)
		}
		c = next
	}
}

// loose says that li was made by leaveList for text without an item.
func loose(li *html.Node) bool {
	return li.Attr == nil && li.FirstChild != nil && !IsBlock(li.FirstChild) && li.LastChild != nil && !IsBlock(li.LastChild)
}

// wrapsItems says that c, directly inside a list, only stands around items.
func wrapsItems(c *html.Node) bool {
	switch c.DataAtom {
	case atom.Div, atom.Span, atom.Section, atom.Form:
	default:
		return false
	}
	for k := c.FirstChild; k != nil; k = k.NextSibling {
		if k.DataAtom == atom.Li {
			return true
		}
		if (k.DataAtom == atom.Div || k.DataAtom == atom.Span) && k.FirstChild != nil && k.FirstChild.DataAtom == atom.Li {
			return true
		}
	}
	return false
}

// leaveDefinitions brings a definition list to terms and definitions alone.
func (p *pass) leaveDefinitions(n *html.Node) {
	for c := n.FirstChild; c != nil; {
		next := c.NextSibling
		switch {
		case c.DataAtom == atom.Dt || c.DataAtom == atom.Dd:
		case c.Type == html.TextNode && strings.Trim(c.Data, " \n") == "":
			n.RemoveChild(c)
		case c.DataAtom == atom.Div && groupsTerms(c): // the one wrapper that HTML allows
			first := c.FirstChild
			unwrap(c)
			if first != nil {
				next = first
			}
		default:
			into := c.PrevSibling
			if into == nil || into.DataAtom != atom.Dd {
				into = dom.Element(atom.Dd)
				n.InsertBefore(into, c)
			}
			n.RemoveChild(c)
			into.AppendChild(c)
		}
		c = next
	}
}

func groupsTerms(c *html.Node) bool {
	for k := c.FirstChild; k != nil; k = k.NextSibling {
		if k.DataAtom == atom.Dt || k.DataAtom == atom.Dd || k.DataAtom == atom.Div && k.FirstChild != nil {
			return true
		}
	}
	return false
}

// taskItem says that a checkbox is the mark of a task: it stands first in a
// list item, with at most a label or a paragraph around it.
func taskItem(n *html.Node) bool {
	for range 4 {
		for s := n.PrevSibling; s != nil; s = s.PrevSibling {
			if s.Type != html.TextNode || strings.Trim(s.Data, " \t\r\n\f") != "" {
				return false
			}
		}
		n = n.Parent
		if n == nil {
			return false
		}
		switch n.DataAtom {
		case atom.Li:
			return true
		case atom.Label, atom.P, atom.Span:
		default:
			return false
		}
	}
	return false
}
