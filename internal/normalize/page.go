package normalize

import (
	"hash/maphash"
	"net/url"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"sift.build/sift/internal/dom"
)

// Result is the page in the normal form, and what was left out on the way.
type Result struct {
	Body *html.Node // a detached <body> element, never nil

	// VisibleChars counts the characters of Body's text, white space left
	// out, as CountVisible does.
	VisibleChars int

	// HiddenText counts the characters, white space left out, of elements
	// that a reader could not see: hidden by style or attribute, or by a class
	// that means so.
	HiddenText int
	// Assistive counts the same for text that is meant for screen readers
	// only (class sr-only and the like). Most pages have some; it is not in
	// HiddenText and needs no warning by itself.
	Assistive int

	// TagChars counts Unicode tag characters, an alphabet that nobody can
	// see, outside of flags.
	TagChars int

	// Invisible counts other invisible characters that were removed, such as
	// zero-width joiners outside of words and emoji, variation selectors and
	// control characters. Soft hyphens, zero-width spaces and direction marks
	// go uncounted: ordinary pages are full of them.
	Invisible int
	Bidi      int // direction overrides, embeddings and isolates removed

	PrivateLinks int // links from a public page to a private address
}

// pass is one run over one page.
type pass struct {
	res  Result
	body *html.Node
	urls resolver

	sheet    sheet
	paint    []paint // how text is drawn, by the elements around that changed it
	tinted   bool    // some element did
	passages *collected

	tables []table             // the tables around the current element
	refs   []ref               // links that may be footnote references
	words  map[uint64]struct{} // what the page says, as hashes; for noscript
	seed   maphash.Seed
	tex    texDelimiters

	holes, parts map[string]*html.Node // of a page that React streams; see streamed
	disclosed    map[*html.Node]struct{}
	openers      map[*html.Node]opener // buttons, and the panels behind them
	veils        veils
	scripted     bool                // a script of the page runs
	main         *html.Node          // the first part of the page that says it is the main one
	tablists     int                 // rows of tabs looked at
	controlled   map[string]struct{} // ids of panels that a tab or an accordion's button opens
}

// Page rewrites the document under root in place to the normal form. base is
// the address that the page came from; without one relative links become text.
// It takes time linear in the size of the page, and no recursion over the tree
// but for the contents of a formula, which is bounded.
func Page(root *html.Node, base *url.URL) Result { return run(root, base, nil) }

func run(root *html.Node, base *url.URL, into *collected) Result {
	p := &pass{urls: newResolver(base), passages: into}
	p.head(root)
	p.streamed()
	if p.body.Parent != nil {
		p.body.Parent.RemoveChild(p.body)
	}
	p.ground()
	p.body.Attr = keepAttr(p, p.body.Attr)
	removeAttr(p.body, "href")
	p.walk()
	p.notes()
	if into != nil {
		into.finish()
	}
	p.res.Body = p.body
	p.res.VisibleChars = CountVisible(p.body)
	return p.res
}

// ground works out what the page is painted on.
func (p *pass) ground() {
	p.sheet.finish()
	base := paint{node: p.body}
	if !p.sheet.external {
		base.bg = paper
	}
	p.paint = append(p.paint[:0], base)
	a := readAttr(p.body)
	d := readStyle(a.style)[0]
	if p.sheet.rules != nil {
		says, _, ground, grounded := p.sheet.seen(p.body, a.id, a.class)
		d = cascade(says[0], d, says[1])
		if k := p.sheet.rules["html"]; k != nil && k.paint && d.set&propGround == 0 && !grounded {
			d.set |= propGround
			d.bg = k.bg
		}
		if grounded && d.set&propGround == 0 {
			d.set |= propGround
			d.bg = ground
		}
	}
	d.set &= propColour | propGround | propPicture
	if d.set == 0 && a.ground == "" {
		return
	}
	p.draw(p.body, &attrs{ground: a.ground}, &d, d.set, 0, colour{}, false, "")
}

