package render

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"sift.build/sift/internal/dom"
	"sift.build/sift/internal/normalize"
)

// Bounds on what a tree can make the writer do.
const (
	// depthMax is how deep it follows a tree; what lies deeper comes out as
	// text. The HTML parser stops at 512 open elements.
	depthMax = 600
	// segsMax is how many quotes and lists inside each other indent a line;
	// deeper ones stand where the last of these does.
	segsMax = 32
	// signsMax is how many bytes of indentation are written before it must be
	// less than half of the output. Beyond that nothing is indented: a line of
	// one letter inside 32 quotes would make a megabyte of a few kilobytes.
	signsMax = 4 << 20
)

// writer writes a tree in the normal form as Markdown or as plain text, in one
// pass, to one buffer.
type writer struct {
	out   []byte
	plain bool // plain text: no signs, no escapes, no links

	// Lines. A block's beginning is only noted; what goes in front of it, line
	// breaks and the signs of the containers around, is written with its first
	// character. So what turns out empty leaves nothing behind.
	want    int    // line breaks wanted before the next character: 0, 1 or 2
	segs    []seg  // the containers around
	signs   int    // bytes of their signs written so far
	lineAt  int    // where the current line begins in out
	textAt  int    // where its text begins, behind the containers' signs
	bol     bool   // nothing has been written on the line yet: line signs must be escaped
	filled  bool   // the block has text
	gap     gap    // white space to write before the next character
	breaks  int    // <br> since the last character
	last    rune   // the last character written in the block, for flanking
	starred rune   // the last character before the closing signs
	marks   []mark // inline elements around
	closed  closed // the mark that was closed last
	inLink  bool   // inside the text of a link that has been opened

	heading   *html.Node // the heading around
	cell      bool       // inside a table cell: everything on one line
	cellMark  string     // a list marker to write in the cell
	blanks    int        // empty cells that tables may still have
	depth     int
	lastList  lastList
	lastSpan  codeSpan
	heads     []head
	pages     []pageStart
	notes     map[string]*note // by id: the notes that are referred to
	noteNames map[string]bool
	lastNote  int        // where the last note ended in out
	skipped   *html.Node // a note's own number, which its label repeats
}

// seg is one container: what it writes at the beginning of its first line and
// of the others.
type seg struct {
	first, rest string
	written     bool
}

type gap int

const (
	gapNone  gap = iota
	gapBreak     // white space with a line break of the source in it
	gapSpace
)

// kind is a kind of inline element.
type kind int

const (
	strong kind = iota
	emphasis
	deleted
	sub
	sup
	link
)

var (
	delimiters = [...]string{strong: "**", emphasis: "*", deleted: "~~"}
	tags       = [...]string{strong: "<strong>", emphasis: "<em>", deleted: "<del>"}
)

// mark is one inline element around the text being written. Its sign is written
// with the first character inside.
type mark struct {
	kind   kind
	open   bool
	at     int  // where its opening sign is in out
	tagged bool // its signs are HTML tags, because the others would not be read as such
	href   string
	only   *html.Node // of a link around blocks: the heading that becomes the link
	done   bool       // of a link around blocks: the first block has become the link
}

// closed is where a closing sign was written last, so that an element of the
// same kind that follows at once goes on instead.
type closed struct {
	kind    kind
	at, end int
}

// codeSpan is the code span that was written last.
type codeSpan struct {
	at, end int
	code    string
}

type lastList struct {
	end, segs int
	marker    byte
}

type note struct {
	label string
	node  *html.Node // nil when the note is not in the tree
}

func newWriter(body *html.Node, plain bool) *writer {
	w := &writer{plain: plain, bol: true, closed: closed{end: -1}, blanks: blanksMin}
	w.findNotes(body)
	return w
}

// document writes the whole tree and gives the result.
func (w *writer) document(body *html.Node) string {
	w.children(body)
	w.startBlock(2)
	if len(w.pages) > 0 {
		w.ownMarkers()
	}
	return strings.TrimRight(string(w.out), " \n")
}

// Lines and blocks

// startBlock ends the running text and notes that a block begins, at least so
// many line breaks further down.
func (w *writer) startBlock(breaks int) {
	if w.heading != nil && !w.cell { // a heading is one line
		if w.filled {
			w.gap = gapSpace
		}
		return
	}
	w.endText()
	if n := len(w.segs); n > 0 && !w.segs[n-1].written {
		return // directly behind a container's sign
	}
	w.want = max(w.want, breaks)
}

// endText closes the inline signs that are open. Their elements go on in the
// next block.
func (w *writer) endText() {
	if w.filled {
		for i := len(w.marks) - 1; i >= 0; i-- {
			m := &w.marks[i]
			if m.open {
				w.closeMark(m, nil)
				m.done = m.kind == link
			}
		}
	}
	w.gap, w.breaks, w.filled, w.last = gapNone, 0, false, 0
	w.closed.end = -1
}

// push enters a container.
func (w *writer) push(first, rest string) {
	if len(w.segs) >= segsMax {
		rest = ""
	}
	w.segs = append(w.segs, seg{first: first, rest: rest})
}

