package extract

import (
	"strings"

	"golang.org/x/net/html"
)

// attr gives the value of an attribute, or "".
func attr(n *html.Node, key string) string {
	for i := range n.Attr {
		if n.Attr[i].Key == key && n.Attr[i].Namespace == "" {
			return n.Attr[i].Val
		}
	}
	return ""
}

// hasAttr says whether an element has an attribute.
func hasAttr(n *html.Node, key string) bool {
	for i := range n.Attr {
		if n.Attr[i].Key == key {
			return true
		}
	}
	return false
}

// hasWord says whether a list of words divided by white space holds one.
func hasWord(list, word string) bool {
	for w := range strings.FieldsSeq(list) {
		if w == word {
			return true
		}
	}
	return false
}

// maxNodeText is how much text is taken from one element for metadata.
const maxNodeText = 64 << 10

// text gives the text under n, up to a bound that no name or title reaches.
// A script's text may be longer.
func text(n *html.Node) string {
	if c := n.FirstChild; c != nil && c.NextSibling == nil && c.Type == html.TextNode {
		return c.Data
	}
	var b strings.Builder
	for c := n; c != nil; c = next(c, n) {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
		if b.Len() > maxNodeText {
			break
		}
	}
	return b.String()
}
