package normalize

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"sift.build/sift/internal/dom"
)

// leaveLink resolves a link, or takes it apart when there is nothing to link
// to.
func (p *pass) leaveLink(n *html.Node) {
	href, is := "", false
	for i := range n.Attr {
		if n.Attr[i].Key == "href" {
			href, is = n.Attr[i].Val, true
			break
		}
	}
	if !is {
		if n.FirstChild != nil {
			rename(n, atom.Span)
		}
		return // <a id="…"></a> stays: a heading may want it
	}
	if p.permalink(n, href) {
		n.Parent.RemoveChild(n)
		return
	}
	abs, web := p.urls.resolve(href)
	if abs == "" || href != "" && strings.Trim(href, " \t\r\n\f#!") == "" { // href="#" is a button
		removeAttr(n, "href")
		rename(n, atom.Span)
		return
	}
	setAttr(n, "href", abs)
	if web && p.urls.public && p.urls.private(abs) {
		setAttr(n, "data-private", "")
		p.res.PrivateLinks++
	}
	if prev := n.PrevSibling; prev != nil && prev.DataAtom == atom.A && prev.FirstChild != nil && n.FirstChild != nil {
		n.Parent.InsertBefore(dom.Text(" "), n) // the space between two buttons is the style sheet's
	}
	if frag, ok := p.urls.fragment(abs); ok {
		p.noteLink(n, frag)
	}
}

// fragment gives the anchor of a link inside the page itself.
func (r *resolver) fragment(abs string) (string, bool) {
	if len(abs) <= len(r.page)+1 || r.page == "" || abs[len(r.page)] != '#' || abs[:len(r.page)] != r.page {
		return "", false
	}
	return abs[len(r.page)+1:], true
}

// leaveHeading takes the permalink sign out of a heading and sees that its id
// is where a link to it leads.
func (p *pass) leaveHeading(n *html.Node) {
	id := dom.Attr(n, "id")
	for c := n.FirstChild; c != nil; {
		next := following(c, n, !IsHeading(c)) // a heading inside has seen to its own
		if c.Type != html.ElementNode {
			c = next
			continue
		}
		frag := ""
		if c.DataAtom == atom.A {
			frag, _ = p.urls.fragment(dom.Attr(c, "href"))
		}
		own := dom.Attr(c, "id")
		if id == "" {
			id = own
		}
		if id == "" && frag != "" {
			id = unescapeFragment(frag)
		}
		switch {
		case (c.DataAtom == atom.A && frag != "" || permalinkClass(dom.Attr(c, "class"))) && permalinkSign(c):
			next = following(c, n, false)
			dropWithGap(c)
		case frag != "" && (frag == id || unescapeFragment(frag) == id):
			rename(c, atom.Span) // the whole heading is a link to itself
			removeAttr(c, "href")
		}
		c = next
	}
	p.dropEditLinks(n)
	if id == "" {
		if prev := prevElement(n); prev != nil && prev.DataAtom == atom.A && prev.FirstChild == nil { // <a name="x"></a><h2>
			id = dom.Attr(prev, "id")
		} else if n.Parent != nil && prevElement(n) == nil { // <section id="x"><h2>
			switch n.Parent.DataAtom {
			case atom.Section, atom.Header, atom.Hgroup:
				id = dom.Attr(n.Parent, "id")
				if id == "" && n.Parent.DataAtom != atom.Section && n.Parent.Parent != nil && prevElement(n.Parent) == nil && n.Parent.Parent.DataAtom == atom.Section {
					id = dom.Attr(n.Parent.Parent, "id")
				}
			}
		}
	}
	if id != "" && len(id) <= attrMax {
		setAttr(n, "id", id)
	}
	if p.passages != nil {
		p.passages.under(n)
	}
	if p.urls.page != "" { // GitHub: <div><h2>…</h2><a class="anchor" href="#…"></a></div>
		trimHeading(n)
	}
}