// head looks at the whole document once for what must be known beforehand: the
// body, <base>, which panels can be opened, and which TeX delimiters a script
// of the page replaces.
func (p *pass) head(root *html.Node) {
	var frameset *html.Node
	based := false
	for n := root; n != nil; n = following(n, root, true) {
		if n.Type != html.ElementNode {
			continue
		}
		switch n.DataAtom {
		case atom.Base:
			if href := dom.Attr(n, "href"); href != "" && !based {
				based = true
				p.urls.setBaseHref(href)
			}
		case atom.Body:
			if p.body == nil {
				p.body = n
			}
		case atom.Frameset:
			if frameset == nil {
				frameset = n
			}
		case atom.Script:
			p.tex.look(n)
			p.scripted = p.scripted || runs(n)
		case atom.Template:
			p.hole(n)
		case atom.Style:
			p.addSheet(n)
		case atom.Link:
			rel := dom.Attr(n, "rel")
			p.sheet.external = p.sheet.external || len(rel) < 64 && strings.Contains(strings.ToLower(rel), "stylesheet")
		default:
			p.opener(n)
		}
	}
	if p.body == nil {
		p.body = &html.Node{Type: html.ElementNode, Data: "body", DataAtom: atom.Body}
		if frameset != nil {
			for n := frameset; n != nil; {
				next := following(n, frameset, true)
				if n.DataAtom == atom.Frame || n.DataAtom == atom.Noframes {
					n.Parent.RemoveChild(n)
					p.body.AppendChild(n)
				}
				n = next
			}
		}
	}
}

// walk visits every node of the body once on the way down and once on the way
// up. enter and leave may replace or remove the node they are given, and may
// put nodes in front of it.
func (p *pass) walk() {
	n := p.body.FirstChild
	for n != nil {
		if n.DataAtom == atom.Noscript || n.DataAtom == atom.Noframes {
			n = p.noscript(n)
		}
		var into bool
		n, into = p.enter(n)
		if into && n.FirstChild != nil {
			n = n.FirstChild
			continue
		}
		for {
			next, parent := n.NextSibling, n.Parent
			p.leave(n)
			if next != nil {
				n = next
				break
			}
			if parent == p.body || parent == nil {
				return
			}
			n = parent
		}
	}
}

// skip empties n on the way down and makes it an empty text, which leave takes
// out of the tree. So the walk needs no special case for a parent whose last
// child has gone.
func skip(n *html.Node) (*html.Node, bool) {
	n.Type, n.Data, n.DataAtom, n.Attr, n.Namespace = html.TextNode, "", 0, nil, ""
	n.FirstChild, n.LastChild = nil, nil
	return n, false
}

