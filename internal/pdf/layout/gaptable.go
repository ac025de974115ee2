package layout

import (
	"math"
	"slices"
	"unicode"
	"unicode/utf8"
)

// gapTab is a table that only the gaps between its columns show.
type gapTab struct {
	a, b  int // lines[a:b]
	block Block
}

const maxGapCols = 40

// gapTables finds the tables that are made of gaps, with or without some
// horizontal rules. A false table destroys prose, so the cells have to be
// short and aligned; lines that look tabular and are no table keep their line
// breaks.
func (r *Reader) gapTables(words []word) {
	n := len(r.lines)
	if cap(r.gapAt) < n {
		r.gapAt = make([]int32, n)
	}
	r.gapAt = r.gapAt[:n]
	clear(r.gapAt)
	r.gapped = r.gapped[:0]
	for i := range n {
		l := &r.lines[i]
		l.entry = l.leader || r.entry(l, words)
	}
	for i := 0; i < n; {
		l := &r.lines[i]
		if l.j-l.i < 2 || l.leader || l.grid != 0 || l.toLeft() {
			i++
			continue
		}
		g := r.grow(r.lines, i)
		if len(g.gaps) == 0 || g.b-g.a < 2 {
			i++
			continue
		}
		if t, ok := r.gapTable(words, &g); ok {
			r.gapped = append(r.gapped, t)
			r.gapAt[t.a] = int32(len(r.gapped))
			i = t.b
			continue
		}
		if r.looksTabular(&g) {
			for k := g.a; k < g.b; k++ {
				r.lines[k].keep = true
			}
			i = g.b
			continue
		}
		i += max(1, (g.b-g.a)/4)
	}
}

// entry says whether a line ends with a number far from the rest.
func (r *Reader) entry(l *line, words []word) bool {
	if l.j-l.i < 2 {
		return false
	}
	s, p := &r.segs[l.j-1], &r.segs[l.j-2]
	if s.j-s.i != 1 || s.x0-p.x1 < 2*l.size {
		return false
	}
	t := words[s.i].text
	for i := range len(t) {
		if t[i] < '0' || t[i] > '9' {
			return romanValue(t) > 0
		}
	}
	return len(t) <= 4
}

// looksTabular says whether most lines of the region consist of pieces.
func (r *Reader) looksTabular(g *region) bool {
	n := 0
	for k := g.a; k < g.b; k++ {
		if r.lines[k].j-r.lines[k].i > 1 {
			n++
		}
	}
	return n >= 3 && n*10 >= (g.b-g.a)*6
}

// piece is what one line has in one column, or over several.
type piece struct {
	c0, c1 int
	i, j   int // segs[i:j]
	x0, x1 float64
	chars  int
}

func (r *Reader) gapTable(words []word, g *region) (gapTab, bool) {
	lines := r.lines
	cols := len(g.gaps) + 1
	if cols > maxGapCols {
		return gapTab{}, false
	}
	dots := 0
	for k := g.a; k < g.b; k++ {
		if lines[k].leader {
			dots++
		}
	}
	if dots*4 > g.b-g.a {
		return gapTab{}, false // a table of contents
	}
	// Lines of one piece at the end are rather what comes after the table.
	b := g.b
	for b > g.a && lines[b-1].j-lines[b-1].i < 2 {
		s := &r.segs[lines[b-1].i]
		if b-2 >= g.a && g.column(s.x0) > 0 && lines[b-1].base-lines[b-2].base < 1.35*g.size {
			break // a cell that goes on
		}
		b--
	}
	rows := make([][]piece, 0, b-g.a)
	several := 0
	for k := g.a; k < b; k++ {
		row := r.pieces(&lines[k], g, words)
		if len(row) > 1 {
			several++
		}
		rows = append(rows, row)
	}
	top, bottom := lines[g.a].base, lines[b-1].base
	ruled := r.ruledAround(g, top, bottom)
	least := 3
	if ruled >= 2 && cols > 2 {
		least = 2
	}
	if several < least || several*10 < len(rows)*6 {
		return gapTab{}, false
	}
	if !r.aligned(rows, g, cols, ruled >= 2, words) {
		return gapTab{}, false
	}
	a := g.a
	// Headers that reach over several columns stand above, under the top rule.
	if ruled >= 2 || cols > 2 {
		for a > 0 && g.a-a < 3 && lines[a-1].grid == 0 && !lines[a-1].leader && !lines[a-1].keep {
			up := &lines[a-1]
			if d := lines[a].base - up.base; d <= 0.3*g.size || d > 2.2*g.size || up.j-up.i < 2 && ruled < 2 || up.size > 1.15*g.size {
				break
			}
			x0, x1 := r.extent(lines[g.a:b])
			if up.x0 < x0-g.size || up.x1 > x1+g.size || ruled >= 2 && !r.ruleAbove(up, x0, x1, g.size) || ruled < 2 && !r.headerLike(up, g) {
				break
			}
			rows = slices.Insert(rows, 0, r.pieces(up, g, words))
			a--
		}
	}
	return gapTab{a: a, b: b, block: r.tableBlock(words, lines[a:b], rows, cols, g)}, true
}