// dropEditLinks takes the links to an editor out of a heading, with the brackets
// around them.
func (p *pass) dropEditLinks(n *html.Node) {
	bound := 200
	for c := n.FirstChild; c != nil && bound > 0; {
		bound--
		next := following(c, n, !IsHeading(c))
		if c.DataAtom == atom.A && p.editLink(c) && preceded(c, n) {
			next = following(c, n, false)
			box := c.Parent
			before, after := c.PrevSibling, c.NextSibling
			dropWithGap(c)
			if before != nil && before.Parent == box && before.Type == html.TextNode {
				before.Data = strings.TrimRight(before.Data, "[(|· \n")
			}
			if after != nil && after.Type == html.TextNode {
				after.Data = strings.TrimLeft(after.Data, "])|· \n")
			}
			if box != n && strings.Trim(plainText(box, 20), "[](){}|·/ \n") == "" {
				if next != nil && inside(next, box) {
					next = following(box, n, false)
				}
				dropWithGap(box)
			}
		}
		c = next
	}
}

// preceded says that there is text in n in front of c: the heading itself.
func preceded(c, n *html.Node) bool {
	for ; c != nil && c != n; c = c.Parent {
		for s := c.PrevSibling; s != nil; s = s.PrevSibling {
			if s.Type == html.TextNode && strings.Trim(s.Data, " \n[(") != "" || s.Type == html.ElementNode && plainText(s, 8) != "" {
				return true
			}
		}
	}
	return false
}

// editLink says that a link leads to an editor, by its address or its word.
func (p *pass) editLink(c *html.Node) bool {
	s := plainText(c, 64)
	if s == "" || len(s) > 40 {
		return false
	}
	switch strings.ToLower(strings.Trim(s, "[]() ")) {
	case "edit", "edit source", "edit section", "edit this section", "edit this", "edit page", "edit this page", "edit on github", "suggest edits", "bearbeiten", "quelltext bearbeiten", "modifier", "modifier le code", "editar",
		"editar código", "modifica", "modifica wikitesto", "bewerken", "brontekst bewerken", "редактировать", "править", "править код", "edytuj", "redigera", "編集", "编辑", "編輯", "편집", "ویرایش", "عدل", "تعديل":
		return true
	}
	href := dom.Attr(c, "href")
	_, query, _ := strings.Cut(href, "?")
	return strings.Contains(query, "action=edit") || strings.HasPrefix(query, "edit=") || strings.Contains(query, "&edit=") || strings.HasSuffix(href, "/edit") && len(s) < 20
}

// trimHeading takes white space off the ends of a heading that the sign left.
func trimHeading(n *html.Node) {
	if c := n.LastChild; c != nil && c.Type == html.TextNode {
		c.Data = strings.TrimRight(c.Data, " \n")
	}
}

// permalink says that the link n, outside of a heading, only leads to where it
// stands: a sign behind a term, a caption or a line of a signature, or whatever is
// directly beside a heading and leads to it. A heading without an id gets it.
func (p *pass) permalink(n *html.Node, href string) bool {
	frag, ok := strings.CutPrefix(href, "#")
	if !ok {
		abs, _ := p.urls.resolve(href)
		if frag, ok = p.urls.fragment(abs); !ok {
			return false
		}
	}
	frag = unescapeFragment(frag)
	named := permalinkClass(dom.Attr(n, "class"))
	if h := prevElement(n); h != nil && IsHeading(h) && (permalinkSign(n) || named && dom.Attr(h, "id") == frag) {
		if dom.Attr(h, "id") == "" {
			setAttr(h, "id", frag)
		}
		return true
	}
	if !named || n.FirstChild == nil || !permalinkSign(n) {
		return false
	}
	for up := n.Parent; up != nil; up = up.Parent {
		if IsHeading(up) {
			return false // leaveHeading wants its address
		}
		if IsBlock(up) {
			break
		}
	}
	return true
}

// permalinkClass knows the classes of heading permalinks.
func permalinkClass(class string) bool {
	return class != "" && eachToken(class, func(t string) bool {
		switch t {
		case "headerlink", "header-anchor", "hash-link", "anchor", "permalink", "anchor-link", "anchorlink", "heading-anchor", "heading-link", "anchorjs-link",
			"header-link", "anchor-heading", "direct-link", "headline-anchor", "self-link", "toc-anchor", "td-heading-self-link", "sl-anchor-link", "octicon-link",
			"section-link", "markdownIt-Anchor", "header-hash", "hanchor", "subheading-anchor", "rust-doc-anchor", "doc-anchor", "mark", "deep-link":
			return true
		}
		return false
	})
}