// indents says that lines still get the signs of their containers.
func (w *writer) indents() bool { return w.signs < signsMax || w.signs < len(w.out)/2 }

// pop leaves a container and says whether anything was written in it.
func (w *writer) pop() bool {
	n := len(w.segs) - 1
	written := w.segs[n].written
	w.segs = w.segs[:n]
	return written
}

// begin writes the line breaks and signs that are due before a character.
func (w *writer) begin() {
	n := len(w.segs)
	if w.cell {
		if w.want > 0 && len(w.out) > w.textAt {
			w.out = append(w.out, "<br>"...)
			w.last = 0
		}
		if w.cellMark != "" {
			w.out = append(w.out, w.cellMark...)
			w.cellMark = ""
		}
		w.want = 0
		return
	}
	if w.want == 0 && (n == 0 || w.segs[n-1].written) {
		return
	}
	if len(w.out) > 0 {
		w.out = append(w.out, '\n')
		if w.want > 1 {
			at := len(w.out)
			for i := range w.segs {
				if !w.segs[i].written || !w.indents() {
					break
				}
				w.out = append(w.out, w.segs[i].rest...)
			}
			w.signs += len(w.out) - at
			w.out = append(w.out[:at+len(strings.TrimRight(string(w.out[at:]), " "))], '\n')
		}
	}
	w.lineAt = len(w.out)
	for i := range w.segs {
		switch s := &w.segs[i]; {
		case !s.written:
			if i < segsMax {
				w.out = append(w.out, s.first...)
			}
			s.written = true
		case w.indents():
			w.out = append(w.out, s.rest...)
		}
	}
	w.textAt = len(w.out)
	w.signs += w.textAt - w.lineAt
	w.want, w.bol = 0, true
}

// newline begins the next line of the same block.
func (w *writer) newline() {
	w.out = append(w.out, '\n')
	w.lineAt = len(w.out)
	for i := range w.segs {
		if w.indents() {
			w.out = append(w.out, w.segs[i].rest...)
		}
	}
	w.textAt = len(w.out)
	w.signs += w.textAt - w.lineAt
	w.bol = true
	w.last = 0
}

// Running text

// lead writes what is due before the character r of running text: line breaks,
// white space, the signs of the elements around.
func (w *writer) lead(r rune) {
	if w.breaks > 0 {
		n := w.breaks
		w.breaks = 0
		switch {
		case !w.filled:
		case w.heading != nil:
			w.gap = gapSpace
		case w.cell:
			w.out = append(w.out, "<br>"...)
			w.gap, w.last = gapNone, 0
		case n > 1:
			w.startBlock(2)
		default:
			if !w.plain {
				w.out = append(w.out, "  "...)
			}
			w.newline()
			w.gap = gapNone
		}
	}
	w.begin()
	if w.gap != gapNone {
		if w.filled && !(w.gap == gapBreak && isCJK(w.last) && isCJK(r)) && !w.bol {
			w.out = append(w.out, ' ')
			w.last = ' '
		}
		w.gap = gapNone
	}
	w.filled = true
	if len(w.marks) > 0 {
		w.openMarks(r)
	}
}

func (w *writer) openMarks(r rune) {
	for i := range w.marks {
		m := &w.marks[i]
		if m.open || m.done || m.kind == link && m.only != nil && m.only != w.heading {
			continue
		}
		switch m.kind {
		case link:
			if n := len(w.out); n > w.textAt && w.out[n-1] == '!' {
				w.out = append(w.out[:n-1], '\\', '!') // or the link would be an image
			}
			m.at = len(w.out)
			w.out = append(w.out, '[')
			w.inLink = true
			w.last = '['
		case sub, sup:
			m.at = len(w.out)
			if m.kind == sub {
				w.out = append(w.out, "<sub>"...)
			} else {
				w.out = append(w.out, "<sup>"...)
			}
			w.last = '>'
		default:
			if w.closed.end == len(w.out) && w.closed.kind == m.kind {
				w.out = w.out[:len(w.out)-len(delimiters[m.kind])] // go on with the one that ended here
				m.at, w.last = w.closed.at, w.starred
				break
			}
			m.at = len(w.out)
			if m.tagged = w.clash(i, r); m.tagged {
				w.out = append(w.out, tags[m.kind]...)
				w.last = '>'
			} else {
				w.out = append(w.out, delimiters[m.kind]...)
				w.last = rune(delimiters[m.kind][0])
			}
		}
		m.open = true
		w.bol = false
	}
}

// clash says that the opening sign of mark i, with r behind it, would not be
// read as one: it does not lean on what follows, or could close as well and so
// would close what is open around it, or touches another sign.
func (w *writer) clash(i int, r rune) bool {
	m := &w.marks[i]
	next, edge := isPunct(w.behind(i, r)), w.last == 0 || w.last == ' '
	switch {
	case next && !edge && !isPunct(w.last):
		return true
	case m.kind == deleted:
		return len(w.out) > w.textAt && w.out[len(w.out)-1] == '~'
	case w.closed.end == len(w.out) && w.closed.kind != deleted:
		return true
	}
	return !edge && (!isPunct(w.last) || next) && w.starsOpen(i)
}

