package layout

import (
	"math"
	"slices"
	"strings"
	"unicode"
)

// grid is a table whose cells are known before the text is read: from drawn
// lines or from tags.
type grid struct {
	box  Rect
	rows [][]gridCell
	tab  int // of the tagged structure, plus one; 0: drawn
	// For finding the cell of a point in a drawn one.
	xs, ys []float64
	cell   []int32 // (row*cols+col) to index into flat
	flat   []gridCell
	words  int
}

type gridCell struct {
	row, col         int
	colspan, rowspan int
	header           bool
	words            []int32
	asides           []int32 // words that are not upright
}

func (c *gridCell) filled() bool { return len(c.words)+len(c.asides) > 0 }

// rule is a drawn line: at, along the other axis from a to b.
type rule struct{ at, a, b float64 }

// rulesOf sorts the rules of one direction and joins those that continue each
// other or lie on one another.
func rulesOf(rects []Rect, horizontal bool) []rule {
	out := make([]rule, 0, len(rects))
	for _, b := range rects {
		l := rule{(b.Y0 + b.Y1) / 2, b.X0, b.X1}
		if !horizontal {
			l = rule{(b.X0 + b.X1) / 2, b.Y0, b.Y1}
		}
		if l.b-l.a >= 4 {
			out = append(out, l)
		}
	}
	slices.SortFunc(out, func(p, q rule) int {
		switch {
		case p.at < q.at:
			return -1
		case p.at > q.at:
			return 1
		case p.a < q.a:
			return -1
		case p.a > q.a:
			return 1
		}
		return 0
	})
	// Lines within 2 points of each other are one line: the two edges of a
	// thick one, the borders of neighbouring cells.
	for i := 0; i < len(out); {
		j := i + 1
		for j < len(out) && out[j].at-out[j-1].at <= 2 && out[j].at-out[i].at <= 4 {
			j++
		}
		at := (out[i].at + out[j-1].at) / 2
		same := out[i:j]
		slices.SortFunc(same, func(p, q rule) int {
			switch {
			case p.a < q.a:
				return -1
			case p.a > q.a:
				return 1
			}
			return 0
		})
		for k := range same {
			same[k].at = at
		}
		i = j
	}
	n := 0
	for _, l := range out {
		if n > 0 && out[n-1].at == l.at && l.a <= out[n-1].b+2 {
			out[n-1].b = max(out[n-1].b, l.b)
			continue
		}
		out[n] = l
		n++
	}
	return out[:n]
}

// drawnGrids finds the grids among the rules of the page.
func drawnGrids(s *sheet) []grid {
	if len(s.hrules) < 2 || len(s.vrules) < 2 || len(s.words) == 0 {
		return nil
	}
	// Lines closer than a letter is wide have nothing between them.
	size := 0.0
	for i := range s.words {
		size += s.words[i].size
	}
	least := min(max(0.55*size/float64(len(s.words)), 3.5), 8)
	hs, vs := rulesOf(s.hrules, true), rulesOf(s.vrules, false)
	// Lines that touch belong together.
	parent := make([]int, len(hs)+len(vs))
	for i := range parent {
		parent[i] = i
	}
	find := func(i int) int {
		for parent[i] != i {
			parent[i] = parent[parent[i]]
			i = parent[i]
		}
		return i
	}
	const slack = 2.5
	for i, h := range hs {
		for j, v := range vs {
			if v.at >= h.a-slack && v.at <= h.b+slack && h.at >= v.a-slack && h.at <= v.b+slack {
				parent[find(len(hs)+j)] = find(i)
			}
		}
	}
	groups := map[int]int{}
	var comps [][2][]rule
	for i, h := range hs {
		root := find(i)
		if _, ok := groups[root]; !ok {
			groups[root] = len(comps)
			comps = append(comps, [2][]rule{})
		}
		c := &comps[groups[root]]
		c[0] = append(c[0], h)
	}
	for j, v := range vs {
		if g, ok := groups[find(len(hs)+j)]; ok {
			comps[g][1] = append(comps[g][1], v)
		}
	}
	var grids []grid
	for _, c := range comps {
		if len(c[0])+len(c[1]) < 5 {
			continue
		}
		if g, ok := gridOf(c[0], c[1], least); ok && len(grids) < 100 {
			grids = append(grids, g)
		}
	}
	return grids
}