// headerLike says whether every piece of a line lies over one or more whole
// columns and not between them.
func (r *Reader) headerLike(l *line, g *region) bool {
	before := -1
	for k := l.i; k < l.j; k++ {
		s := &r.segs[k]
		c0, c1 := g.column(s.x0), g.column(s.x1)
		if c0 <= before || s.chars > 30 {
			return false
		}
		before = c1
	}
	return true
}

func (r *Reader) extent(lines []line) (x0, x1 float64) {
	x0, x1 = math.Inf(1), math.Inf(-1)
	for k := range lines {
		x0, x1 = math.Min(x0, lines[k].x0), math.Max(x1, lines[k].x1)
	}
	return x0, x1
}

// ruledAround counts the rules that reach over the region near its lines.
func (r *Reader) ruledAround(g *region, top, bottom float64) int {
	x0, x1 := r.extent(r.lines[g.a:g.b])
	n := 0
	last := math.Inf(-1)
	for _, h := range r.rules {
		if h.at < top-4.5*g.size || h.at > bottom+2*g.size || h.at < last+2 {
			continue
		}
		if math.Min(h.b, x1)-math.Max(h.a, x0) >= 0.8*(x1-x0) {
			n++
			last = h.at
		}
	}
	return n
}

// ruleAbove says whether a rule stands above the line, close enough to be the
// top of its table.
func (r *Reader) ruleAbove(l *line, x0, x1, size float64) bool {
	for _, h := range r.rules {
		if h.at < l.base-0.5*size && h.at > l.base-4*size && math.Min(h.b, x1)-math.Max(h.a, x0) >= 0.8*(x1-x0) {
			return true
		}
	}
	return false
}

// pieces parts a line by the columns of the region.
func (r *Reader) pieces(l *line, g *region, words []word) []piece {
	var row []piece
	for k := l.i; k < l.j; k++ {
		s := &r.segs[k]
		c0, c1 := g.column(s.x0+0.1*s.size), g.column(s.x1-0.1*s.size)
		c1 = max(c0, c1)
		if n := len(row); n > 0 && row[n-1].c1 >= c0 {
			p := &row[n-1]
			p.c1, p.j, p.x1 = max(p.c1, c1), k+1, s.x1
			p.chars += int(s.chars)
			continue
		}
		row = append(row, piece{c0: c0, c1: c1, i: k, j: k + 1, x0: s.x0, x1: s.x1, chars: int(s.chars)})
	}
	return row
}

// aligned says whether the pieces are cells: short, in most rows of most
// columns, and set at a common edge.
func (r *Reader) aligned(rows [][]piece, g *region, cols int, ruled bool, words []word) bool {
	chars, cells, longest := 0, 0, 0
	for _, row := range rows {
		for _, p := range row {
			chars += p.chars
			cells++
			longest = max(longest, p.chars)
		}
	}
	mean, most := 24, 90
	if ruled {
		mean, most = 50, 250
	}
	if cells == 0 || chars > mean*cells || longest > most || cells*10 < 4*len(rows)*cols {
		return false
	}
	tol := 0.3 * g.size
	var starts, ends, mids, points []float64
	numeric := 0 // columns of numbers
	good := 0
	for c := range cols {
		starts, ends, mids, points = starts[:0], ends[:0], mids[:0], points[:0]
		numbers, markers, wordsIn := 0, 0, 0
		for _, row := range rows {
			for _, p := range row {
				if p.c0 != c || p.c1 != c {
					continue
				}
				starts, ends, mids = append(starts, p.x0), append(ends, p.x1), append(mids, (p.x0+p.x1)/2)
				first := &words[r.segs[p.i].i]
				if isNumeric(first.text) {
					numbers++
					points = append(points, pointOf(first))
				}
				if c == 0 && r.segs[p.j-1].j-r.segs[p.i].i == 1 {
					if _, ok := markerOf(first.text, true); ok {
						markers++
					}
				}
				for k := p.i; k < p.j; k++ {
					wordsIn += wordsOf(&r.segs[k], words)
				}
			}
		}
		n := len(starts)
		if n*10 < len(rows)*3 {
			return false
		}
		if c == 0 && cols == 2 && markers*2 > n {
			return false // a list
		}
		if c == cols-1 && cols == 2 && equationNumbers(rows, c, words, r.segs) {
			return false
		}
		if numbers*10 >= n*6 {
			numeric++
		} else if cols == 2 && wordsIn > 5*n && !ruled {
			return false // sentences
		}
		if share := math.Max(math.Max(cluster(starts, tol), cluster(ends, tol)), cluster(mids, tol)); share >= 0.7 || len(points) > 2 && cluster(points, tol) >= 0.7 {
			good++
		}
	}
	if cols <= 3 && numeric > 0 && !ruled && r.contents(rows, words) {
		return false
	}
	return good*10 >= cols*8
}