// starsOpen says that a sign of asterisks is open around mark i and did not open
// right in front of it.
func (w *writer) starsOpen(i int) bool {
	for j := range i {
		if m := &w.marks[j]; m.open && !m.tagged && (m.kind == strong || m.kind == emphasis) {
			return m.at+len(delimiters[m.kind]) < len(w.out)
		}
	}
	return false
}

// behind gives the character that will follow the opening sign of mark i: that
// of a mark inside it that opens too, else r.
func (w *writer) behind(i int, r rune) rune {
	for j := i + 1; j < len(w.marks); j++ {
		m := &w.marks[j]
		if m.done || m.open || m.kind == link && m.only != nil && m.only != w.heading {
			continue
		}
		if m.kind == link || m.kind == sub || m.kind == sup || (m.kind == deleted) != (w.marks[i].kind == deleted) {
			return '['
		}
	}
	return r
}

// closeMark writes the closing sign of m, whose element is n. With n nil a
// block ends here.
func (w *writer) closeMark(m *mark, n *html.Node) {
	m.open = false
	switch m.kind {
	case link:
		w.out = append(w.out, "]("...)
		w.out = append(w.out, destination(m.href, w.cell)...)
		w.out = append(w.out, ')')
		w.inLink = false
		w.last = ')'
	case sub:
		w.out = append(w.out, "</sub>"...)
		w.last = '>'
	case sup:
		w.out = append(w.out, "</sup>"...)
		w.last = '>'
	default:
		// A sign closes only when it leans on what stands before. Where it
		// would not, both become tags.
		before := w.last
		if w.closed.end == len(w.out) && w.closed.kind != deleted && m.kind != deleted {
			before = w.starred // asterisks that meet are judged by what stands before them all
		}
		if !m.tagged && isPunct(before) && n != nil && w.gap == gapNone && w.breaks == 0 {
			if r := nextRune(n); r != 0 && r != ' ' && !isPunct(r) {
				w.retag(m)
			}
		}
		if m.tagged {
			w.out = append(w.out, "</"...)
			w.out = append(w.out, tags[m.kind][1:]...)
			w.last = '>'
			return
		}
		w.out = append(w.out, delimiters[m.kind]...)
		w.closed = closed{kind: m.kind, at: m.at, end: len(w.out)}
		w.starred, w.last = before, rune(delimiters[m.kind][0])
	}
}

// retag makes the opening sign of m, which is on the current line or one before
// it in the same block, an HTML tag.
func (w *writer) retag(m *mark) {
	d, tag := delimiters[m.kind], tags[m.kind]
	change := len(tag) - len(d)
	rest := m.at + len(d)
	w.out = append(w.out, tag[:change]...) // room, whatever is in it
	copy(w.out[rest+change:], w.out[rest:])
	copy(w.out[m.at:], tag)
	if w.lineAt > m.at {
		w.lineAt += change
		w.textAt += change
	}
	w.lastSpan.end = 0
	m.tagged = true
	for j := range w.marks { // a sign right in front leaned on the one that has gone
		if o := &w.marks[j]; o.open && !o.tagged && o.kind <= deleted && o.at+len(delimiters[o.kind]) == m.at {
			at := m.at
			w.retag(o)
			m.at = at + len(tags[o.kind]) - len(delimiters[o.kind])
			break
		}
	}
}

// nextRune gives the character that will follow the inline element n, 0 when a
// block ends there or it is not near.
func nextRune(n *html.Node) rune {
	c := n
	for range 16 {
		for c.NextSibling == nil {
			c = c.Parent
			if c == nil || normalize.IsBlock(c) {
				return 0
			}
		}
		c = c.NextSibling
		for c.Type == html.ElementNode && c.FirstChild != nil && !normalize.IsBlock(c) {
			c = c.FirstChild
		}
		if c.Type == html.TextNode {
			if c.Data == "" {
				continue
			}
			r, _ := utf8.DecodeRuneInString(c.Data)
			if r == '\n' {
				return ' '
			}
			return r
		}
		if c.DataAtom == atom.Img {
			return '!'
		}
		if c.DataAtom == atom.Br || normalize.IsBlock(c) {
			return 0
		}
	}
	return 0
}

// inline writes the children of n inside a mark.
func (w *writer) inline(n *html.Node, m mark) {
	if w.plain && m.kind != sub && m.kind != sup {
		w.children(n)
		return
	}
	for i := range w.marks {
		if w.marks[i].kind == m.kind { // already inside one
			w.children(n)
			return
		}
	}
	w.marks = append(w.marks, m)
	w.children(n)
	top := &w.marks[len(w.marks)-1]
	if top.open {
		w.closeMark(top, n)
	}
	w.marks = w.marks[:len(w.marks)-1]
}