// gridOf makes cells of lines that touch. Where a line is missing between two
// cells they are one.
func gridOf(hs, vs []rule, least float64) (grid, bool) {
	xs, ys := positions(vs, hs, least), positions(hs, vs, least)
	cols, rows := len(xs)-1, len(ys)-1
	if cols < 1 || rows < 1 || cols*rows < 2 || cols*rows > maxCells {
		return grid{}, false
	}
	g := grid{xs: xs, ys: ys, box: Rect{xs[0], ys[0], xs[cols], ys[rows]}}
	// right[r*cols+c]: a line stands between c and c+1 in row r.
	right, under := make([]bool, rows*cols), make([]bool, rows*cols)
	for _, v := range vs {
		c := nearest(xs, v.at) - 1
		if c < 0 || c >= cols-1 {
			continue
		}
		for r := range rows {
			if min(v.b, ys[r+1])-max(v.a, ys[r]) >= 0.5*(ys[r+1]-ys[r]) {
				right[r*cols+c] = true
			}
		}
	}
	for _, h := range hs {
		r := nearest(ys, h.at) - 1
		if r < 0 || r >= rows-1 {
			continue
		}
		for c := range cols {
			if min(h.b, xs[c+1])-max(h.a, xs[c]) >= 0.5*(xs[c+1]-xs[c]) {
				under[r*cols+c] = true
			}
		}
	}
	g.cell = make([]int32, rows*cols)
	for i := range g.cell {
		g.cell[i] = -1
	}
	for r := range rows {
		for c := range cols {
			if g.cell[r*cols+c] >= 0 {
				continue
			}
			w, h := 1, 1
			for c+w < cols && !right[r*cols+c+w-1] && g.cell[r*cols+c+w] < 0 {
				w++
			}
		down:
			for r+h < rows {
				for k := c; k < c+w; k++ {
					if under[(r+h-1)*cols+k] || g.cell[(r+h)*cols+k] >= 0 || k < c+w-1 && right[(r+h)*cols+k] {
						break down
					}
				}
				h++
			}
			id := int32(len(g.flat))
			g.flat = append(g.flat, gridCell{row: r, col: c, colspan: w, rowspan: h})
			for y := r; y < r+h; y++ {
				for x := c; x < c+w; x++ {
					g.cell[y*cols+x] = id
				}
			}
		}
	}
	return g, true
}

