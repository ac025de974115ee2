package layout

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
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
	after := 0 // where the last table ended
	typed := r.monoPage(r.lines)
	for i := 0; i < n; {
		l := &r.lines[i]
		if l.j-l.i < 2 || l.grid != 0 || l.toLeft() || l.allMono() && !typed {
			i++
			continue
		}
		g := r.grow(r.lines, i, words)
		if len(g.gaps) == 0 || g.b-g.a < 2 || r.thin(&g) {
			i++
			continue
		}
		if t, ok := r.gapTable(words, &g, after); ok {
			r.gapped = append(r.gapped, t)
			r.gapAt[t.a] = int32(len(r.gapped))
			i, after = t.b, t.b
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

// thin says whether the first line has fewer pieces than most lines under it:
// titles close to each other, which would hide the gaps between the columns.
func (r *Reader) thin(g *region) bool {
	counts := make([]int, 0, g.b-g.a)
	for k := g.a; k < g.b; k++ {
		if n := r.lines[k].j - r.lines[k].i; n > 1 {
			counts = append(counts, n)
		}
	}
	slices.Sort(counts)
	return (r.lines[g.a].j-r.lines[g.a].i)*10 < counts[len(counts)/2]*8
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
	i, j   int // words[i:j]
	x0, x1 float64
	chars  int
	more   [][2]int // further runs of words; in lines put together by place they need not follow each other
}

func (p *piece) count() int {
	n := p.j - p.i
	for _, m := range p.more {
		n += m[1] - m[0]
	}
	return n
}

func (r *Reader) gapTable(words []word, g *region, after int) (gapTab, bool) {
	lines := r.lines
	r.moreGaps(g)
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
	if dots*4 > b-g.a && (cols == 2 && !measures(rows, words) || cols < 4 && contents(rows, words, cols, true)) {
		return gapTab{}, false
	}
	top, bottom := g.size, 0.0
	if b > g.a {
		top, bottom = lines[g.a].base, lines[b-1].base
	}
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
	t := gapTab{a: g.a, b: b, block: r.tableBlock(words, lines[g.a:b], rows, cols, g)}
	if head, from := r.headAbove(words, g, after, cols); from < g.a {
		t.a = from
		for _, row := range t.block.Rows {
			for k := range row {
				row[k].Header = false
			}
		}
		t.block.Rows = append(head, t.block.Rows...)
		t.block.Clue.Lines += g.a - from
		for k := from; k < g.a; k++ {
			t.block.Clue.Box.Y0 = min(t.block.Clue.Box.Y0, lines[k].y0)
		}
	}
	return t, true
}

// moreGaps adds the gaps that the first line of the region does not have, such
// as those of a column that begins further down.
func (r *Reader) moreGaps(g *region) {
	spans := r.gaps2[:0]
	for k := g.a; k < g.b; k++ {
		for s := r.lines[k].i; s < r.lines[k].j; s++ {
			spans = append(spans, span{r.segs[s].x0, r.segs[s].reach})
		}
	}
	r.gaps2 = spans
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.x0, b.x0) })
	gaps := slices.Clone(g.gaps)
	reach := math.Inf(1)
	for _, s := range spans {
		if s.x0-reach >= 0.6*g.size && len(gaps) <= maxGapCols {
			known := false
			for _, k := range g.gaps {
				if k.x0 < s.x0 && k.x1 > reach {
					known = true
					break
				}
			}
			if !known {
				gaps = append(gaps, span{reach, s.x0})
			}
		}
		if math.IsInf(reach, 1) {
			reach = s.x1
		}
		reach = max(reach, s.x1)
	}
	slices.SortFunc(gaps, func(a, b span) int { return cmp.Compare(a.x0, b.x0) })
	g.gaps = gaps
}

// measures says whether the second of two columns has numbers that no page
// has: decimals, percentages, amounts.
func measures(rows [][]piece, words []word) bool {
	n, of := 0, 0
	for _, row := range rows {
		if len(row) < 2 {
			continue
		}
		of++
		if t := words[row[1].i].text; isNumeric(t) && strings.ContainsAny(t, ".,%$€£") {
			n++
		}
	}
	return n*2 > of
}