// enter prepares n on the way down. It returns n or what now stands in its
// place, and whether to visit its children: not when they are in the normal
// form already.
func (p *pass) enter(n *html.Node) (*html.Node, bool) {
	switch n.Type {
	case html.TextNode:
		p.enterText(n)
		return n, false
	case html.ElementNode:
	default:
		return skip(n)
	}
	if n.Namespace != "" {
		if n.Namespace == "math" && n.Data == "math" {
			return p.math(n)
		}
		return skip(n)
	}
	switch n.DataAtom {
	case atom.Script:
		return p.mathScript(n)
	case atom.Style, atom.Template, atom.Head, atom.Link, atom.Meta, atom.Title, atom.Base, atom.Basefont, atom.Bgsound,
		atom.Canvas, atom.Svg, atom.Select, atom.Option, atom.Optgroup, atom.Datalist, atom.Textarea, atom.Progress, atom.Meter,
		atom.Param, atom.Source, atom.Track, atom.Area, atom.Map, atom.Dialog, atom.Colgroup, atom.Col, atom.Rp, atom.Menuitem, atom.Noembed:
		if n.DataAtom == atom.Dialog && dom.HasAttr(n, "open") || n.DataAtom == atom.Map && n.FirstChild != nil {
			break
		}
		if n.DataAtom == atom.Dialog {
			p.hide(n, &p.res.HiddenText, HowAttribute)
		} else if n.DataAtom == atom.Template && p.passages != nil {
			var inert int
			n.DataAtom, n.Data = atom.Div, "div"
			p.hide(n, &inert, HowAttribute)
		}
		return skip(n)
	case atom.Wbr:
		return skip(n)
	}

	a := readAttr(n)
	switch kind, how := p.hidden(n, &a); kind {
	case hiddenText:
		total := &p.res.HiddenText
		if closed(n, &a) {
			total = &p.res.Assistive
		}
		p.hide(n, total, how)
		return skip(n)
	case assistive:
		p.hide(n, &p.res.Assistive, how)
		return skip(n)
	case decoration:
		return skip(n)
	}
	if p.tinted {
		if how, ok := p.paint[len(p.paint)-1].faint(); ok && p.whole(n, how) {
			p.hide(n, &p.res.HiddenText, how)
			return skip(n)
		}
	}
	if p.enterMath(n, &a) {
		return n, false
	}

	switch n.DataAtom {
	case atom.Pre, atom.Listing, atom.Xmp, atom.Plaintext:
		return p.pre(n, &a)
	case atom.Code:
		if breaks(n) {
			return p.pre(n, &a)
		}
	case atom.Tt, atom.Samp, atom.Kbd:
		rename(n, atom.Code)
	case atom.Img:
		return p.img(n)
	case atom.Picture:
		picture(n)
	case atom.Iframe, atom.Frame, atom.Embed, atom.Object, atom.Video, atom.Audio:
		return p.media(n, &a)
	case atom.Input:
		if strings.EqualFold(a.typ, "checkbox") && taskItem(n) {
			checked := a.checked
			n.Attr = append(n.Attr[:0], html.Attribute{Key: "type", Val: "checkbox"})
			if checked {
				n.Attr = append(n.Attr, html.Attribute{Key: "checked"})
			}
			return n, false
		}
		between := (strings.EqualFold(a.typ, "radio") || strings.EqualFold(a.typ, "checkbox")) && prevElement(n) != nil && nextElement(n) != nil
		skip(n)
		if between {
			n.Data = " " // two labels with a box between them
		}
		return n, false
	case atom.Button:
		content, names := p.contentButton(n, &a), p.names(n)
		switch {
		case !content && !names:
			return skip(n)
		case holdsHeading(n):
			rename(n, atom.Div)
		case content && dom.HasAttr(n, "aria-expanded") || !names:
			rename(n, atom.Span)
		default:
			nameLine(n)
		}
		if prev := n.PrevSibling; prev != nil && prev.Type == html.ElementNode && !IsBlock(prev) {
			n.Parent.InsertBefore(dom.Text(" "), n) // as between two links
		}
	case atom.Table:
		if p.codeTable(n, &a) {
			return n, false
		}
		p.enterTable(n, &a)
	case atom.Tr:
		p.enterRow()
	case atom.Td, atom.Th:
		p.enterCell(n)
	case atom.Span:
		if a.role == "heading" && n.Parent.DataAtom != atom.P && (IsBlock(n.Parent) || n.Parent == p.body) {
			rename(n, headingAtom(dom.Attr(n, "aria-level")))
		} else if a.class != "" && sideNote(a.class) {
			p.setApart(n)
		}
	case atom.Div, atom.P:
		if a.role == "heading" && n.DataAtom == atom.Div {
			rename(n, headingAtom(dom.Attr(n, "aria-level")))
		}
		if p.codeLines(n, &a) {
			return n, false
		}
	case atom.Center:
		rename(n, atom.Div)
	case atom.Dir, atom.Menu:
		rename(n, atom.Ul)
	case atom.B:
		rename(n, atom.Strong)
	case atom.I:
		rename(n, atom.Em)
	case atom.S, atom.Strike:
		rename(n, atom.Del)
	case 0:
		if strings.HasPrefix(n.Data, "amp-") {
			return p.amp(n, &a)
		}
	}
	if chrome(n, &a) {
		return skip(n)
	}
	n.Attr = keepAttr(p, n.Attr)
	if n.DataAtom == atom.Form && asksForm(n) {
		setAttr(n, "role", "form")
	}
	if (a.role == "tablist" || a.class != "" && tabLabels(a.class)) && p.nameTabs(n) {
		return skip(n)
	}
	return n, true
}

