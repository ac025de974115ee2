package extract

import (
	"context"
	"fmt"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"sift.build/sift/internal/dom"
	"sift.build/sift/internal/normalize"
)

const (
	// flatElements is how many elements the flat form has at most. What comes
	// after them is text of the last block.
	flatElements = 200_000
	// flatHead is how many elements of the head are kept for the metadata.
	flatHead = 500
	// flatChecks is how many different sets of attributes are judged on
	// whether they hide an element. Beyond that, one that looks as if it might
	// is taken to hide.
	flatChecks = 20_000
)

// A flattener turns the tags of a page into a shallow tree: a body of headings,
// paragraphs, lists and code, in which navigation, header, footer and aside are
// still apart.
type flattener struct {
	head, body *html.Node

	part     *html.Node // where blocks go: the body, or a nav, header, footer or aside in it
	partID   atom.Atom  // which of these, or 0
	partNest int        // how many of the same name are open inside
	list     *html.Node // the list that the last block was an item of
	ordered  []bool     // of the lists that are open, whether they count
	block    *html.Node // where text goes; nil between blocks
	link     *html.Node // the link in block that is open
	pre      bool       // block is code

	text     strings.Builder // of block or link, not in the tree yet
	elements int

	skipID   uint32          // the element whose contents are left out, or 0
	skipNest int             // how many of the same name are open inside
	seen     map[string]bool // whether attributes hide
}

// flatten is what is left when a page is too deep or too large for a tree. It
// takes time linear in the size of the page and remembers only where it is.
func flatten(ctx context.Context, text []byte) (*html.Node, error) {
	f := flattener{head: dom.Element(atom.Head), body: dom.Element(atom.Body), seen: map[string]bool{}}
	f.part = f.body
	l := lexer{b: text}
	for n := 0; ; n++ {
		if n%4096 == 0 {
			if err := ctx.Err(); err != nil {
				return nil, fmt.Errorf("%w: %w", errExpired, err)
			}
		}
		kind := l.next()
		if l.textTo > l.textFrom && f.skipID == 0 {
			f.write(html.UnescapeString(string(text[l.textFrom:l.textTo])))
		}
		switch kind {
		case lexEnd:
			f.flush()
			root := &html.Node{Type: html.DocumentNode}
			top := dom.Element(atom.Html)
			root.AppendChild(top)
			top.AppendChild(f.head)
			top.AppendChild(f.body)
			return root, nil
		case lexStart:
			f.start(&l)
		case lexClose:
			f.close(&l)
		case lexComment:
		}
	}
}

func (f *flattener) start(l *lexer) {
	id := l.id()
	name := atom.Atom(id)
	if f.skipID != 0 {
		if id == f.skipID && !l.closed && !isVoid(name) {
			f.skipNest++
		}
		f.raw(l, name)
		return
	}
	if f.headElement(l, name) || f.raw(l, name) {
		return
	}
	switch name {
	case atom.Svg, atom.Select, atom.Template, atom.Datalist, atom.Button, atom.Canvas, atom.Dialog:
		if !l.closed {
			f.skipID = id
		}
		return
	}
	if !isVoid(name) && f.hides(l) {
		f.skipID = id
		return
	}
	switch name {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		f.open(name)
		if anchor := l.attr("id"); anchor != "" {
			f.block.Attr = append(f.block.Attr, html.Attribute{Key: "id", Val: html.UnescapeString(anchor)})
		}
	case atom.Pre, atom.Listing, atom.Xmp, atom.Plaintext:
		f.open(atom.Pre)
		f.pre = true
	case atom.Ul, atom.Ol:
		f.end()
		f.list = nil
		if len(f.ordered) < maxOpen {
			f.ordered = append(f.ordered, name == atom.Ol)
		}
	case atom.Li:
		f.item()
	case atom.Nav, atom.Header, atom.Footer, atom.Aside:
		f.end()
		f.list = nil
		switch {
		case f.partID == name:
			f.partNest++
		case f.partID == 0 && f.elements < flatElements:
			f.elements++
			f.partID, f.partNest, f.part = name, 0, dom.Element(name)
			f.body.AppendChild(f.part)
		}
	case atom.Br:
		f.write("\n")
	case atom.Td, atom.Th:
		f.write(" ")
	case atom.A:
		f.openLink(l.attr("href"))
	case atom.Img:
		if alt := l.attr("alt"); alt != "" {
			f.write(" " + html.UnescapeString(alt) + " ")
		}
	default:
		if flatBlock(name) {
			f.end()
		}
	}
}

