package extract

import (
	"context"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"sift.build/sift/internal/dom"
	"sift.build/sift/internal/sift"
)

// excerptBytes is how much of a body an excerpt is made from.
const excerptBytes = 64 << 10

// Excerpt gives what an error page says as one line of at most limit
// characters: without markup, and without control characters, terminal escapes
// and direction overrides. Bytes that are no text give "".
func Excerpt(in Input, limit int) string {
	if limit <= 0 || len(in.Body) == 0 {
		return ""
	}
	if len(in.Body) > excerptBytes {
		in.Body, in.Partial = in.Body[:excerptBytes], true
	}
	b, err := open(context.Background(), in)
	if err != nil {
		return ""
	}
	if b.kind != sift.KindHTML {
		return oneLine(string(b.text), limit)
	}
	// The flat form needs no tree and leaves out what nobody sees.
	root, err := flatten(context.Background(), b.text)
	if err != nil {
		return ""
	}
	var out strings.Builder
	title := ""
	for n := root; n != nil; n = dom.Next(n, root) {
		switch {
		case n.Type == html.TextNode && n.Parent.DataAtom == atom.Script:
		case n.Type == html.TextNode && n.Parent.DataAtom == atom.Title:
			title = n.Data
		case n.Type == html.TextNode:
			out.WriteString(n.Data)
		default:
			out.WriteByte(' ')
		}
	}
	if s := oneLine(out.String(), limit); s != "" {
		return s
	}
	return oneLine(title, limit)
}