// cluster is the share of values that lie together.
func cluster(v []float64, tol float64) float64 {
	if len(v) == 0 {
		return 0
	}
	slices.Sort(v)
	best, from := 0, 0
	for i := range v {
		for v[i]-v[from] > 2*tol {
			from++
		}
		best = max(best, i-from+1)
	}
	return float64(best) / float64(len(v))
}

// contents says whether rows are a table of contents: titles, perhaps with
// section numbers before them, and page numbers that grow.
func (r *Reader) contents(rows [][]piece, words []word) bool {
	before, growing, n, titles := -1, 0, 0, 0
	for _, row := range rows {
		if len(row) < 2 {
			continue
		}
		last := row[len(row)-1]
		v := 0
		for _, c := range words[r.segs[last.i].i].text {
			if c < '0' || c > '9' || v > 1e6 {
				return false
			}
			v = v*10 + int(c-'0')
		}
		n++
		if v >= before {
			growing++
		}
		before = v
		if len(row) == 2 {
			titles++
		} else if _, ok := numberDepth(words[r.segs[row[0].i].i].text + " A"); ok && len(row) == 3 {
			titles++
		}
	}
	return n >= 3 && growing*10 >= n*9 && titles*10 >= n*9
}

// equationNumbers says whether the last column is "(1)", "(2)" and so on.
func equationNumbers(rows [][]piece, c int, words []word, segs []seg) bool {
	n, of := 0, 0
	for _, row := range rows {
		p := row[len(row)-1]
		if p.c0 != c {
			continue
		}
		of++
		t := words[segs[p.i].i].text
		if len(t) > 2 && t[0] == '(' && t[len(t)-1] == ')' && isNumeric(t[1:len(t)-1]) {
			n++
		}
	}
	return n*2 > of
}

func isNumeric(s string) bool {
	digits := 0
	for _, r := range s {
		switch {
		case unicode.IsDigit(r):
			digits++
		case r == '.' || r == ',' || r == '-' || r == '−' || r == '–' || r == '+' || r == '%' || r == '$' || r == '€' || r == '£' || r == '(' || r == ')' || r == '±' || r == '*' || r == '/' || r == ':':
		default:
			return false
		}
	}
	return digits > 0 || s == "-" || s == "–" || s == "—"
}

// pointOf is where the decimal point of a number stands.
func pointOf(w *word) float64 {
	for i := 0; i < len(w.text); i++ {
		if w.text[i] == '.' || w.text[i] == ',' {
			return w.x0 + (w.x1-w.x0)*float64(i)/float64(len(w.text))
		}
	}
	return w.x1
}