// text writes text of the normal form.
func (w *writer) text(s string) {
	for i := 0; i < len(s); {
		switch s[i] {
		case ' ':
			if w.filled {
				w.gap = gapSpace
			}
			i++
			continue
		case '\n':
			if w.filled && w.gap == gapNone {
				w.gap = gapBreak
			} else if w.filled {
				w.gap = gapSpace
			}
			i++
			continue
		}
		end := i + 1
		for end < len(s) && s[end] != ' ' && s[end] != '\n' {
			end++
		}
		w.word(s[i:end], end < len(s))
		i = end
	}
}

// word writes one word. spaced says that white space follows it; else what
// follows is not known.
func (w *writer) word(s string, spaced bool) {
	r := rune(s[0])
	if r >= utf8.RuneSelf {
		r, _ = utf8.DecodeRuneInString(s)
	}
	w.lead(r)
	if w.plain {
		w.out = append(w.out, s...)
	} else {
		w.escape(s, spaced)
	}
	w.bol = false
	w.last = rune(s[len(s)-1])
	if w.last >= utf8.RuneSelf {
		w.last, _ = utf8.DecodeLastRuneInString(s)
	}
}

// raw writes inline Markdown as it is; first is its first character for the
// reader.
func (w *writer) raw(s string, first, last rune) {
	w.lead(first)
	w.out = append(w.out, s...)
	w.bol = false
	w.last = last
}

// Elements

func (w *writer) children(n *html.Node) {
	if w.depth++; w.depth > depthMax {
		w.flat(n)
	} else {
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			w.node(c)
		}
	}
	w.depth--
}

// flat writes the text under n and nothing else, without recursion.
func (w *writer) flat(n *html.Node) {
	for c := n.FirstChild; c != nil; c = dom.Next(c, n) {
		switch {
		case c.Type == html.TextNode:
			w.text(c.Data)
		case c.DataAtom == atom.Br:
			w.breaks++
		case normalize.IsBlock(c):
			w.startBlock(2)
		}
	}
}

func (w *writer) node(n *html.Node) {
	switch n.Type {
	case html.TextNode:
		w.text(n.Data)
		return
	case html.ElementNode:
	default:
		return
	}
	if n == w.skipped {
		return
	}
	if w.heading != nil && !w.cell {
		switch n.DataAtom {
		case atom.Pre, atom.Ul, atom.Ol, atom.Dl, atom.Table, atom.Blockquote, atom.Hr:
			w.startBlock(1)
			w.flat(n)
			w.startBlock(1)
			return
		}
	}
	switch n.DataAtom {
	case atom.Br:
		w.breaks++
	case atom.Hr:
		w.rule()
	case atom.Img:
		w.image(n)
	case atom.A:
		w.anchor(n)
	case atom.Strong, atom.B:
		if w.heading != nil { // a heading is strong enough
			w.children(n)
			return
		}
		w.inline(n, mark{kind: strong})
	case atom.Em, atom.I:
		w.inline(n, mark{kind: emphasis})
	case atom.Del, atom.S:
		w.inline(n, mark{kind: deleted})
	case atom.Sub, atom.Sup:
		w.script(n)
	case atom.Span:
		if display := dom.Attr(n, "data-math"); display != "" {
			w.formula(n, display == "block")
			return
		}
		w.children(n)
	case atom.Code:
		w.code(n)
	case atom.Pre:
		w.block(n, w.pre)
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		w.title(n)
	case atom.Ul, atom.Ol:
		w.list(n)
	case atom.Li, atom.Dd:
		w.block(n, func(n *html.Node) { w.item(n, "- ") })
	case atom.Dl:
		w.definitions(n)
	case atom.Dt, atom.Summary:
		w.block(n, w.term)
	case atom.Blockquote:
		w.quote(n)
	case atom.Table:
		w.table(n)
	case atom.Section:
		if number := pageNumber(n); number > 0 {
			w.pageMarker(number)
		}
		w.block(n, w.children)
	case atom.Input:
	default:
		if normalize.IsBlock(n) {
			w.block(n, w.children)
			return
		}
		w.children(n)
	}
}

// block writes n with f as a block of its own, as a footnote where n is one.
func (w *writer) block(n *html.Node, f func(*html.Node)) {
	w.startBlock(2)
	if fn := w.noteAt(n); fn != nil {
		w.footnote(n, fn)
		return
	}
	f(n)
	w.startBlock(2)
}

func (w *writer) rule() {
	if w.plain || w.cell {
		w.startBlock(2)
		return
	}
	w.startBlock(2)
	w.begin()
	if len(w.segs) > 0 {
		w.out = append(w.out, "***"...) // --- behind a list's dash would swallow it
	} else {
		w.out = append(w.out, "---"...)
	}
	w.startBlock(2)
}

func (w *writer) quote(n *html.Node) {
	w.startBlock(2)
	if w.cell || w.plain {
		w.children(n)
	} else {
		w.push("> ", "> ")
		w.children(n)
		w.endText()
		w.pop()
	}
	w.startBlock(2)
}