// permalinkSign says that a link shows nothing but a sign.
func permalinkSign(n *html.Node) bool {
	s := plainText(n, 64)
	switch s {
	case "", "#", "##", "###", "####", "¶", "§", "🔗", "⚓", "⚓︎", "🔗︎", "🔗\ufe0f", "∞", "[#]", "[¶]", "[link]", "link", "Link", "permalink", "Permalink", "Anchor", "anchor", "↵", "☍", "⛓", "¤":
		return find(n, 16, func(c *html.Node) bool { return c.DataAtom == atom.Img && dom.Attr(c, "alt") != "" && s != "" }) == nil
	}
	return strings.HasPrefix(s, "Direct link to ") || strings.HasPrefix(s, "Permalink to ") || strings.HasPrefix(s, "Link to this ") || strings.HasPrefix(s, "Copy link to") ||
		strings.HasPrefix(s, "Anchor link to")
}

// dropWithGap removes c and the white space in front of it when nothing
// follows.
func dropWithGap(c *html.Node) {
	if prev := c.PrevSibling; prev != nil && prev.Type == html.TextNode && c.NextSibling == nil {
		prev.Data = strings.TrimRight(prev.Data, " \n")
	}
	c.Parent.RemoveChild(c)
}

func unescapeFragment(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			hi, ok1 := unhex(s[i+1])
			lo, ok2 := unhex(s[i+2])
			if ok1 && ok2 {
				b = append(b, hi<<4|lo)
				i += 2
				continue
			}
		}
		b = append(b, s[i])
	}
	return strings.ToValidUTF8(string(b), "\ufffd")
}

func unhex(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10, true
	}
	return 0, false
}

// chrome knows small pieces around content that are never content: a wiki's
// edit links, the links back from notes, links to the source of documentation.
func chrome(n *html.Node, a *attrs) bool {
	switch n.DataAtom {
	case atom.Span, atom.A, atom.Div, atom.Sup, atom.Small, atom.P:
	default:
		return false
	}
	if a.role == "doc-backlink" && !(labels(n) && len(plainText(n, 32)) <= 24) {
		return true
	}
	if a.class == "" {
		return false
	}
	return eachToken(a.class, func(t string) bool {
		switch t {
		case "mw-editsection", "mw-cite-backlink", "mw-jump-link", "mw-editsection-like", "footnote-backref", "footnote-back", "reversefootnote", "footnote-return",
			"data-footnote-backref", "footnote-backlink", "ltx_note_mark_back", "fn-bracket":
			return true
		case "fn-backref":
			return !labels(n)
		case "noprint":
			return hasToken(a.class, "Inline-Template")
		case "toolbar":
			return n.Parent != nil && hasToken(dom.Attr(n.Parent, "class"), "code-toolbar")
		case "viewcode-link", "viewcode-back", "src", "srclink", "source-link", "view-source":
			return (n.DataAtom == atom.A || n.DataAtom == atom.Span) && sourceWord(plainText(n, 24))
		}
		return false
	})
}

// sourceWord says that a link in documentation, to the code that it was made
// from, shows nothing else.
func sourceWord(s string) bool {
	switch strings.ToLower(strings.Trim(s, "[]() ")) {
	case "source", "src", "view source", "source code", "docs":
		return true
	}
	return false
}

// labels says that n, a link back from a note, is the note's number or name: it
// stands in front of the note's text.
func labels(n *html.Node) bool {
	s := plainText(n, 32)
	if strings.Trim(s, "↩↑⏎⤴↵^⬆↖🔙⮐\ufe0e\ufe0f ") == "" {
		return false
	}
	for c := n; c != nil && !IsBlock(c); c = c.Parent {
		for b := c.PrevSibling; b != nil; b = b.PrevSibling {
			if b.Type == html.TextNode && strings.Trim(b.Data, "[]( \t\r\n") != "" || b.Type == html.ElementNode && strings.Trim(plainText(b, 8), "[](") != "" {
				return false
			}
		}
	}
	return true
}

// sideNote says that a class means a note in the margin.
func sideNote(class string) bool {
	return eachToken(class, func(t string) bool {
		switch t {
		case "sidenote", "side-note", "marginnote", "margin-note", "modern-footnotes-footnote__note", "aside-note":
			return true
		}
		return false
	})
}