// tableBlock writes the cells. A line without the first column that stands
// close under another is its continuation.
func (r *Reader) tableBlock(words []word, lines []line, rows [][]piece, cols int, g *region) Block {
	b := Block{Kind: Table}
	c := &b.Clue
	c.Box = Rect{math.Inf(1), lines[0].y0, math.Inf(-1), lines[len(lines)-1].y1}
	c.Size, c.Lines = g.size, len(lines)
	for k := range lines {
		c.Box.X0, c.Box.X1 = math.Min(c.Box.X0, lines[k].x0), math.Max(c.Box.X1, lines[k].x1)
	}
	// Distances of the rows that begin in the first column.
	wide := math.Inf(1)
	for k := 1; k < len(rows); k++ {
		if rows[k][0].c0 == 0 && len(rows[k])*2 > cols && rows[k-1][0].c0 == 0 {
			wide = math.Min(wide, lines[k].base-lines[k-1].base)
		}
	}
	type cell struct {
		c0, c1 int
		words  []int32
	}
	var table [][]cell
	at := make([]int, 0, len(rows)) // the line with which each row begins
	for k, row := range rows {
		cont := false
		if k > 0 && len(table) > 0 && row[0].c0 > 0 && len(row)*2 <= cols {
			d := lines[k].base - lines[k-1].base
			cont = d < 0.85*wide && d < 1.4*g.size
		}
		if cont {
			up := table[len(table)-1]
			for _, p := range row {
				found := false
				for q := range up {
					if up[q].c0 <= p.c0 && p.c0 <= up[q].c1 {
						up[q].words = r.appendWords(up[q].words, p)
						found = true
						break
					}
				}
				if !found {
					cont = false
				}
			}
			if cont {
				continue
			}
			// A piece under an empty cell: take back what was added.
			for _, p := range row {
				for q := range up {
					if up[q].c0 <= p.c0 && p.c0 <= up[q].c1 {
						up[q].words = up[q].words[:len(up[q].words)-len(r.appendWords(nil, p))]
					}
				}
			}
		}
		var out []cell
		for _, p := range row {
			out = append(out, cell{p.c0, p.c1, r.appendWords(nil, p)})
		}
		table = append(table, out)
		at = append(at, k)
	}
	header := r.headerRows(words, lines, rows, at, g)
	for i, row := range table {
		var out []Cell
		next := 0
		for _, c := range row {
			for next < c.c0 {
				out = append(out, Cell{Header: i < header})
				next++
			}
			cell := Cell{Spans: r.cellSpans(words, c.words), Header: i < header}
			if c.c1 > c.c0 {
				cell.ColSpan = c.c1 - c.c0 + 1
			}
			out = append(out, cell)
			next = c.c1 + 1
		}
		for next < cols {
			out = append(out, Cell{Header: i < header})
			next++
		}
		b.Rows = append(b.Rows, out)
	}
	return b
}

func (r *Reader) appendWords(to []int32, p piece) []int32 {
	for k := p.i; k < p.j; k++ {
		for x := r.segs[k].i; x < r.segs[k].j; x++ {
			to = append(to, int32(x))
		}
	}
	return to
}

// headerRows counts the rows above the first rule within the table, or, where
// there is none, says whether the first row is bold and the second is not.
func (r *Reader) headerRows(words []word, lines []line, rows [][]piece, at []int, g *region) int {
	x0, x1 := r.extent(lines)
	for _, h := range r.rules {
		if math.Min(h.b, x1)-math.Max(h.a, x0) < 0.7*(x1-x0) {
			continue
		}
		if h.at > lines[0].base-0.2*g.size {
			for i, k := range at {
				if i > 0 && i <= 3 && h.at < lines[k].base-0.5*g.size && h.at > lines[k-1].base-0.3*g.size {
					return i
				}
			}
		}
	}
	if len(at) > 1 && lines[0].allBold() && !lines[at[1]].allBold() {
		return 1
	}
	// Names over numbers.
	if len(at) > 2 && len(rows[0]) > 1 {
		for _, p := range rows[0] {
			if first, _ := utf8.DecodeRuneInString(words[r.segs[p.i].i].text); unicode.IsDigit(first) {
				return 0
			}
		}
		for _, k := range at[1:] {
			last := rows[k][len(rows[k])-1]
			if !isNumeric(words[r.segs[last.i].i].text) {
				return 0
			}
		}
		return 1
	}
	return 0
}

// gridBlock writes the cells of a table that tags or drawn lines show.
func (r *Reader) gridBlock(words []word, g *grid) Block {
	b := Block{Kind: Table, Clue: Clue{Box: g.box, Lines: len(g.rows)}}
	for _, row := range g.rows {
		out := make([]Cell, 0, len(row))
		for _, c := range row {
			cell := Cell{Spans: r.cellSpans(words, c.words), Header: c.header}
			if c.colspan > 1 {
				cell.ColSpan = c.colspan
			}
			if c.rowspan > 1 {
				cell.RowSpan = c.rowspan
			}
			out = append(out, cell)
			if len(c.words) > 0 && b.Clue.Size == 0 {
				b.Clue.Size = words[c.words[0]].size
			}
		}
		b.Rows = append(b.Rows, out)
	}
	return b
}