// headAbove makes header rows of the lines above the table that stand over its
// columns: words over single columns, in as many lines as each takes, and
// words over several. It says with which line they begin; g.a if there are
// none.
func (r *Reader) headAbove(words []word, g *region, after, cols int) (rows [][]Cell, from int) {
	lines := r.lines
	x0, x1 := r.extent(lines[g.a:g.b])
	top := lines[g.a].base
	from = g.a
	for from > after && g.a-from < 60 {
		l := &lines[from-1]
		if l.grid != 0 || l.leader || l.keep || l.chars > 60 || l.base > top-0.3*g.size || l.base < top-12*g.size ||
			l.size > 1.15*g.size || l.x0 < x0-g.size || l.x1 > x1+g.size && r.segs[l.j-1].x0 > x1 || l.x1 > x1+8*g.size {
			break
		}
		if last := lastWord(words, r.segs, l); last != nil && l.j-l.i == 1 && endsSentence(last.text) {
			break
		}
		from--
	}
	// Only what hangs together upwards from the table.
	order := make([]int, 0, g.a-from)
	for k := from; k < g.a; k++ {
		order = append(order, k)
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(lines[b].base, lines[a].base) })
	low := top
	kept := 0
	for _, k := range order {
		limit := 2.2 * g.size
		if kept == 0 {
			limit = 3 * g.size
		}
		if low-lines[k].base > limit {
			break
		}
		low = lines[k].base
		kept++
	}
	for _, k := range order[kept:] {
		if k >= from {
			from = k + 1
		}
	}
	if from == g.a {
		return nil, g.a
	}
	single, several := make([][]int32, cols), make(map[[2]int][]int32)
	covered := 0
	extents := r.extents(words, g, cols)
	for k := from; k < g.a; k++ {
		for _, p := range r.over(&lines[k], g, words, extents) {
			switch {
			case p.c0 == p.c1:
				if single[p.c0] == nil {
					covered++
				}
				single[p.c0] = appendWords(single[p.c0], p)
			case (p.c1-p.c0+1)*10 >= cols*7 || p.chars > 40:
				return nil, g.a // a title
			default:
				key := [2]int{p.c0, p.c1}
				if several[key] == nil {
					covered += p.c1 - p.c0 + 1
				}
				several[key] = appendWords(several[key], p)
			}
		}
	}
	if covered < 2 || covered*2 < cols {
		return nil, g.a
	}
	for _, w := range single {
		if len(w) > 15 {
			return nil, g.a // prose
		}
	}
	if len(several) > 0 {
		keys := slices.Collect(maps.Keys(several))
		slices.SortFunc(keys, func(a, b [2]int) int { return a[0] - b[0] })
		var row []Cell
		next := 0
		for _, key := range keys {
			if key[0] < next {
				return nil, g.a // they overlap: no header
			}
			for ; next < key[0]; next++ {
				row = append(row, Cell{Header: true})
			}
			row = append(row, Cell{Spans: r.cellSpans(words, several[key]), Header: true, ColSpan: key[1] - key[0] + 1})
			next = key[1] + 1
		}
		for ; next < cols; next++ {
			row = append(row, Cell{Header: true})
		}
		rows = append(rows, row)
	}
	row := make([]Cell, cols)
	for c, w := range single {
		row[c] = Cell{Spans: r.cellSpans(words, w), Header: true}
	}
	return append(rows, row), from
}

// extents is how far each column reaches.
func (r *Reader) extents(words []word, g *region, cols int) []span {
	out := make([]span, cols)
	for c := range out {
		out[c] = span{math.Inf(1), math.Inf(-1)}
	}
	for k := g.a; k < g.b; k++ {
		for _, p := range r.pieces(&r.lines[k], g, words) {
			if p.c0 == p.c1 {
				e := &out[p.c0]
				e.x0, e.x1 = min(e.x0, p.x0), max(e.x1, p.x1)
			}
		}
	}
	return out
}

// over parts a line above the table by the columns that its pieces stand over.
// A title may be wider than its column, so it belongs to the one it covers
// most, and to several only if it covers them.
func (r *Reader) over(l *line, g *region, words []word, extents []span) []piece {
	var row []piece
	for k := l.i; k < l.j; k++ {
		s := &r.segs[k]
		p := piece{c0: -1, i: s.i, j: s.j, x0: s.x0, x1: s.reach, chars: int(s.chars)}
		best := 0.0
		for c, e := range extents {
			o := min(e.x1, p.x1) - max(e.x0, p.x0)
			if o <= 0 {
				continue
			}
			if o >= 0.5*(e.x1-e.x0) && p.c0 >= 0 && best >= 0.5*(extents[p.c1].x1-extents[p.c1].x0) {
				p.c1 = c
				continue
			}
			if o > best {
				best, p.c0, p.c1 = o, c, c
			}
		}
		if p.c0 < 0 {
			p.c0 = g.column((p.x0 + p.x1) / 2)
			p.c1 = p.c0
		}
		if p.c1 > p.c0 {
			// Titles close to each other: part them between the columns that
			// their words stand over, where the gap is wider than a space.
			from := s.i
			at := nearestColumn(&words[s.i], extents)
			for i := s.i + 1; i < s.j; i++ {
				if c := nearestColumn(&words[i], extents); c > at && words[i].x0-words[i-1].x1 > 0.45*l.size {
					row = append(row, pieceOf(words, from, i, at))
					from, at = i, c
				}
			}
			if from > s.i {
				row = append(row, pieceOf(words, from, s.j, at))
				continue
			}
		}
		row = append(row, p)
	}
	return row
}