func (f *flattener) close(l *lexer) {
	id := l.id()
	name := atom.Atom(id)
	if f.skipID != 0 {
		if id == f.skipID {
			if f.skipNest == 0 {
				f.skipID = 0
			} else {
				f.skipNest--
			}
		}
		return
	}
	switch name {
	case atom.A:
		if f.link != nil {
			f.flush()
			f.link = nil
		}
	case atom.Ul, atom.Ol:
		f.end()
		f.list = nil
		if n := len(f.ordered); n > 0 {
			f.ordered = f.ordered[:n-1]
		}
	case atom.Nav, atom.Header, atom.Footer, atom.Aside:
		f.end()
		f.list = nil
		if f.partID == name {
			if f.partNest == 0 {
				f.partID, f.part = 0, f.body
			} else {
				f.partNest--
			}
		}
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Pre, atom.Listing, atom.Xmp:
		f.end()
	default:
		if flatBlock(name) {
			f.end()
		}
	}
}

// flatBlock says whether a block ends where such an element begins or ends.
func flatBlock(name atom.Atom) bool {
	switch name {
	case atom.P, atom.Div, atom.Section, atom.Article, atom.Main, atom.Address, atom.Figure, atom.Figcaption, atom.Form, atom.Fieldset,
		atom.Table, atom.Caption, atom.Tr, atom.Dl, atom.Dt, atom.Dd, atom.Center, atom.Details, atom.Summary, atom.Blockquote, atom.Hr,
		atom.Body, atom.Html, atom.Li, atom.Tbody, atom.Thead, atom.Tfoot:
		return true
	}
	return false
}

func isVoid(name atom.Atom) bool {
	switch name {
	case atom.Area, atom.Base, atom.Br, atom.Col, atom.Embed, atom.Hr, atom.Img, atom.Input, atom.Keygen,
		atom.Link, atom.Meta, atom.Param, atom.Source, atom.Track, atom.Wbr, atom.Frame:
		return true
	}
	return false
}

// headElement keeps what the metadata is read from.
func (f *flattener) headElement(l *lexer, name atom.Atom) bool {
	var keys []string
	switch name {
	case atom.Title:
	case atom.Meta:
		keys = []string{"name", "property", "itemprop", "http-equiv", "content"}
	case atom.Link:
		keys = []string{"rel", "href", "hreflang", "type", "title"}
	case atom.Base:
		keys = []string{"href"}
	case atom.Script:
		if !strings.EqualFold(strings.TrimSpace(l.attr("type")), ldJSON) {
			return false
		}
		keys = []string{"type"}
	case atom.Html:
		if lang := l.attr("lang"); lang != "" {
			f.body.Attr = append(f.body.Attr[:0], html.Attribute{Key: "lang", Val: html.UnescapeString(lang)})
		}
		return false
	default:
		return false
	}
	n := dom.Element(name)
	for _, k := range keys {
		if v := l.attr(k); v != "" {
			n.Attr = append(n.Attr, html.Attribute{Key: k, Val: html.UnescapeString(v)})
		}
	}
	if name == atom.Title || name == atom.Script {
		content := string(l.skipRaw(name))
		if name == atom.Title {
			content = html.UnescapeString(content)
		}
		n.AppendChild(&html.Node{Type: html.TextNode, Data: content})
	}
	if f.elements < flatHead {
		f.elements++
		f.head.AppendChild(n)
	}
	return true
}