// positions lists where the lines of one direction stand, and adds the ends of
// the lines across where a table is open at its sides.
func positions(along, across []rule, least float64) []float64 {
	at := make([]float64, 0, len(along)+2)
	for _, l := range along {
		at = append(at, l.at)
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, l := range across {
		low, high = min(low, l.a), max(high, l.b)
	}
	slices.Sort(at)
	at = slices.Compact(at)
	if len(at) == 0 {
		return nil
	}
	if at[0]-low > 6 {
		at = slices.Insert(at, 0, low)
	}
	if high-at[len(at)-1] > 6 {
		at = append(at, high)
	}
	out := at[:1]
	for _, v := range at[1:] {
		if v-out[len(out)-1] > least {
			out = append(out, v)
		}
	}
	return out
}

func nearest(at []float64, v float64) int {
	i, _ := slices.BinarySearch(at, v)
	if i == len(at) || i > 0 && v-at[i-1] < at[i]-v {
		return i - 1
	}
	return i
}

// at gives the cell in which a point lies.
func (g *grid) at(x, y float64) (int32, bool) {
	if x < g.box.X0 || x > g.box.X1 || y < g.box.Y0 || y > g.box.Y1 {
		return 0, false
	}
	c, _ := slices.BinarySearch(g.xs, x)
	r, _ := slices.BinarySearch(g.ys, y)
	c, r = min(max(c-1, 0), len(g.xs)-2), min(max(r-1, 0), len(g.ys)-2)
	return g.cell[r*(len(g.xs)-1)+c], true
}

// tables finds the tables that tags or drawn lines prove. taken says for each
// word which grid holds it; nil if there are none.
func (r *Reader) tables(s *sheet) (grids []grid, taken []int32) {
	if s.tree != nil {
		grids = s.tree.grids(s.words)
	}
	drawn := drawnGrids(s)
	if len(grids)+len(drawn) == 0 {
		return nil, nil
	}
	if cap(r.taken) < len(s.words) {
		r.taken = make([]int32, len(s.words))
	}
	taken = r.taken[:len(s.words)]
	for i := range taken {
		taken[i] = -1
	}
	for k := range grids {
		g := &grids[k]
		g.box = Rect{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}
		for _, row := range g.rows {
			for _, c := range row {
				for _, i := range c.words {
					taken[i] = int32(k)
					w := &s.words[i]
					g.box = Rect{min(g.box.X0, w.x0), min(g.box.Y0, w.y0), max(g.box.X1, w.x1), max(g.box.Y1, w.y1)}
				}
			}
		}
	}
	// The smallest box wins: a table in a frame is not the frame.
	slices.SortStableFunc(drawn, func(a, b grid) int {
		switch p, q := area(a.box), area(b.box); {
		case p < q:
			return -1
		case p > q:
			return 1
		}
		return 0
	})
	for k := range drawn {
		g := &drawn[k]
		for i := range s.words {
			if taken[i] >= 0 || s.words[i].chars == 0 {
				continue
			}
			w := &s.words[i]
			if c, ok := g.at((w.x0+w.x1)/2, (w.y0+w.y1)/2); ok {
				g.flat[c].words = append(g.flat[c].words, int32(i))
				g.words++
			}
		}
		for i := range s.asides {
			w := &s.asides[i]
			if c, ok := g.at((w.x0+w.x1)/2, (w.y0+w.y1)/2); ok && w.chars > 0 {
				g.flat[c].asides = append(g.flat[c].asides, int32(i))
			}
		}
		if !g.settle(s.words) {
			continue
		}
		for _, c := range g.flat {
			for _, i := range c.words {
				taken[i] = int32(len(grids))
			}
			for _, i := range c.asides {
				s.asides[i].chars = 0 // read with the table
			}
		}
		grids = append(grids, *g)
	}
	if len(grids) == 0 {
		return nil, nil
	}
	return grids, taken
}

func area(b Rect) float64 { return (b.X1 - b.X0) * (b.Y1 - b.Y0) }

// settle says whether the cells hold what a table holds, and puts them in
// rows. Frames round prose, and pages laid out in boxes, are no tables.
func (g *grid) settle(words []word) bool {
	g.part(words)
	g.partRows(words)
	cols, rows := len(g.xs)-1, len(g.ys)-1
	rowHas, colHas := make([]bool, rows), make([]bool, cols)
	filled, long, signs := 0, 0, 0
	for i := range g.flat {
		c := &g.flat[i]
		if !c.filled() {
			continue
		}
		filled++
		if len(c.words) > 60 {
			long++
		}
		if len(c.words) > 250 {
			return false
		}
		rowHas[c.row], colHas[c.col] = true, true
		if !says(words, c) {
			signs++
		}
	}
	nr, nc := 0, 0
	for _, has := range rowHas {
		if has {
			nr++
		}
	}
	for _, has := range colHas {
		if has {
			nc++
		}
	}
	for i := range g.flat {
		if c := &g.flat[i]; len(c.words) > 8 && coarse(words, c.words) {
			return false
		}
	}
	if signs*2 > filled || filled*10 < 3*len(g.flat) {
		return false // a drawing: a plot, a staff of music
	}
	if g.words == 0 || nr < 2 || nc < 2 || filled < 4 || long*3 > filled || g.words > 60*filled {
		return false
	}
	// Rows and columns without anything, such as the hair between two lines
	// or a margin, go; spans that cross them shrink.
	keepRow, keepCol := make([]int, rows+1), make([]int, cols+1)
	for i := range rows {
		keepRow[i+1] = keepRow[i]
		if rowHas[i] || g.ys[i+1]-g.ys[i] > 30 {
			keepRow[i+1]++
		}
	}
	for i := range cols {
		keepCol[i+1] = keepCol[i]
		if colHas[i] || g.xs[i+1]-g.xs[i] > 30 {
			keepCol[i+1]++
		}
	}
	g.rows = make([][]gridCell, keepRow[rows])
	for _, c := range g.flat {
		r := keepRow[c.row]
		c.rowspan = keepRow[c.row+c.rowspan] - r
		c.colspan = keepCol[c.col+c.colspan] - keepCol[c.col]
		if c.rowspan < 1 || c.colspan < 1 {
			if c.filled() {
				return false // cannot be: a row with words is kept
			}
			continue
		}
		c.row, c.col = r, keepCol[c.col]
		g.rows[r] = append(g.rows[r], c)
	}
	for i := range g.rows {
		slices.SortStableFunc(g.rows[i], func(a, b gridCell) int { return a.col - b.col })
	}
	g.headers(words)
	return true
}

// says says whether a cell holds a word or a number rather than signs.
func says(words []word, c *gridCell) bool {
	if len(c.asides) > 0 {
		return true
	}
	for _, i := range c.words {
		if words[i].says() {
			return true
		}
	}
	return false
}

// says says whether a word is more than a sign.
func (w *word) says() bool {
	if w.look&(number|cjk) != 0 {
		return true
	}
	if w.chars == 1 {
		return w.text == "X" || w.text == "x" || w.text == "✓" || w.text == "•"
	}
	return strings.ContainsFunc(w.text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// part splits the cells that reach over several columns because their row is
// only shaded, not ruled: gaps at the lines of the other rows show it.
func (g *grid) part(words []word) {
	for i := range len(g.flat) {
		c := &g.flat[i]
		if c.colspan < 2 || len(c.words) < 2 {
			continue
		}
		in := make([][]int32, c.colspan)
		filled, last := 0, -1
		apart := true
		for k, wi := range c.words {
			w := &words[wi]
			col, _ := slices.BinarySearch(g.xs, w.x0+0.1*w.size)
			end, _ := slices.BinarySearch(g.xs, w.x1-0.1*w.size)
			col, end = col-1-c.col, end-1-c.col
			if col < 0 || col >= c.colspan || end != col {
				apart = false
				break
			}
			if k > 0 && col != last {
				p := &words[c.words[k-1]]
				if math.Abs(p.base-w.base) < 0.5*w.size && w.x0-p.x1 < 0.6*w.size {
					apart = false // the words of a title over several columns
					break
				}
			}
			last = col
			if in[col] == nil {
				filled++
			}
			in[col] = append(in[col], wi)
		}
		if !apart || filled < 2 {
			continue
		}
		row, rowspan, col, span := c.row, c.rowspan, c.col, c.colspan
		c.colspan, c.words = 1, in[0]
		for n := 1; n < span; n++ {
			g.flat = append(g.flat, gridCell{row: row, col: col + n, colspan: 1, rowspan: rowspan, words: in[n]})
		}
	}
}

// partRows splits rows that no line parts: cells with as many lines as each
// other, of numbers or with dots that lead to numbers.
func (g *grid) partRows(words []word) {
	// Cells over several rows that the other columns part.
	for i := range len(g.flat) {
		c := &g.flat[i]
		if c.rowspan < 2 || len(c.words) < c.rowspan {
			continue
		}
		lines := textLines(words, c.words)
		if len(lines) < c.rowspan || !listing(words, lines) {
			continue
		}
		in := make([][]int32, c.rowspan)
		filled := 0
		for _, l := range lines {
			w := &words[l[0]]
			row, _ := slices.BinarySearch(g.ys, w.base-0.3*w.size)
			if row -= 1 + c.row; row < 0 || row >= c.rowspan {
				filled = -1
				break
			}
			if in[row] == nil {
				filled++
			}
			in[row] = append(in[row], l...)
		}
		if filled < c.rowspan {
			continue
		}
		row, col, colspan, span := c.row, c.col, c.colspan, c.rowspan
		c.rowspan, c.words = 1, in[0]
		for n := 1; n < span; n++ {
			g.flat = append(g.flat, gridCell{row: row + n, col: col, colspan: colspan, rowspan: 1, words: in[n]})
		}
	}
	g.partLines(words)
}

// partLines splits rows that hold several lines of numbers. Their baselines
// are the new rows; the lines of the other cells have to stand on them.
func (g *grid) partLines(words []word) {
	rows := len(g.ys) - 1
	type held struct {
		cell  int
		lines [][]int32
		lists bool
	}
	in := make([][]held, rows)
	for i := range g.flat {
		c := &g.flat[i]
		if c.rowspan != 1 || len(c.words) == 0 {
			continue
		}
		lines := textLines(words, c.words)
		in[c.row] = append(in[c.row], held{i, lines, len(lines) > 1 && listing(words, lines)})
	}
	start := make([]int, rows+1)
	bases := make([][]float64, rows)
	ys := g.ys[:1:1]
	for r := range rows {
		var at []float64
		lists := 0
		for _, h := range in[r] {
			if h.lists {
				lists++
				for _, l := range h.lines {
					at = append(at, words[l[0]].base)
				}
			}
		}
		slices.Sort(at)
		n := 0
		for _, y := range at {
			if n == 0 || y-at[n-1] > 4 {
				at[n] = y
				n++
			}
		}
		at = at[:n]
		fits := lists >= 2 && n > 1 && len(g.flat)*n < maxCells
		for _, h := range in[r] {
			if h.lists || len(h.lines) == 1 || !fits {
				continue
			}
			off := 0
			for _, l := range h.lines {
				if !onOne(at, words[l[0]].base) {
					off++
				}
			}
			fits = off*5 <= len(h.lines)
		}
		parts := 1
		if fits {
			parts, bases[r] = n, at
		}
		start[r+1] = start[r] + parts
		for k := 1; k <= parts; k++ {
			ys = append(ys, g.ys[r]+(g.ys[r+1]-g.ys[r])*float64(k)/float64(parts))
		}
	}
	if start[rows] == rows || start[rows] > 2000 {
		return
	}
	for i := range len(g.flat) {
		c := &g.flat[i]
		c.row, c.rowspan = start[c.row], start[c.row+c.rowspan]-start[c.row]
	}
	for r := range rows {
		at := bases[r]
		if at == nil {
			continue
		}
		for _, h := range in[r] {
			c := &g.flat[h.cell]
			if len(h.lines) == 1 && !onOne(at, words[h.lines[0][0]].base) {
				continue // one line for all of them
			}
			parts := make([][]int32, len(at))
			for _, l := range h.lines {
				k, _ := slices.BinarySearch(at, words[l[0]].base+4)
				k = max(k-1, 0)
				parts[k] = append(parts[k], l...)
			}
			row, col, colspan := c.row, c.col, c.colspan
			c.rowspan, c.words = 1, parts[0]
			for k := 1; k < len(at); k++ {
				g.flat = append(g.flat, gridCell{row: row + k, col: col, colspan: colspan, rowspan: 1, words: parts[k]})
			}
		}
	}
	g.ys = ys
}

// onOne says whether y is one of the sorted baselines.
func onOne(at []float64, y float64) bool {
	k, _ := slices.BinarySearch(at, y-4)
	return k < len(at) && at[k] <= y+4
}

// textLines parts the words of a cell by their lines.
func textLines(words []word, in []int32) [][]int32 {
	var lines [][]int32
	for _, i := range in {
		if n := len(lines); n > 0 {
			if p := &words[lines[n-1][0]]; math.Abs(p.base-words[i].base) < 0.5*p.size {
				lines[n-1] = append(lines[n-1], i)
				continue
			}
		}
		lines = append(lines, []int32{i})
	}
	return lines
}

// listing says whether most lines are a number or lead to one.
func listing(words []word, lines [][]int32) bool {
	n := 0
	for _, l := range lines {
		first, last := &words[l[0]], &words[l[len(l)-1]]
		if last.look&leader != 0 || len(l) <= 2 && (isNumeric(first.text) || first.text == "NA" || first.text == "N/A") {
			n++
		}
	}
	return n*10 >= len(lines)*6
}

// coarse says whether a cell holds rows of its own: lines with gaps in them.
// Then the rules part sections of the table rather than its cells.
func coarse(words []word, in []int32) bool {
	gaps, lines := 0, 0
	for k := 1; k < len(in); k++ {
		a, b := &words[in[k-1]], &words[in[k]]
		if math.Abs(a.base-b.base) > 0.5*b.size {
			lines++
			continue
		}
		if gap := b.x0 - a.x1; gap > 1.5*b.size && b.look&rtl == 0 {
			gaps++
		}
	}
	return lines >= 2 && gaps > 2*lines/3+1
}

// headers marks the cells of the first row as headers when they are bold and
// the rest of the table is not.
func (g *grid) headers(words []word) {
	if len(g.rows) < 2 {
		return
	}
	boldShare := func(row []gridCell) (share float64) {
		n, b := 0, 0
		for _, c := range row {
			for _, i := range c.words {
				n++
				if words[i].look&bold != 0 {
					b++
				}
			}
		}
		if n == 0 {
			return 0
		}
		return float64(b) / float64(n)
	}
	if boldShare(g.rows[0]) > 0.9 && boldShare(g.rows[1]) < 0.5 {
		for i := range g.rows[0] {
			g.rows[0][i].header = true
		}
	}
}

// grids gives the tables of the tagged structure that hold words. A table of
// one row or column, or of very long cells, places things on the page; its
// words are read as text.
func (t *tree) grids(words []word) []grid {
	if len(t.tables) == 0 {
		return nil
	}
	at := make([]grid, len(t.tables))
	for k, tab := range t.tables {
		if tab.layout {
			continue
		}
		g := &at[k]
		g.tab = k + 1
		g.rows = make([][]gridCell, len(tab.rows))
		for i, row := range tab.rows {
			g.rows[i] = make([]gridCell, len(row))
			for j, c := range row {
				g.rows[i][j] = gridCell{row: i, col: j, colspan: c.colspan, rowspan: c.rowspan, header: c.header}
			}
		}
	}
	for i := range words {
		if o := words[i].owner; o >= 0 && t.owners[o].role == roleCell {
			own := t.owners[o]
			c := &at[own.table].rows[own.row][own.col]
			c.words = append(c.words, int32(i))
			at[own.table].words++
		}
	}
	var out []grid
	drop := make([]bool, len(at))
	for k := range at {
		g := &at[k]
		if g.tab == 0 {
			continue
		}
		filled, rows, wide, long, cells := 0, 0, 0, 0, 0
		for _, row := range g.rows {
			in := 0
			cells += len(row)
			for _, c := range row {
				if len(c.words) > 0 {
					in++
				}
				if len(c.words) > 150 {
					long++
				}
			}
			filled += in
			if in > 0 {
				rows++
			}
			wide = max(wide, in)
		}
		if rows < 2 || wide < 2 || long*4 > filled || cells > maxCells {
			drop[k] = true
			continue
		}
		g.rows = slices.DeleteFunc(g.rows, func(row []gridCell) bool { return len(row) == 0 })
		out = append(out, *g)
	}
	for i := range t.owners {
		if o := &t.owners[i]; o.role == roleCell && drop[o.table] {
			o.role = roleText
		}
	}
	return out
}