// leave finishes n on the way up, when all of its children are in the normal
// form.
func (p *pass) leave(n *html.Node) {
	for k := len(p.paint) - 1; k > 0 && p.paint[k].node == n; k-- {
		p.paint = p.paint[:k]
	}
	if n.Type == html.TextNode {
		if n.Data == "" && n.Parent != nil {
			n.Parent.RemoveChild(n)
		}
		p.apart(n)
		return
	}
	p.count(n)
	if n.DataAtom != atom.A {
		removeAttr(n, "href") // only a link's is resolved
	}
	switch n.DataAtom {
	case atom.A:
		p.leaveLink(n)
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		p.leaveHeading(n)
	case atom.Li:
		p.leaveItem(n)
	case atom.Ul, atom.Ol:
		p.leaveList(n)
	case atom.Dl:
		p.leaveDefinitions(n)
	case atom.Td, atom.Th:
		p.leaveCell(n)
	case atom.Tr:
		p.leaveRow(n)
	case atom.Table:
		p.leaveTable(n)
	case atom.Rt:
		surround(n, "(", ")")
		rename(n, atom.Span)
	case atom.Q:
		surround(n, "“", "”")
		rename(n, atom.Span)
	case atom.Ruby, atom.Font, atom.Big, atom.Bdo, atom.Bdi, atom.Nobr, atom.Acronym, atom.Picture, atom.Map, atom.Label, atom.Output,
		atom.Blink, atom.Abbr, atom.Dfn, atom.Tt, atom.Var, atom.Data, atom.Slot:
		rename(n, atom.Span)
	case atom.Form, atom.Fieldset, atom.Legend, atom.Marquee, atom.Dialog:
		rename(n, atom.Div)
	case atom.Strong, atom.Em, atom.Del, atom.Code, atom.Sub, atom.Sup, atom.U, atom.Small, atom.Ins, atom.Mark:
		if n.FirstChild == nil && n.Parent != nil {
			n.Parent.RemoveChild(n)
		}
	}
	if n.Parent != nil && n.PrevSibling != nil {
		p.apart(n)
	}
}

func (p *pass) enterText(n *html.Node) {
	if p.tinted {
		top := &p.paint[len(p.paint)-1]
		if how, ok := top.faint(); ok {
			if chars := countText(n.Data); chars > 0 {
				p.res.HiddenText += chars
				p.faintText(n.Data, chars, how, top.node)
				n.Data = ""
				return
			}
		}
	}
	n.Data = p.text(n.Data, false)
	if len(p.tables) > 0 {
		p.countText(n.Data)
	}
	if p.tex.any() {
		p.texInText(n)
	}
}

// count keeps the running figures about the table around n.
func (p *pass) count(n *html.Node) {
	if len(p.tables) == 0 || n.FirstChild == nil {
		return
	}
	t := &p.tables[len(p.tables)-1]
	switch n.DataAtom {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		t.cell.headings++
		t.cell.blocks++
	case atom.P, atom.Ul, atom.Ol, atom.Dl, atom.Blockquote, atom.Div, atom.Section, atom.Article, atom.Figure, atom.Hr:
		t.cell.blocks++
		if n.DataAtom == atom.Ul || n.DataAtom == atom.Ol || n.DataAtom == atom.Dl {
			t.cell.lists++
		}
	}
}