// raw leaves out the contents of elements whose text is not for reading.
func (f *flattener) raw(l *lexer, name atom.Atom) bool {
	switch name {
	case atom.Script, atom.Style, atom.Textarea, atom.Iframe, atom.Noembed, atom.Title:
		l.skipRaw(name)
		return true
	}
	return false
}

// hides says whether the element is one that a reader does not see. The rules
// are those of the normal form, which is asked about an element of its own.
func (f *flattener) hides(l *lexer) bool {
	if l.attrs == 0 {
		return false
	}
	var attrs []html.Attribute
	for _, k := range []string{"style", "class", "aria-hidden"} {
		if v := l.attr(k); v != "" && len(v) <= 1024 {
			attrs = append(attrs, html.Attribute{Key: k, Val: html.UnescapeString(v)})
		}
	}
	if l.has("hidden") {
		attrs = append(attrs, html.Attribute{Key: "hidden"})
	}
	if len(attrs) == 0 {
		return false
	}
	key := fmt.Sprint(attrs)
	if h, ok := f.seen[key]; ok {
		return h
	}
	if len(f.seen) >= flatChecks {
		return attrs[0].Key != "class"
	}
	probe := dom.Element(atom.Div)
	probe.Attr = attrs
	probe.AppendChild(&html.Node{Type: html.TextNode, Data: "seen"})
	body := dom.Element(atom.Body)
	body.AppendChild(probe)
	h := normalize.Page(body, nil).VisibleChars == 0
	f.seen[key] = h
	return h
}

// open begins a block, or goes on with the last one when there are too many.
func (f *flattener) open(name atom.Atom) {
	f.end()
	f.list = nil
	if f.elements >= flatElements {
		f.resume()
		return
	}
	f.elements++
	f.block = dom.Element(name)
	f.part.AppendChild(f.block)
}

// item begins an item of a list.
func (f *flattener) item() {
	f.end()
	if f.elements >= flatElements {
		f.resume()
		return
	}
	if f.list == nil {
		kind := atom.Ul
		if n := len(f.ordered); n > 0 && f.ordered[n-1] {
			kind = atom.Ol
		}
		f.elements++
		f.list = dom.Element(kind)
		f.part.AppendChild(f.list)
	}
	f.elements++
	f.block = dom.Element(atom.Li)
	f.list.AppendChild(f.block)
}

// resume gives all text that follows to one last block.
func (f *flattener) resume() {
	if f.block != nil {
		return
	}
	f.block = dom.Element(atom.P)
	f.body.AppendChild(f.block)
}

// end closes the block. Beyond the bound on elements there is no other to come.
func (f *flattener) end() {
	if f.elements >= flatElements && f.block != nil {
		f.write("\n")
		return
	}
	f.flush()
	f.block, f.link, f.pre = nil, nil, false
}

// flush moves the text into the tree.
func (f *flattener) flush() {
	if f.text.Len() == 0 {
		return
	}
	to := f.block
	if f.link != nil {
		to = f.link
	}
	to.AppendChild(&html.Node{Type: html.TextNode, Data: f.text.String()})
	f.text = strings.Builder{}
}

// write adds text to the block. Text outside of any begins a paragraph.
func (f *flattener) write(s string) {
	if f.block == nil {
		if strings.TrimSpace(s) == "" {
			return
		}
		f.open(atom.P)
	}
	f.text.WriteString(s)
}

func (f *flattener) openLink(href string) {
	if f.link != nil {
		f.flush()
		f.link = nil
	}
	if href == "" || f.elements >= flatElements {
		return
	}
	f.flush()
	if f.block == nil {
		f.open(atom.P)
	}
	f.elements++
	f.link = dom.Element(atom.A)
	f.link.Attr = []html.Attribute{{Key: "href", Val: html.UnescapeString(href)}}
	f.block.AppendChild(f.link)
}
