// Package dom has the steps through an HTML tree, and the small parts of one,
// that every package which reads or makes such trees needs.
package dom

import (
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Next gives the node after n in document order inside top, nil after the last.
func Next(n, top *html.Node) *html.Node {
	if n.FirstChild != nil {
		return n.FirstChild
	}
	return Behind(n, top)
}

// Behind gives the node inside top that follows n and all that is in it, nil
// after the last.
func Behind(n, top *html.Node) *html.Node {
	for n != top && n != nil {
		if n.NextSibling != nil {
			return n.NextSibling
		}
		n = n.Parent
	}
	return nil
}

// Element makes an element that stands nowhere.
func Element(a atom.Atom, attr ...html.Attribute) *html.Node {
	return &html.Node{Type: html.ElementNode, Data: a.String(), DataAtom: a, Attr: attr}
}

// Text makes a text node that stands nowhere.
func Text(s string) *html.Node { return &html.Node{Type: html.TextNode, Data: s} }

// Shallow copies a node with its attributes, without its place in the tree and
// what is in it.
func Shallow(n *html.Node) *html.Node {
	c := &html.Node{Type: n.Type, DataAtom: n.DataAtom, Data: n.Data}
	if len(n.Attr) > 0 {
		c.Attr = append(make([]html.Attribute, 0, len(n.Attr)), n.Attr...)
	}
	return c
}

// Attr gives an attribute of n, "" where it has none.
func Attr(n *html.Node, key string) string {
	for i := range n.Attr {
		if n.Attr[i].Key == key && n.Attr[i].Namespace == "" {
			return n.Attr[i].Val
		}
	}
	return ""
}

// HasAttr says whether n has an attribute, be it empty.
func HasAttr(n *html.Node, key string) bool {
	for i := range n.Attr {
		if n.Attr[i].Key == key && n.Attr[i].Namespace == "" {
			return true
		}
	}
	return false
}

// HeadingLevel is 1 for an h1 to 6 for an h6, and 0 for any other node.
func HeadingLevel(n *html.Node) int {
	switch n.DataAtom {
	case atom.H1:
		return 1
	case atom.H2:
		return 2
	case atom.H3:
		return 3
	case atom.H4:
		return 4
	case atom.H5:
		return 5
	case atom.H6:
		return 6
	}
	return 0
}