// nearestColumn is the column whose middle is nearest to that of the word, or
// that the word stands over.
func nearestColumn(w *word, extents []span) int {
	best, least := 0, math.Inf(1)
	mid := (w.x0 + w.x1) / 2
	for c, e := range extents {
		d := 0.0
		if mid < e.x0 {
			d = e.x0 - mid
		} else if mid > e.x1 {
			d = mid - e.x1
		}
		if d < least {
			best, least = c, d
		}
	}
	return best
}

func pieceOf(words []word, i, j, c int) piece {
	p := piece{c0: c, c1: c, i: i, j: j, x0: words[i].x0, x1: words[j-1].x1}
	for k := i; k < j; k++ {
		p.chars += int(words[k].chars)
	}
	return p
}

func (r *Reader) extent(lines []line) (x0, x1 float64) {
	x0, x1 = math.Inf(1), math.Inf(-1)
	for k := range lines {
		x0, x1 = min(x0, lines[k].x0), max(x1, lines[k].x1)
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
		if min(h.b, x1)-max(h.a, x0) >= 0.8*(x1-x0) {
			n++
			last = h.at
		}
	}
	return n
}

// pieces parts a line by the columns of the region.
func (r *Reader) pieces(l *line, g *region, words []word) []piece {
	var row []piece
	add := func(i, j int) {
		x0, x1, chars := words[i].x0, words[i].x0, 0
		for k := i; k < j; k++ {
			if words[k].look&leader == 0 {
				x1 = max(x1, words[k].x1)
				chars += int(words[k].chars)
			}
		}
		c0 := g.column(x0 + 0.1*l.size)
		c1 := max(c0, g.column(x1-0.1*l.size))
		if n := len(row); n > 0 && row[n-1].c1 >= c0 {
			p := &row[n-1]
			p.c1, p.x1 = max(p.c1, c1), max(p.x1, x1)
			p.chars += chars
			if i == p.j && len(p.more) == 0 {
				p.j = j
			} else {
				p.more = append(p.more, [2]int{i, j})
			}
			return
		}
		row = append(row, piece{c0: c0, c1: c1, i: i, j: j, x0: x0, x1: x1, chars: chars})
	}
	for k := l.i; k < l.j; k++ {
		s := &r.segs[k]
		from := s.i
		// Full cells that stand close together are one seg: part it where a
		// gap between columns lies between two words.
		if g.column(s.x0+0.1*s.size) < g.column(s.reach-0.1*s.size) {
			for i := s.i + 1; i < s.j; i++ {
				if c := g.column(words[i].x0); c > 0 && c > g.column(words[i-1].x1) && words[i-1].x1 <= g.gaps[c-1].x0+0.01 && words[i].x0 >= g.gaps[c-1].x1-0.01 {
					add(from, i)
					from = i
				}
			}
		}
		add(from, s.j)
	}
	return row
}

