package normalize

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"sift.build/sift/internal/dom"
)

// HTML's own bounds on how far a cell spans.
const (
	colspanMax = 1000
	rowspanMax = 65534
)

// table is what has been seen of a table on the way through it.
type table struct {
	node    *html.Node
	layout  bool // the page says so
	data    bool // the page says so, or a caption does
	headers int  // <th>
	nested  int  // tables inside, whatever became of them
	inner   []*html.Node

	rows, cells, filled int
	cols, width         int // the widest row; this row so far
	rowCells, rowBlocks int
	widest              int // cells of the row with most cells
	rowFull, full       int // cells with something to read: of this row, of the row with most
	text, longest       int // characters of all cells, of the longest
	headings, rich      int // cells with a heading, with several blocks
	cell                cell
}

type cell struct {
	text, blocks, headings, lists int
	nested                        int
}

func (p *pass) countText(s string) {
	p.tables[len(p.tables)-1].cell.text += countText(s)
}

func (p *pass) enterTable(n *html.Node, a *attrs) {
	t := table{node: n}
	switch a.role {
	case "presentation", "none":
		t.layout = true
	case "table", "grid", "treegrid":
		t.data = true
	}
	if a.class != "" && eachToken(a.class, func(s string) bool { return s == "infobox" || s == "wikitable" }) {
		t.data = true
	}
	if hasToken(a.class, "ltx_eqn_table") || hasToken(a.class, "ltx_equation") || hasToken(a.class, "ltx_equationgroup") {
		t.layout = true
	}
	p.tables = append(p.tables, t)
}

func (p *pass) enterRow() {
	if len(p.tables) == 0 {
		return
	}
	t := &p.tables[len(p.tables)-1]
	t.width, t.rowCells, t.rowBlocks, t.rowFull = 0, 0, 0, 0
}

func (p *pass) enterCell(n *html.Node) {
	if len(p.tables) == 0 {
		return
	}
	t := &p.tables[len(p.tables)-1]
	t.cell = cell{}
	if n.DataAtom == atom.Th {
		t.headers++
	}
	span := 1
	for i := range n.Attr {
		at := &n.Attr[i]
		switch at.Key {
		case "colspan":
			span = clampSpan(at, colspanMax)
		case "rowspan":
			clampSpan(at, rowspanMax)
		}
	}
	t.width += span
	t.rowCells++
}

func clampSpan(at *html.Attribute, limit int) int {
	n, err := strconv.Atoi(strings.TrimSpace(at.Val))
	if err != nil && n <= 0 || n < 1 {
		n = 1
	}
	n = min(n, limit)
	at.Val = strconv.Itoa(n)
	return n
}

func (p *pass) leaveCell(n *html.Node) {
	if len(p.tables) == 0 {
		return
	}
	t := &p.tables[len(p.tables)-1]
	c := &t.cell
	t.cells++
	if c.text > 0 || hasImage(n) {
		t.filled++
	}
	if c.text > 0 || c.nested > 0 || namedImage(n) {
		t.rowFull++
	}
	t.text += c.text
	t.longest = max(t.longest, c.text)
	if c.headings > 0 {
		t.headings++
	}
	if c.blocks > 2 || c.lists > 0 {
		t.rich++
	}
	t.rowBlocks += c.blocks
	t.nested += c.nested
	*c = cell{}
}

// namedImage says that there is an image with a name in an otherwise empty cell.
func namedImage(n *html.Node) bool {
	return n.FirstChild != nil && find(n, 6, func(c *html.Node) bool {
		return c.DataAtom == atom.Img && dom.Attr(c, "alt") != "" || c.DataAtom == atom.Input
	}) != nil
}

// hasImage looks for an image near the top of an otherwise empty cell.
func hasImage(n *html.Node) bool {
	return n.FirstChild != nil && find(n, 6, func(c *html.Node) bool { return c.DataAtom == atom.Img }) != nil
}

func (p *pass) leaveRow(n *html.Node) {
	if len(p.tables) == 0 {
		return
	}
	t := &p.tables[len(p.tables)-1]
	t.rows++
	t.cols = max(t.cols, t.width)
	t.widest = max(t.widest, t.rowCells)
	t.full = max(t.full, t.rowFull)
	if t.rowBlocks > 0 {
		setAttr(n, blockRow, "")
	}
}

