package extract

import (
	"context"
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"sift.build/sift/internal/dom"
	"sift.build/sift/internal/normalize"
	"sift.build/sift/internal/sift"
)

// maxDrawingNodes is how many groups and texts of a drawing are read.
const maxDrawingNodes = 100_000

// readDrawing fills the document from what an SVG says in words: its title, its
// description and the texts that it shows. Not ok is one without a word, which
// is an image like any other.
func readDrawing(ctx context.Context, doc *sift.Document, text []byte, in Input) (ok bool, err error) {
	root := &html.Node{Type: html.DocumentNode}
	top, body := dom.Element(atom.Html), dom.Element(atom.Body)
	root.AppendChild(top)
	top.AppendChild(body)
	d := drawer{r: &xmlReader{b: text}, at: body}
	for n := 0; ; n++ {
		if n%1024 == 0 {
			if err := alive(ctx); err != nil {
				return false, err
			}
		}
		if !d.step() {
			break
		}
	}
	base, _ := url.Parse(in.URL)
	res := normalize.Page(root, base)
	if res.VisibleChars == 0 {
		return false, nil
	}
	doc.Kind, doc.Main, doc.VisibleChars = sift.KindDrawing, res.Body, res.VisibleChars
	doc.Title = firstText(res.Body, atom.H1)
	doc.Language = (&metadata{lang: d.lang}).language(in.ContentLanguage)
	unseen(doc, &res)
	if d.nodes > maxDrawingNodes || d.r.cut {
		warn(doc, sift.WarnDeepMarkup, "the drawing is too large to be read whole; mode raw has all of it")
	}
	return true, nil
}

// A drawer writes the texts of an SVG as paragraphs, each in the groups that it
// stands in: what hides a group hides its texts.
type drawer struct {
	r     *xmlReader
	at    *html.Node
	open  []*html.Node // where to go on when each open element ends
	lang  string
	nodes int
}

// step takes one tag or text; false says that there are no more.
func (d *drawer) step() bool {
	switch d.r.next() {
	case xmlEnd:
		return false
	case xmlClose:
		d.at = d.open[len(d.open)-1]
		d.open = d.open[:len(d.open)-1]
	case xmlText:
		switch d.at.DataAtom {
		case atom.H1, atom.P, atom.Span, atom.A:
			d.at.AppendChild(dom.Text(d.r.text))
		}
	case xmlStart:
		d.start()
	}
	return true
}

func (d *drawer) start() {
	if d.nodes++; d.nodes > maxDrawingNodes {
		d.open = append(d.open, d.at)
		return
	}
	name := d.r.name[strings.LastIndexByte(d.r.name, ':')+1:]
	if len(d.open) == 0 {
		d.lang = d.r.attr("xml:lang")
		if d.lang == "" {
			d.lang = d.r.attr("lang")
		}
	}
	depth := len(d.open)
	d.open = append(d.open, d.at)
	in := d.at
	switch name {
	case "title":
		if depth == 1 {
			d.enter(in, atom.H1)
		} else {
			d.enter(in, atom.P)
		}
	case "desc":
		d.enter(in, atom.P)
	case "text", "flowpara":
		d.enter(in, atom.P)
	case "tspan", "textpath", "tref", "flowspan":
		if d.r.attr("x") != "" || d.r.attr("dy") != "" { // a line of its own
			in.AppendChild(dom.Text(" "))
		}
		d.enter(in, atom.Span)
	case "a":
		d.enter(in, atom.A)
	case "defs", "clippath", "mask", "pattern", "metadata", "style", "script", "filter":
		// Not shown by themselves: everything in them goes nowhere.
		d.at = dom.Element(atom.Template)
	default:
		if in.DataAtom != atom.P && in.DataAtom != atom.Span && in.DataAtom != atom.H1 {
			d.enter(in, atom.Div)
		}
	}
}

// enter puts an element into another and goes on in it. The attributes that hide
// in a drawing are written as the style that they stand for.
func (d *drawer) enter(in *html.Node, a atom.Atom) {
	n := dom.Element(a)
	in.AppendChild(n)
	d.at = n
	var style strings.Builder
	style.WriteString(d.r.attr("style"))
	for _, key := range []string{"display", "visibility", "opacity", "font-size"} {
		if v := d.r.attr(key); v != "" && !strings.Contains(v, ";") {
			style.WriteString(";" + key + ":" + v)
		}
	}
	if style.Len() > 0 {
		n.Attr = append(n.Attr, html.Attribute{Key: "style", Val: style.String()})
	}
	if a == atom.A {
		href := d.r.attr("href")
		if href == "" {
			href = d.r.attr("xlink:href")
		}
		n.Attr = append(n.Attr, html.Attribute{Key: "href", Val: href})
	}
}
