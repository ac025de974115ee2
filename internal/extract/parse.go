package extract

import (
	"context"
	"errors"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"sift.build/sift/internal/dom"
)

// parse makes a tree of a page within the bounds that the package comment
// names. flat says that the page was too much for a tree, and that the result
// has only its headings, paragraphs, lists, code and links.
//
// The content of a noscript element is text in the tree, as it is for a browser
// that runs scripts; normalize reads it.
func parse(ctx context.Context, text []byte) (root *html.Node, flat bool, err error) {
	p := makePlan(text)
	if p.flat {
		root, err = flatten(ctx, text)
		return root, true, err
	}
	source := text
	if p.cut || p.rename {
		source = p.rewrite(text)
	}
	root, err = html.Parse(newSource(ctx, source))
	switch {
	case errors.Is(err, errExpired):
		return nil, false, err
	case err != nil:
		// Nested deeper than the parser follows; it has no other error.
		root, err = flatten(ctx, text)
		return root, true, err
	}
	if p.rename {
		giveBack(root)
	}
	return root, false, nil
}

// giveBack gives renamed elements their names again.
func giveBack(root *html.Node) {
	for n := root; n != nil; n = dom.Next(n, root) {
		if n.Type != html.ElementNode {
			continue
		}
		if name, ok := nameBack(n.Data); ok {
			n.Data, n.DataAtom = name, atom.Lookup([]byte(name))
		}
	}
}