// blockRow marks a row in whose cells there are blocks, until the table is
// judged.
const blockRow = "data-block-row"

// leaveTable decides what the table is, now that everything in it is known. A
// table of data stays; one used for layout becomes <div> elements.
func (p *pass) leaveTable(n *html.Node) {
	if len(p.tables) == 0 {
		return
	}
	t := p.tables[len(p.tables)-1]
	p.tables = p.tables[:len(p.tables)-1]
	layout := t.isLayout(n)
	var up *table
	if len(p.tables) > 0 {
		up = &p.tables[len(p.tables)-1]
		up.cell.text += t.text
		up.cell.nested++
		up.cell.headings += t.headings
		up.cell.blocks++
	}
	if layout {
		flatten(n, false)
		if up != nil {
			up.inner = append(up.inner, t.inner...)
		}
		return
	}
	for _, in := range t.inner { // Markdown has no table in a table
		flatten(in, true)
	}
	eachRow(n, func(r *html.Node) { removeAttr(r, blockRow) })
	if up != nil {
		up.inner = append(up.inner, n)
	}
}

// isLayout judges a table.
func (t *table) isLayout(n *html.Node) bool {
	if t.layout || t.cells == 0 || t.cols <= 1 && t.headers == 0 || t.cells == 1 {
		return true
	}
	captioned := false
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.DataAtom == atom.Caption || c.DataAtom == atom.Thead {
			captioned = true
		}
	}
	marked := t.data || t.headers > 1 || captioned && t.headers > 0
	mean := t.text / max(t.filled, 1)
	switch {
	case t.headings > 0 && t.headers == 0, t.headings > 2 && mean > 100: // sections of a page, blocks of code
		return true
	case t.nested > 0 && !t.data && (t.headers == 0 || mean > 200):
		return true
	case mean > 400, t.longest > 3000: // the text of a page
		return true
	case marked:
		return false
	case t.rows == 1 && t.headers == 0:
		return true
	case t.full <= 1 && t.headers == 0: // one column, with signs in front of it
		return true
	case t.rich*2 > t.filled: // lists and paragraphs side by side
		return true
	case t.filled*5 < t.cells*2, t.filled*5 < t.rows*t.cols*2 && t.widest < 8: // mostly spacers
		return true
	}
	return false
}

// eachRow calls f with the rows of the table n, not of those inside.
func eachRow(n *html.Node, f func(*html.Node)) {
	for c := n.FirstChild; c != nil; {
		next := c.NextSibling
		switch c.DataAtom {
		case atom.Tr:
			f(c)
		case atom.Thead, atom.Tbody, atom.Tfoot:
			for r := c.FirstChild; r != nil; {
				following := r.NextSibling
				if r.DataAtom == atom.Tr {
					f(r)
				}
				r = following
			}
		}
		c = next
	}
}

// flatten turns a table into <div> elements. A row whose cells are running
// text becomes one line; inline says that every row shall.
func flatten(n *html.Node, inline bool) {
	eachRow(n, func(r *html.Node) {
		oneLine := inline || !dom.HasAttr(r, blockRow)
		removeAttr(r, blockRow)
		for c := r.FirstChild; c != nil; {
			next := c.NextSibling
			if c.DataAtom == atom.Td || c.DataAtom == atom.Th {
				removeAttr(c, "colspan")
				removeAttr(c, "rowspan")
				removeAttr(c, "scope")
				if oneLine {
					rename(c, atom.Span)
					if c.FirstChild == nil {
						r.RemoveChild(c)
					} else {
						r.InsertBefore(dom.Text(" "), c)
					}
				} else {
					rename(c, atom.Div)
				}
			}
			c = next
		}
		rename(r, atom.Div)
	})
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch c.DataAtom {
		case atom.Thead, atom.Tbody, atom.Tfoot, atom.Caption:
			rename(c, atom.Div)
		}
	}
	rename(n, atom.Div)
	removeAttr(n, "role")
}