// title writes a heading.
func (w *writer) title(n *html.Node) {
	level := dom.HeadingLevel(n)
	w.startBlock(2)
	switch {
	case w.cell:
		w.inline(n, mark{kind: strong})
	case w.heading != nil:
		outer := w.heading
		w.heading = n
		w.children(n)
		w.endText()
		w.heading = outer
	default:
		// The sign is a container of one line: it is written with the first
		// character, and not at all for an empty heading.
		w.heading = n
		sign := ""
		if !w.plain {
			sign = "######"[:level] + " "
		}
		w.push(sign, "")
		w.children(n)
		w.endText()
		if text := flatText(n); w.pop() && text != "" { // one that is only a picture says nothing
			w.heads = append(w.heads, head{level: level, text: text, anchor: dom.Attr(n, "id"), at: w.lineAt})
		}
		w.heading = nil
	}
	w.startBlock(2)
}

// term writes a definition list's term or the summary of details.
func (w *writer) term(n *html.Node) { w.inline(n, mark{kind: strong}) }

func (w *writer) image(n *html.Node) {
	if w.plain {
		return
	}
	src, alt := dom.Attr(n, "src"), dom.Attr(n, "alt")
	if src == "" {
		if alt != "" {
			w.text("(Image: " + alt + ")")
		}
		return
	}
	w.lead('!')
	w.out = append(w.out, "!["...)
	text := escapeInline(alt, true)
	if w.cell {
		text = strings.ReplaceAll(text, "|", `\|`) // else it would end the cell
	}
	w.out = append(w.out, text...)
	w.out = append(w.out, "]("...)
	w.out = append(w.out, destination(src, w.cell)...)
	w.out = append(w.out, ')')
	w.bol = false
	w.last = ')'
}

// anchor writes a link. One that is wrapped around blocks becomes a link on
// their heading, else on the first of them.
func (w *writer) anchor(n *html.Node) {
	if id := dom.Attr(n, "data-noteref"); id != "" {
		if w.reference(n, id) {
			return
		}
	}
	href := dom.Attr(n, "href")
	if href == "" || w.plain {
		w.children(n)
		return
	}
	if c := n.FirstChild; c != nil && c == n.LastChild && c.Type == html.TextNode && c.Data == href && isAutolink(href) && !w.inLink {
		w.raw("<"+href+">", '<', '>')
		return
	}
	m := mark{kind: link, href: href}
	for c := n.FirstChild; c != nil && w.heading == nil && !w.cell; c = dom.Next(c, n) {
		if normalize.IsHeading(c) && hasText(c) {
			m.only = c
			break
		}
	}
	w.inline(n, m)
}

// isAutolink says whether an address that stands for itself can be written
// between angle brackets, once instead of twice.
func isAutolink(href string) bool {
	if !strings.HasPrefix(href, "http://") && !strings.HasPrefix(href, "https://") {
		return false
	}
	for i := range len(href) {
		switch c := href[i]; {
		case c <= ' ', c >= 0x7f, c == '<', c == '>', c == '\\', c == '`', c == '|', c == '&' && isEntity(href[i+1:]):
			return false
		}
	}
	return true
}

// script writes sub and sup.
func (w *writer) script(n *html.Node) {
	if c := n.FirstChild; c != nil && c == n.LastChild && c.DataAtom == atom.A && dom.Attr(c, "data-noteref") != "" {
		w.children(n)
		return
	}
	s := flatText(n)
	if !apart(s) {
		w.children(n)
		return
	}
	if w.plain {
		sign := "^"
		if n.DataAtom == atom.Sub {
			sign = "_"
		}
		if len(s) > 1 && strings.Trim(s, "0123456789") != "" {
			s = "(" + s + ")"
		}
		w.raw(sign+s, '^', '^')
		return
	}
	k := sup
	if n.DataAtom == atom.Sub {
		k = sub
	}
	w.inline(n, mark{kind: k})
}

// apart says that a raised or lowered text means something else on the line: a
// number, a variable, a formula, as opposed to 1st and ™.
func apart(s string) bool {
	if s == "" || len(s) > 64 {
		return false
	}
	switch s {
	case "st", "nd", "rd", "th", "er", "re", "e", "o", "a", "TM", "SM", "®", "™", "©":
		return false
	}
	for _, r := range s {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return s[0] != '[' && s[0] != '('
		}
	}
	return s == "+" || s == "-" || s == "−"
}

// formula writes TeX.
func (w *writer) formula(n *html.Node, block bool) {
	tex := strings.Trim(strings.ReplaceAll(flat(n), "\n", " "), " ")
	if tex == "" {
		return
	}
	if w.plain {
		if block && !w.cell {
			w.startBlock(2)
		}
		w.text(tex)
		if block && !w.cell {
			w.startBlock(2)
		}
		return
	}
	tex = guardTeX(tex)
	if w.cell {
		tex = strings.ReplaceAll(tex, "|", `\|`)
	}
	if !block || w.cell || w.heading != nil || w.inLink {
		w.raw("$"+tex+"$", '$', '$')
		return
	}
	w.startBlock(2)
	w.raw("$$"+tex+"$$", '$', '$')
	w.startBlock(2)
}