// setApart puts an inline note, which a style sheet moves to the margin, in
// brackets where it stands.
func (p *pass) setApart(n *html.Node) {
	if n.FirstChild == nil || find(n, 100, IsBlock) != nil {
		return
	}
	surround(n, "(", ")")
	n.Parent.InsertBefore(dom.Text(" "), n)
}

// IsHeading says that n is one of h1 to h6.
func IsHeading(n *html.Node) bool {
	switch n.DataAtom {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		return true
	}
	return false
}

// contentButton says that a button's text is content: a heading or question
// that opens what follows, or a whole card.
func (p *pass) contentButton(n *html.Node, a *attrs) bool {
	if a.role == "tab" {
		return true
	}
	if holdsHeading(n) && visibleLetters(n, 2) {
		if _, panel := panelBehind(n); panel == nil || !listing(panel, true) {
			return true // what names a filter or a menu says nothing of what the page says
		}
	}
	expands, popup := false, false
	for i := range n.Attr {
		switch n.Attr[i].Key {
		case "aria-expanded":
			expands = true
		case "aria-haspopup":
			popup = true
		}
	}
	up := n.Parent
	for range 3 {
		if up == nil {
			break
		}
		if IsHeading(up) || up.DataAtom == atom.Dt || up.DataAtom == atom.Summary {
			return !permalinkClass(a.class) && visibleLetters(n, 2) && (expands || !besideText(n, up))
		}
		up = up.Parent
	}
	if expands && !popup && visibleLetters(n, 3) {
		if next := nextElement(n); next != nil && next.DataAtom != atom.Ul && next.DataAtom != atom.Nav && next.DataAtom != atom.Button {
			if _, ok := p.controlled[dom.Attr(next, "id")]; ok {
				return true // it names what follows
			}
		}
	}
	return expands && !popup && visibleLetters(n, 12) || visibleLetters(n, 60)
}

// besideText says that there is text in top beside n.
func besideText(n, top *html.Node) bool {
	bound := 100
	for c := top.FirstChild; c != nil && bound > 0; {
		bound--
		if c.Type == html.TextNode && strings.Trim(c.Data, " \t\r\n\f") != "" {
			return true
		}
		c = following(c, top, c != n && visibleByNature(c))
	}
	return false
}

// visibleLetters says that the text under n has at least so many characters.
func visibleLetters(n *html.Node, enough int) bool {
	bound := 200
	for c := n.FirstChild; c != nil && bound > 0; c = following(c, n, visibleByNature(c)) {
		bound--
		if c.Type == html.TextNode && visibleByNature(c.Parent) {
			for i := 0; i < len(c.Data) && enough > 0; i++ {
				if b := c.Data[i]; b > ' ' && (b < 0x80 || b >= 0xc0) {
					enough--
				}
			}
			if enough <= 0 {
				return true
			}
		}
	}
	return false
}

// ref is a link inside the page that may be a reference to a note.
type ref struct {
	link *html.Node
	id   string
}

// noteLink takes note of a link that looks like a footnote reference, and
// removes one that only leads back from a note.
func (p *pass) noteLink(n *html.Node, frag string) {
	s := plainText(n, 24)
	switch s {
	case "↩", "↩︎", "↩\ufe0f", "↑", "⏎", "⤴", "↵", "^", "[back]", "Back", "back", "⬆", "↖", "🔙", "⮐", "Jump up", "Jump up ^":
		n.Parent.RemoveChild(n)
		return
	}
	if s == "" || len(s) > 20 || len(p.refs) >= 20_000 {
		return
	}
	is := dom.Attr(n, "role") == "doc-noteref" || noteClass(dom.Attr(n, "class"))
	up := n.Parent
	for i := 0; i < 3 && !is && up != nil; i++ {
		is = up.DataAtom == atom.Sup || noteClass(dom.Attr(up, "class"))
		if IsBlock(up) {
			break
		}
		up = up.Parent
	}
	if c := n.FirstChild; !is && c != nil && c == n.LastChild && c.DataAtom == atom.Sup {
		is = true
	}
	is = is || plainNote(s, frag)
	if is && noteLabel(s) != "" {
		p.refs = append(p.refs, ref{n, unescapeFragment(frag)})
	}
}