// following gives the node after n in document order inside top; the children
// of n come first when into is set.
func following(n, top *html.Node, into bool) *html.Node {
	if into {
		return dom.Next(n, top)
	}
	return dom.Behind(n, top)
}

// rename makes n another HTML element.
func rename(n *html.Node, a atom.Atom) { n.Data, n.DataAtom = a.String(), a }

// unwrap puts the children of n in its place.
func unwrap(n *html.Node) {
	parent := n.Parent
	if parent == nil {
		return
	}
	for c := n.FirstChild; c != nil; c = n.FirstChild {
		n.RemoveChild(c)
		parent.InsertBefore(c, n)
	}
	parent.RemoveChild(n)
}

func surround(n *html.Node, before, after string) {
	if n.FirstChild == nil {
		return
	}
	n.InsertBefore(dom.Text(before), n.FirstChild)
	n.AppendChild(dom.Text(after))
}

// replace puts m in the place of n.
func replace(n, m *html.Node) {
	if n.Parent != nil {
		n.Parent.InsertBefore(m, n)
		n.Parent.RemoveChild(n)
	}
}

// CountVisible counts the characters of the text under n, white space left
// out. It is the measure behind the coverage of an answer: of a whole page and
// of the part that was kept.
func CountVisible(n *html.Node) int {
	total := 0
	for c := n; c != nil; c = following(c, n, true) {
		if c.Type == html.TextNode {
			total += countText(c.Data)
		}
	}
	return total
}

func countText(s string) int {
	total := 0
	for i := range len(s) {
		if c := s[i]; c > ' ' && (c < 0x80 || c >= 0xc0) { // a byte that begins a character
			total++
		}
	}
	return total
}

// IsBlock says that n starts and ends a line of its own: a block as opposed to
// a part of running text.
func IsBlock(n *html.Node) bool {
	if n.Type != html.ElementNode {
		return false
	}
	switch n.DataAtom {
	case atom.Address, atom.Article, atom.Aside, atom.Blockquote, atom.Body, atom.Caption, atom.Dd, atom.Details, atom.Dialog, atom.Div,
		atom.Dl, atom.Dt, atom.Fieldset, atom.Figcaption, atom.Figure, atom.Footer, atom.Form, atom.H1, atom.H2, atom.H3, atom.H4,
		atom.H5, atom.H6, atom.Header, atom.Hgroup, atom.Hr, atom.Legend, atom.Li, atom.Main, atom.Nav, atom.Ol, atom.P, atom.Pre,
		atom.Search, atom.Section, atom.Summary, atom.Table, atom.Tbody, atom.Td, atom.Tfoot, atom.Th, atom.Thead, atom.Tr, atom.Ul:
		return true
	}
	return false
}

// cut gives at most limit characters of s.
func cut(s string, limit int) string {
	for i := range s {
		if limit == 0 {
			return s[:i]
		}
		limit--
	}
	return s
}

// plainText gives the text under n, with a space where a block or a line ends,
// at most limit bytes and what completes the last character.
func plainText(n *html.Node, limit int) string {
	if c := n.FirstChild; c != nil && c == n.LastChild && c.Type == html.TextNode && len(c.Data) <= limit {
		return strings.Trim(c.Data, " \n")
	}
	var b []byte
	for c := n; c != nil && len(b) < limit; c = following(c, n, true) {
		switch {
		case c.Type == html.TextNode:
			b = append(b, c.Data[:min(len(c.Data), limit)]...)
		case c.DataAtom == atom.Br || IsBlock(c):
			b = append(b, ' ')
		}
	}
	if len(b) > limit {
		b = b[:limit]
	}
	for len(b) > 0 && !utf8.Valid(b[max(0, len(b)-utf8.UTFMax):]) && !utf8.RuneStart(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return strings.Join(strings.Fields(string(b)), " ")
}