// guardTeX changes the few things in TeX that Markdown would read as its own
// into TeX that means the same.
func guardTeX(tex string) string {
	if !strings.ContainsAny(tex, "`<]") {
		return tex
	}
	b := make([]byte, 0, len(tex)+16)
	for i := 0; i < len(tex); i++ {
		switch c := tex[i]; {
		case c == '`':
			b = append(b, `\lq `...)
		case c == '<' && i+1 < len(tex) && (isLetter(tex[i+1]) || tex[i+1] == '/' || tex[i+1] == '!' || tex[i+1] == '?'):
			b = append(b, `\lt `...)
		case c == ']' && i+1 < len(tex) && (tex[i+1] == '(' || tex[i+1] == '[' || tex[i+1] == ':'):
			b = append(b, "] "...)
		default:
			b = append(b, c)
		}
	}
	return string(b)
}

// code writes inline code.
func (w *writer) code(n *html.Node) {
	// A link that is all of the code: the link goes around it.
	if a := n.FirstChild; a != nil && a == n.LastChild && a.DataAtom == atom.A && dom.Attr(a, "href") != "" && !w.plain {
		s := strings.TrimSpace(flat(a))
		if s == "" {
			return
		}
		inner := &html.Node{Type: html.ElementNode, DataAtom: atom.Code, Data: "code"}
		inner.AppendChild(&html.Node{Type: html.TextNode, Data: s})
		outer := &html.Node{Type: html.ElementNode, DataAtom: atom.A, Data: "a", Attr: a.Attr}
		outer.AppendChild(inner)
		w.anchor(outer)
		return
	}
	s := flat(n)
	if strings.Trim(s, " \n") == "" {
		w.text(s)
		return
	}
	if w.plain {
		w.text(s)
		return
	}
	if s[0] == ' ' || s[0] == '\n' {
		w.text(" ")
	}
	end := s[len(s)-1]
	s = strings.Trim(strings.ReplaceAll(s, "\n", " "), " ")
	w.lead('`')
	if w.lastSpan.end == len(w.out) && w.lastSpan.end > 0 { // two spans that touch would not be read as two
		if before := w.lastSpan.code; len(before) < 1000 {
			w.out = w.out[:w.lastSpan.at]
			s = before + s
		} else {
			w.out = append(w.out, ' ')
		}
	} else if n := len(w.out); n > w.textAt && w.out[n-1] == '`' && (n == 1 || w.out[n-2] != '\\') {
		w.out = append(w.out, ' ')
	}
	w.lastSpan.at, w.lastSpan.code = len(w.out), s
	w.out = append(w.out, span(s, w.cell)...)
	w.lastSpan.end = len(w.out)
	w.bol, w.last = false, '`'
	if end == ' ' || end == '\n' {
		w.text(" ")
	}
}

// span gives s as a code span. s is one line.
func span(s string, cell bool) string {
	ticks := strings.Repeat("`", backticks(s, 0)+1)
	if s[0] == '`' || s[len(s)-1] == '`' || s[0] == ' ' && s[len(s)-1] == ' ' {
		s = " " + s + " "
	}
	if cell {
		s = strings.ReplaceAll(s, "|", `\|`)
	}
	return ticks + s + ticks
}

// backticks gives the length of the longest run of backticks in s, at least
// least.
func backticks(s string, least int) int {
	run := 0
	for i := 0; i < len(s); i++ {
		if s[i] == '`' {
			run++
			least = max(least, run)
		} else {
			run = 0
		}
	}
	return least
}

// pre writes a code block.
func (w *writer) pre(n *html.Node) {
	s := strings.Trim(strings.ReplaceAll(raw(n), "\r", ""), "\n")
	if strings.Trim(s, " \n\t") == "" {
		return
	}
	if w.cell {
		for line := range strings.Lines(s) {
			if line = strings.TrimRight(line, " \t\n"); strings.TrimSpace(line) == "" {
				continue
			}
			w.startBlock(1)
			if w.plain {
				w.raw(line, 'x', 'x')
			} else {
				w.raw(span(line, true), '`', '`')
			}
		}
		return
	}
	if w.plain {
		w.begin()
		w.lines(s)
		return
	}
	fence := strings.Repeat("`", max(3, backticks(s, 0)+1))
	w.begin()
	w.out = append(append(w.out, fence...), info(dom.Attr(n, "data-lang"))...)
	w.newline()
	w.lines(s)
	w.newline()
	w.out = append(w.out, fence...)
	w.bol = false
}

// info gives the language of a fence, nothing when it is not a plain word.
func info(lang string) string {
	if len(lang) > 30 {
		return ""
	}
	for i := 0; i < len(lang); i++ {
		if c := lang[i]; !isAlnum(c) && c != '+' && c != '#' && c != '-' && c != '_' && c != '.' {
			return ""
		}
	}
	return lang
}