// aligned says whether the pieces are cells: short, in most rows of most
// columns, and set at a common edge.
func (r *Reader) aligned(rows [][]piece, g *region, cols int, ruled bool, words []word) bool {
	chars, cells, longest, signs := 0, 0, 0, 0
	for _, row := range rows {
		for _, p := range row {
			if !slices.ContainsFunc(words[p.i:p.j], func(w word) bool { return w.says() }) {
				signs++
			}
			chars += p.chars
			cells++
			longest = max(longest, p.chars)
		}
	}
	mean, most := 24, 90
	if ruled {
		mean, most = 50, 250
	}
	fill := 4
	if len(rows) < 4 {
		fill = 6 // few rows have to be full to prove something
	}
	if cells == 0 || signs*2 > cells || chars > mean*cells || longest > most || cells*10 < fill*len(rows)*cols {
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
				first := &words[p.i]
				if isNumeric(first.text) {
					numbers++
					points = append(points, pointOf(first))
				}
				if c == 0 && p.count() == 1 {
					if _, ok := markerOf(first.text, true); ok {
						markers++
					}
				}
				wordsIn += wordCount(words[p.i:p.j])
				for _, m := range p.more {
					wordsIn += wordCount(words[m[0]:m[1]])
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
		if c == cols-1 && cols == 2 && equationNumbers(rows, c, words) {
			return false
		}
		if numbers*10 >= n*6 {
			numeric++
		} else if cols == 2 && wordsIn > 5*n && !ruled {
			return false // sentences
		}
		if share := max(max(cluster(starts, tol), cluster(ends, tol)), cluster(mids, tol)); share >= 0.7 || len(points) > 2 && cluster(points, tol) >= 0.7 {
			good++
		}
	}
	if cols <= 3 && numeric > 0 && !ruled && contents(rows, words, cols, false) {
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
// section numbers before them, and page numbers that grow. Titles that take
// two lines have the number at the second.
func contents(rows [][]piece, words []word, cols int, dotted bool) bool {
	before, growing, n, titles := -1, 0, 0, 0
	for _, row := range rows {
		last := row[len(row)-1]
		if last.c0 != cols-1 || len(row) < 2 {
			continue
		}
		v := 0
		t := words[last.i].text
		for i := range len(t) {
			if t[i] < '0' || t[i] > '9' || v > 1e6 {
				if v = romanValue(t); v == 0 {
					return false
				}
				break
			}
			v = v*10 + int(t[i]-'0')
		}
		n++
		if v >= before {
			growing++
		}
		before = v
		if len(row) == 2 || dotted {
			titles++
		} else if _, ok := numberDepth(words[row[0].i].text + " A"); ok && len(row) == 3 {
			titles++
		}
	}
	return n >= 2 && growing*10 >= n*8 && titles*10 >= n*9
}

// equationNumbers says whether the last column is "(1)", "(2)" and so on.
func equationNumbers(rows [][]piece, c int, words []word) bool {
	n, of := 0, 0
	for _, row := range rows {
		p := row[len(row)-1]
		if p.c0 != c {
			continue
		}
		of++
		t := words[p.i].text
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
		c.Box.X0, c.Box.X1 = min(c.Box.X0, lines[k].x0), max(c.Box.X1, lines[k].x1)
	}
	// Distances of the rows that begin in the first column.
	wide := math.Inf(1)
	for k := 1; k < len(rows); k++ {
		if rows[k][0].c0 == 0 && len(rows[k])*2 > cols && rows[k-1][0].c0 == 0 {
			wide = min(wide, lines[k].base-lines[k-1].base)
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
						up[q].words = appendWords(up[q].words, p)
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
						up[q].words = up[q].words[:len(up[q].words)-p.count()]
					}
				}
			}
		}
		var out []cell
		for _, p := range row {
			out = append(out, cell{p.c0, p.c1, appendWords(nil, p)})
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

func appendWords(to []int32, p piece) []int32 {
	for k := p.i; k < p.j; k++ {
		to = append(to, int32(k))
	}
	for _, m := range p.more {
		for k := m[0]; k < m[1]; k++ {
			to = append(to, int32(k))
		}
	}
	return to
}

// headerRows counts the rows above the first rule within the table, or, where
// there is none, says whether the first row is bold and the second is not.
func (r *Reader) headerRows(words []word, lines []line, rows [][]piece, at []int, g *region) int {
	x0, x1 := r.extent(lines)
	for _, h := range r.rules {
		if min(h.b, x1)-max(h.a, x0) < 0.7*(x1-x0) {
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
	if len(at) > 1 && lines[0].allBold() {
		strong := 0
		for _, k := range at[1:] {
			if lines[k].allBold() {
				strong++
			}
		}
		if strong*10 < len(at) {
			return 1
		}
		return 0 // bold rows are sums or sections
	}
	// Names over numbers.
	if len(at) > 2 && len(rows[0]) > 1 {
		for _, p := range rows[0] {
			if first, _ := utf8.DecodeRuneInString(words[p.i].text); unicode.IsDigit(first) {
				return 0
			}
		}
		for _, k := range at[1:] {
			last := rows[k][len(rows[k])-1]
			if !isNumeric(words[last.i].text) {
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
			if len(c.asides) > 0 {
				cell.Spans = append(cell.Spans, r.turnedSpans(c.asides, len(cell.Spans) > 0)...)
			}
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
