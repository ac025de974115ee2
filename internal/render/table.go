package render

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Bounds on a table's grid, so that a few bytes of markup cannot ask for a
// gigabyte of empty cells.
const (
	columnsMax = 1000   // columns that spans alone can make
	blanksMin  = 10_000 // empty cells that the tables of a page may have for their spans and short rows
	blanksCell = 8      // and for each cell that they have
)

// grid is the shape of a table while it is written row by row.
type grid struct {
	rows   []*html.Node
	cols   int
	blanks int   // empty cells that may still be written, those of the line under the head too
	down   []int // for each column: rows for which a cell from above goes on
}

// table writes a table of data. Its caption comes first, as a paragraph.
func (w *writer) table(n *html.Node) {
	w.startBlock(2)
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.DataAtom == atom.Caption {
			w.block(c, w.children)
		}
	}
	g := measure(n, w.blanks)
	if g.cols == 0 {
		return
	}
	if w.cell { // a table in a cell: the normal form has none
		w.flat(n)
		return
	}
	for i, row := range g.rows {
		w.row(row, &g, i == 0)
		if i == 0 && !w.plain {
			w.newline()
			w.out = append(w.out, strings.Repeat("| --- ", g.cols)...)
			w.out = append(w.out, '|')
		}
		w.want = 1
	}
	w.blanks = g.blanks
	w.want = 2
}

// measure collects the rows and finds how many columns they need. blanks is how
// many empty cells the tables before have left.
func measure(n *html.Node, blanks int) grid {
	var g grid
	cells := 0
	g.rows = rowsOf(n)
	kept := g.rows[:0]
	widest := 0
	for _, r := range g.rows {
		width := 0
		for c := r.FirstChild; c != nil; c = c.NextSibling {
			if isCell(c) {
				width++
			}
		}
		if width > 0 || len(kept) > 0 {
			kept = append(kept, r)
		}
		cells += width
		widest = max(widest, width)
	}
	g.rows = kept
	limit := max(columnsMax, widest)
	g.blanks = blanks + blanksCell*cells
	// Lay the cells out once, with the same bound as when they are written.
	work := g.blanks
	for _, r := range g.rows {
		col := 0
		for c := r.FirstChild; c != nil; c = c.NextSibling {
			if !isCell(c) {
				continue
			}
			for col < len(g.down) && g.down[col] > 0 && work > 0 {
				g.down[col]--
				col++
				work--
			}
			across, down := spans(c)
			for ; across > 0 && col < limit; across-- {
				for col >= len(g.down) {
					g.down = append(g.down, 0)
				}
				g.down[col] = down - 1
				col++
				if work--; work <= 0 {
					break
				}
			}
		}
		for ; col < len(g.down) && work > 0; col++ {
			if g.down[col] > 0 {
				g.down[col]--
			}
			work--
		}
		g.cols = max(g.cols, col)
	}
	// Columns that there is no cell for cost two empty ones, in the head and in the
	// line under it.
	g.cols = max(widest, min(g.cols, limit, widest+max(0, g.blanks/2)))
	g.blanks -= g.cols - widest
	g.down = make([]int, g.cols)
	return g
}

// rowsOf gives the rows of a table as they are shown: the head first, the foot
// last, wherever they stand.
func rowsOf(n *html.Node) (rows []*html.Node) {
	var foot []*html.Node
	head := 0
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch c.DataAtom {
		case atom.Tr:
			rows = append(rows, c)
		case atom.Thead, atom.Tbody, atom.Tfoot:
			var part []*html.Node
			for r := c.FirstChild; r != nil; r = r.NextSibling {
				if r.DataAtom == atom.Tr {
					part = append(part, r)
				}
			}
			switch {
			case c.DataAtom == atom.Tfoot && foot == nil:
				foot = part
			case c.DataAtom == atom.Thead && head == 0 && len(part) > 0:
				head = len(part)
				rows = append(part, rows...)
			default:
				rows = append(rows, part...)
			}
		}
	}
	return append(rows, foot...)
}

func isCell(c *html.Node) bool { return c.DataAtom == atom.Td || c.DataAtom == atom.Th }

func spans(c *html.Node) (across, down int) {
	across, down = 1, 1
	for i := range c.Attr {
		switch c.Attr[i].Key {
		case "colspan":
			if v, err := strconv.Atoi(c.Attr[i].Val); err == nil && v > 0 {
				across = min(v, columnsMax)
			}
		case "rowspan":
			if v, err := strconv.Atoi(c.Attr[i].Val); err == nil && v > 0 {
				down = min(v, 1<<16)
			}
		}
	}
	return across, down
}

// row writes one row on one line. The head has all its cells, or it would be none.
func (w *writer) row(row *html.Node, g *grid, head bool) {
	w.begin()
	w.bol = false
	col, written := 0, 0
	blank := func() {
		w.out = append(w.out, "|  "...)
		g.blanks--
		col++
	}
	if w.plain {
		w.plainRow(row)
		return
	}
	for c := row.FirstChild; c != nil; c = c.NextSibling {
		if !isCell(c) {
			continue
		}
		for col < g.cols && g.down[col] > 0 && (head || g.blanks > 0) {
			g.down[col]--
			blank()
		}
		across, down := spans(c)
		if col < g.cols {
			g.down[col] = down - 1
		}
		w.out = append(w.out, "| "...)
		if w.inCell(c) {
			w.out = append(w.out, ' ')
		}
		written++
		col++
		for ; across > 1 && col < g.cols && (head || g.blanks > 0); across-- {
			g.down[col] = down - 1
			blank()
		}
	}
	for col < g.cols && (head || g.blanks > 0) {
		if g.down[col] > 0 {
			g.down[col]--
		}
		blank()
	}
	w.out = append(w.out, '|')
}

func (w *writer) plainRow(row *html.Node) {
	at := len(w.out)
	for c := row.FirstChild; c != nil; c = c.NextSibling {
		if !isCell(c) {
			continue
		}
		before := len(w.out)
		if before > at {
			w.out = append(w.out, " | "...)
		}
		if !w.inCell(c) {
			w.out = w.out[:before]
		}
	}
}

// inCell writes the contents of a cell on one line and says whether there was
// anything.
func (w *writer) inCell(c *html.Node) bool {
	at := len(w.out)
	textAt, bol, last, segs := w.textAt, w.bol, w.lastList, w.segs
	w.cell, w.textAt, w.bol, w.want, w.segs = true, at, false, 0, nil
	w.children(c)
	w.endText()
	w.cell, w.textAt, w.bol, w.lastList, w.segs = false, textAt, bol, last, segs
	w.want, w.cellMark = 0, ""
	if w.plain {
		// What is a line of its own in Markdown's cell is a sentence apart here.
		s := strings.ReplaceAll(string(w.out[at:]), "<br>", " / ")
		w.out = append(w.out[:at], s...)
	}
	return len(w.out) > at
}