// lines writes s verbatim, with the signs of the containers in front of each
// line.
func (w *writer) lines(s string) {
	if len(w.segs) == 0 {
		w.out = append(w.out, s...)
		return
	}
	for {
		line, rest, more := strings.Cut(s, "\n")
		if strings.Trim(line, " \t") == "" { // no white space at the end of a container's empty line
			line = ""
			w.out = w.out[:w.lineAt+len(strings.TrimRight(string(w.out[w.lineAt:]), " "))]
		}
		w.out = append(w.out, line...)
		if !more {
			return
		}
		w.newline()
		s = rest
	}
}

// list writes a list whose items are on lines that follow each other. One that
// counts in letters, or below nothing, has no sign in Markdown: its items are
// paragraphs that begin with what they are called by.
func (w *writer) list(n *html.Node) {
	ordered := n.DataAtom == atom.Ol
	number, step, style := 1, 1, byte(0)
	if ordered {
		number, step, style = counting(n)
	}
	// A list in an item follows its text closely, unless it could not
	// interrupt it.
	breaks := 2
	if p := n.Parent; p != nil && (p.DataAtom == atom.Li || p.DataAtom == atom.Dd) && (!ordered || number == 1 && style == 0) {
		breaks = 1
	}
	w.startBlock(breaks)
	marker, dot := byte('-'), byte('.')
	if w.lastList.end == len(w.out) && w.lastList.segs == len(w.segs) && w.lastList.end > 0 { // or the two would be one
		switch w.lastList.marker {
		case '-':
			marker = '+'
		case '.':
			dot = ')'
		}
	}
	first := true
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.DataAtom != atom.Li {
			if c.Type == html.ElementNode || strings.Trim(c.Data, " \n") != "" {
				w.node(c)
			}
			continue
		}
		if ordered {
			if v, err := strconv.Atoi(dom.Attr(c, "value")); err == nil && v > -numberMax && v < numberMax {
				number = v
			}
		}
		if fn := w.noteAt(c); fn != nil {
			w.startBlock(1)
			w.footnote(c, fn)
			first = true
			number += step
			continue
		}
		sign := string(marker) + " "
		if ordered {
			if label := countLabel(number, style); label != "" && !w.plain && !w.cell {
				w.startBlock(2)
				w.labelled(c, label)
				w.startBlock(2)
				first = true
				number += step
				continue
			} else if label != "" {
				sign = label + ". "
			} else {
				sign = strconv.Itoa(number) + string(dot) + " "
			}
			number += step
		}
		w.endText()
		if !first && w.want > 0 {
			w.want = 1
		}
		w.startBlock(1)
		if w.item(c, sign) {
			first = false
		}
		if number >= numberMax {
			number = 0
		}
	}
	used := marker
	if ordered {
		used = dot
	}
	if !first {
		w.lastList = lastList{end: len(w.out), segs: len(w.segs), marker: used}
	}
	w.startBlock(breaks)
}

// numberMax is the first number that CommonMark does not take before an item.
const numberMax = 1e9

// counting says how an ordered list counts: from where, by which step, and in
// which letters (0 for digits).
func counting(n *html.Node) (number, step int, style byte) {
	number, step = 1, 1
	if dom.HasAttr(n, "reversed") {
		step, number = -1, 0
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			if c.DataAtom == atom.Li {
				number++
			}
		}
	}
	if v, err := strconv.Atoi(dom.Attr(n, "start")); err == nil && v > -numberMax && v < numberMax {
		number = v
	}
	if t := dom.Attr(n, "type"); t == "a" || t == "A" || t == "i" || t == "I" {
		style = t[0]
	}
	return number, step, style
}

// countLabel gives what an item is called by that has no sign in Markdown, ""
// for one that has.
func countLabel(number int, style byte) string {
	switch {
	case number < 0:
		return "−" + strconv.Itoa(-number)
	case style == 0 || number == 0 || number > 3999:
		return ""
	}
	label := ""
	if style|0x20 == 'a' {
		for v := number; v > 0; v = (v - 1) / 26 {
			label = string(rune('a'+(v-1)%26)) + label
		}
	} else {
		v := number
		for _, d := range romans {
			for ; v >= d.value; v -= d.value {
				label += d.sign
			}
		}
	}
	if style < 'a' {
		label = strings.ToUpper(label)
	}
	return label
}

var romans = [...]struct {
	value int
	sign  string
}{
	{1000, "m"}, {900, "cm"}, {500, "d"}, {400, "cd"}, {100, "c"}, {90, "xc"}, {50, "l"}, {40, "xl"}, {10, "x"}, {9, "ix"}, {5, "v"}, {4, "iv"}, {1, "i"},
}

// labelled writes an item as paragraphs, the first of which begins with its
// label.
func (w *writer) labelled(n *html.Node, label string) {
	w.push(label+". ", "")
	w.children(n)
	w.endText()
	w.pop()
}

