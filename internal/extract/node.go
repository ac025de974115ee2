package extract

import (
	"strings"

	"golang.org/x/net/html"

	"sift.build/sift/internal/dom"
)

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
	for c := n; c != nil; c = dom.Next(c, n) {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
		if b.Len() > maxNodeText {
			break
		}
	}
	return b.String()
}