// plainNote says that a link that nothing marks is a reference: Word writes
// <a href="#_ftn1">[1]</a>, and only the names tell.
func plainNote(s, frag string) bool {
	if strings.Trim(s, "[]()0123456789") != "" || strings.Contains(frag, "ref") {
		return false
	}
	frag = strings.ToLower(frag[:min(len(frag), 24)])
	return strings.HasPrefix(frag, "_ftn") || strings.HasPrefix(frag, "_edn") || strings.HasPrefix(frag, "ftn") || strings.HasPrefix(frag, "fn") || strings.HasPrefix(frag, "footnote") || strings.HasPrefix(frag, "endnote")
}

func noteClass(class string) bool {
	return class != "" && eachToken(class, func(t string) bool {
		switch t {
		case "footnote-ref", "footnote-reference", "footnote", "noteref", "fnref", "fn-ref", "footnoteRef", "reference", "footref", "note-ref", "footnote-anchor", "easy-footnote", "ftnref", "citation-ref":
			return true
		}
		return false
	})
}

// noteLabel takes the brackets off a reference: its number, letter or sign.
func noteLabel(s string) string {
	s = strings.Trim(s, "[]() \n")
	if s == "" || len(s) > 12 {
		return ""
	}
	return s
}

// notes looks for the elements that the possible references lead to, and marks
// the references whose target is a note.
func (p *pass) notes() {
	if len(p.refs) == 0 {
		return
	}
	want := make(map[string]*html.Node, len(p.refs))
	for _, r := range p.refs {
		want[r.id] = nil
	}
	for c := p.body.FirstChild; c != nil; c = following(c, p.body, true) {
		if c.Type != html.ElementNode {
			continue
		}
		id := dom.Attr(c, "id")
		if id == "" {
			continue
		}
		if seen, ok := want[id]; ok && seen == nil {
			want[id] = c
		}
	}
	for id, c := range want {
		if c != nil {
			want[id] = noteBlock(c, id)
		}
	}
	for _, r := range p.refs {
		if note := want[r.id]; note != nil && r.link.Parent != nil && !inside(r.link, note) {
			setAttr(r.link, "data-noteref", dom.Attr(note, "id"))
			bare := r.link // Markdown has brackets of its own
			for bare.Parent.DataAtom == atom.Sup && bare.Parent.FirstChild == bare && bare.Parent.LastChild == bare {
				bare = bare.Parent
			}
			before, after := bare.PrevSibling, bare.NextSibling
			if before != nil && after != nil && before.Type == html.TextNode && after.Type == html.TextNode && strings.HasSuffix(before.Data, "[") && strings.HasPrefix(after.Data, "]") {
				before.Data, after.Data = before.Data[:len(before.Data)-1], after.Data[1:]
				for _, t := range [...]*html.Node{before, after} {
					if t.Data == "" {
						t.Parent.RemoveChild(t)
					}
				}
			}
		}
	}
}

// noteBlock gives the block that holds the note with this id: c itself, or the
// paragraph or item that c stands at the beginning of.
func noteBlock(c *html.Node, id string) *html.Node {
	for range 4 {
		switch c.DataAtom {
		case atom.Li, atom.Dd, atom.P, atom.Aside:
			if dom.Attr(c, "id") == "" {
				setAttr(c, "id", id)
			}
			return c
		case atom.Div:
			if c.FirstChild == nil || find(c, 200, IsHeading) != nil {
				return nil
			}
			if dom.Attr(c, "id") == "" {
				setAttr(c, "id", id)
			}
			return c
		case atom.A, atom.Span, atom.Sup, atom.Strong, atom.Small, atom.Em:
			for s := c.PrevSibling; s != nil; s = s.PrevSibling {
				if s.Type != html.TextNode || strings.Trim(s.Data, " \n") != "" {
					return nil
				}
			}
			c = c.Parent
		default:
			return nil
		}
	}
	return nil
}

func inside(n, top *html.Node) bool {
	for range 64 {
		if n == nil {
			return false
		}
		if n == top {
			return true
		}
		n = n.Parent
	}
	return false
}