// item writes one item behind its sign and says whether there was anything to
// write.
func (w *writer) item(n *html.Node, sign string) bool {
	if task := n.FirstChild; task != nil && task.DataAtom == atom.Input {
		if dom.HasAttr(task, "checked") {
			sign += "[x] "
		} else {
			sign += "[ ] "
		}
	}
	if w.cell {
		w.cellMark = sign
		at := len(w.out)
		w.children(n)
		w.startBlock(1)
		w.cellMark = ""
		return len(w.out) > at
	}
	indent := "      "
	if k := strings.IndexByte(sign, ' ') + 1; k < len(indent) {
		indent = indent[:k]
	} else {
		indent = strings.Repeat(" ", k)
	}
	w.push(sign, indent)
	w.children(n)
	w.endText()
	return w.pop()
}

// definitions writes a definition list: the term bold, its definitions as
// items, or as they are when they are more than a paragraph.
func (w *writer) definitions(n *html.Node) {
	w.startBlock(2)
	simple := true
	for c := n.FirstChild; c != nil && simple; c = c.NextSibling {
		if c.DataAtom == atom.Dd {
			simple = !manyBlocks(c)
		}
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch {
		case c.DataAtom == atom.Dt:
			w.block(c, w.term)
		case c.DataAtom == atom.Dd && simple:
			w.endText()
			if w.want > 1 {
				w.want = 1
			}
			w.startBlock(1)
			if fn := w.noteAt(c); fn != nil {
				w.footnote(c, fn)
			} else if w.item(c, "- ") {
				w.lastList = lastList{end: len(w.out), segs: len(w.segs), marker: '-'}
			}
			w.startBlock(2)
		case c.DataAtom == atom.Dd:
			w.block(c, w.children)
		default:
			w.node(c)
		}
	}
	w.startBlock(2)
}

// manyBlocks says that there is more in n than text, one paragraph and a list
// after it.
func manyBlocks(n *html.Node) bool {
	blocks := 0
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch {
		case c.Type == html.TextNode && strings.Trim(c.Data, " \n") == "":
		case c == n.FirstChild && (c.DataAtom == atom.Ul || c.DataAtom == atom.Ol):
			return true
		case c.DataAtom == atom.Pre, c.DataAtom == atom.Table, c.DataAtom == atom.Dl, normalize.IsHeading(c):
			return true
		case normalize.IsBlock(c):
			if blocks++; blocks > 2 {
				return true
			}
		}
	}
	return false
}

func hasText(n *html.Node) bool {
	for c := n.FirstChild; c != nil; c = dom.Next(c, n) {
		if c.Type == html.TextNode && strings.Trim(c.Data, " \n") != "" {
			return true
		}
	}
	return false
}

// raw gives the text under n as it is.
func raw(n *html.Node) string {
	for n.FirstChild != nil && n.FirstChild == n.LastChild {
		n = n.FirstChild
	}
	if n.Type == html.TextNode {
		return n.Data
	}
	var b strings.Builder
	for c := n.FirstChild; c != nil; c = dom.Next(c, n) {
		switch {
		case c.Type == html.TextNode:
			b.WriteString(c.Data)
		case c.DataAtom == atom.Br:
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// flat gives the text under n, white space collapsed.
func flat(n *html.Node) string {
	s := raw(n)
	if strings.Contains(s, "  ") || strings.ContainsAny(s, "\n\t\r") {
		lead, trail := isSpace(s[0]), isSpace(s[len(s)-1])
		s = strings.Join(strings.Fields(s), " ")
		if lead {
			s = " " + s
		}
		if trail {
			s += " "
		}
	}
	return s
}

// flatText gives the text under n as one line, a space where a block or line
// ends inside.
func flatText(n *html.Node) string {
	if c := n.FirstChild; c != nil && c == n.LastChild && c.Type == html.TextNode {
		return strings.Trim(strings.ReplaceAll(c.Data, "\n", " "), " ")
	}
	var b strings.Builder
	for c := n.FirstChild; c != nil; c = dom.Next(c, n) {
		switch {
		case c.Type == html.TextNode:
			b.WriteString(c.Data)
		case c.DataAtom == atom.Br || normalize.IsBlock(c):
			b.WriteByte(' ')
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

func isSpace(b byte) bool  { return b == ' ' || b == '\n' || b == '\t' || b == '\r' }
func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

// isPunct says that r counts as punctuation where CommonMark decides whether a
// sign opens or closes.
func isPunct(r rune) bool {
	if r < utf8.RuneSelf {
		return r > ' ' && !(r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z')
	}
	return unicode.IsPunct(r) || unicode.IsSymbol(r)
}

// isCJK says that r is of a script that is written without spaces.
func isCJK(r rune) bool {
	switch {
	case r < 0x2e80:
		return false
	case r < 0xa4d0:
		return r < 0x3130 || r > 0x318f
	case r >= 0xf900 && r < 0xfb00, r >= 0xfe30 && r < 0xfe50, r >= 0xff00 && r < 0xffa0, r >= 0xffe0 && r < 0xfff0:
		return true
	}
	return r >= 0x1b000 && r < 0x1b300 || r >= 0x20000 && r < 0x32000
}
