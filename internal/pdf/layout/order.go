package layout

import (
	"math"
	"slices"
	"unicode"
	"unicode/utf8"
)

// order puts the lines into reading order. The stream's order stays but for
// three proofs that it is not meant for reading: it runs upwards again and
// again, it goes from column to column at every line, or the first or last of
// it belongs to the other end of the page.
func (r *Reader) order(words []word) {
	if r.backwards() {
		r.byPlace(words)
	}
	r.columns(words)
	r.edges()
}

// backwards says whether the stream jumps up, over what it has written below,
// more often than columns, footnotes and pictures explain.
func (r *Reader) backwards() bool {
	up, down := 0, 0
	for i := 1; i < len(r.lines); i++ {
		a, b := &r.lines[i-1], &r.lines[i]
		size := max(a.size, b.size)
		d := b.base - a.base
		if math.Abs(d) < 0.6*size {
			continue
		}
		over := min(a.x1, b.x1) - max(a.x0, b.x0)
		if over < 0.5*min(a.x1-a.x0, b.x1-b.x0) {
			// Beside each other: a column that begins above, unless it is
			// just the line above.
			if d > 0 || d < -3*size || d > -0.95*size || differ(a.size, b.size, false) {
				continue
			}
		}
		if d < 0 {
			up++
		} else {
			down++
		}
	}
	return up >= 3 && up*3 > down
}

// byPlace orders the segs by where they stand, columns first.
func (r *Reader) byPlace(words []word) {
	r.segs2 = append(r.segs2[:0], r.segs...)
	slices.SortStableFunc(r.segs2, bySegPlace)
	r.segs = r.segs[:0]
	r.lines = r.lines[:0]
	r.cut(r.segs2, words, 0)
}

func bySegPlace(a, b seg) int {
	switch {
	case a.base < b.base:
		return -1
	case a.base > b.base:
		return 1
	case a.x0 < b.x0:
		return -1
	case a.x0 > b.x0:
		return 1
	}
	return 0
}

// cut parts segs, sorted from top to bottom, at a gutter or at what stands
// across it, and appends them to r.segs and r.lines.
func (r *Reader) cut(segs []seg, words []word, depth int) {
	if len(segs) == 0 {
		return
	}
	if depth < 8 && len(segs) >= 6 {
		if x, ok := gutter(segs, words); ok {
			left, right := make([]seg, 0, len(segs)), make([]seg, 0, len(segs))
			for _, s := range segs {
				if s.x0+s.x1 < 2*x {
					left = append(left, s)
				} else {
					right = append(right, s)
				}
			}
			r.cut(left, words, depth+1)
			r.cut(right, words, depth+1)
			return
		}
		x0, x1 := math.Inf(1), math.Inf(-1)
		for i := range segs {
			x0, x1 = min(x0, segs[i].x0), max(x1, segs[i].x1)
		}
		// What reaches over more than half of the width parts what is above
		// from what is below.
		from, parted := 0, false
		for i := range segs {
			if segs[i].x1-segs[i].x0 > 0.6*(x1-x0) {
				parted = parted || i > 0
				if i > from {
					r.cut(segs[from:i], words, depth+1)
				}
				r.rows(segs[i : i+1])
				from = i + 1
			}
		}
		if parted || from > 0 {
			r.cut(segs[from:], words, depth+1)
			return
		}
	}
	r.rows(segs)
}

// rows appends segs that are sorted from top to bottom as lines.
func (r *Reader) rows(segs []seg) {
	for i := 0; i < len(segs); {
		j := i + 1
		for j < len(segs) && segs[j].grid == 0 && segs[i].grid == 0 && math.Abs(segs[j].base-segs[i].base) <= 0.3*max(segs[i].size, segs[j].size) {
			j++
		}
		row := segs[i:j]
		if len(row) > 1 {
			slices.SortStableFunc(row, func(a, b seg) int {
				switch {
				case a.x0 < b.x0:
					return -1
				case a.x0 > b.x0:
					return 1
				}
				return 0
			})
		}
		at := len(r.segs)
		r.segs = append(r.segs, row...)
		for k := at; k < len(r.segs); {
			e := k + 1
			for e < len(r.segs) && r.segs[e].grid == 0 && r.segs[k].grid == 0 && onward(&r.segs[e-1], &r.segs[e]) {
				e++
			}
			r.lines = append(r.lines, makeLine(r.segs, k, e))
			k = e
		}
		i = j
	}
}

// gutter finds the widest gap from top to bottom that has prose on both sides.
func gutter(segs []seg, words []word) (float64, bool) {
	type edge struct {
		x0, x1 float64
		i      int
	}
	edges := make([]edge, len(segs))
	size := 0.0
	for i := range segs {
		edges[i] = edge{segs[i].x0, segs[i].x1, i}
		size += segs[i].size
	}
	size /= float64(len(segs))
	slices.SortFunc(edges, func(a, b edge) int {
		switch {
		case a.x0 < b.x0:
			return -1
		case a.x0 > b.x0:
			return 1
		}
		return 0
	})
	best, at := 0.9*size, 0.0
	reach, wordsLeft := math.Inf(-1), 0
	total := 0
	for i := range segs {
		total += wordsOf(&segs[i], words)
	}
	for i, e := range edges {
		if gap := e.x0 - reach; i >= 3 && len(edges)-i >= 3 && gap > best && wordsLeft >= 3*i && total-wordsLeft >= 3*(len(edges)-i) {
			best, at = gap, reach+gap/2
		}
		reach = max(reach, e.x1)
		wordsLeft += wordsOf(&segs[e.i], words)
	}
	return at, at != 0
}

func wordsOf(s *seg, words []word) int { return wordCount(words[s.i:s.j]) }

// wordCount counts words by the spaces between them.
func wordCount(words []word) int {
	n := 0
	for i := range words {
		if i == 0 || words[i].space || words[i].brk {
			n++
		}
	}
	return n
}

// span is a stretch of the x axis.
type span struct{ x0, x1 float64 }

// region is a set of lines that share gaps from the first to the last.
type region struct {
	a, b int
	gaps []span
	size float64
}

const maxGrow = 400 // lines in a region; no page of prose or numbers has more

// grow follows the gaps of line a downwards for as long as they stay open.
func (r *Reader) grow(lines []line, a int, words []word) region {
	l := &lines[a]
	g := region{a: a, b: a + 1, size: l.size}
	gaps := r.gaps[:0]
	for k := l.i + 1; k < l.j && len(gaps) < 64; k++ {
		gaps = append(gaps, span{r.segs[k-1].reach, r.segs[k].x0})
	}
	across := 0
	for b := a + 1; b < len(lines) && b-a < maxGrow; b++ {
		n := &lines[b]
		p := &lines[b-1]
		size := max(n.size, p.size)
		if d := n.base - p.base; n.grid != 0 || d <= 0.3*size || d > 3.4*size || math.Abs(n.size-l.size) > 0.1*l.size && !r.sheet.ocr {
			break
		}
		left := r.narrow(gaps, n, 0.5*min(n.size, p.size))
		if len(left) < len(gaps) && b-a >= 2 && len(gaps) >= 3 && len(left)*4 >= len(gaps)*3 {
			left = r.squeeze(gaps, left, n, words)
		}
		if len(left) == 0 || len(left) < len(gaps) && b-a >= 2 {
			if across++; b-a < 2 || across*5 > b-a+5 || !r.resumes(lines, b, gaps, len(left)) {
				break
			}
			continue // a row over several columns, or one that is too full
		}
		gaps, r.gaps3 = left, gaps
		g.b = b + 1
	}
	r.gaps = gaps
	g.gaps = gaps
	return g
}

// resumes says whether the gaps that line b closes, save left of them, go on
// under it as if nothing had been.
func (r *Reader) resumes(lines []line, b int, gaps []span, left int) bool {
	l := &lines[b]
	if b+1 >= len(lines) || len(gaps) < 2 || left*4 < len(gaps)*3 && (l.j-l.i > 1 || l.chars > 100) {
		return false
	}
	n := &lines[b+1]
	if d := n.base - l.base; n.grid != 0 || n.j-n.i < 2 || d <= 0.3*l.size || d > 3.4*l.size || math.Abs(n.size-l.size) > 0.1*l.size {
		return false
	}
	at := len(r.gaps3)
	open := len(r.narrow(gaps, n, 0.5*n.size))
	r.gaps3 = r.gaps3[:at]
	return open >= len(gaps)
}

// narrow takes what line n covers from the gaps.
func (r *Reader) narrow(gaps []span, n *line, least float64) []span {
	out := r.gaps3[:0]
	k := n.i
	for _, gap := range gaps {
		x := gap.x0
		for k > n.i && r.segs[k-1].reach > x {
			k--
		}
		for ; k < n.j && len(out) < 64; k++ {
			s := &r.segs[k]
			if s.reach <= x {
				continue
			}
			if s.x0 >= gap.x1 {
				break
			}
			if s.x0-x >= least {
				out = append(out, span{x, s.x0})
			}
			x = max(x, s.reach)
		}
		if gap.x1-x >= least && len(out) < 64 {
			out = append(out, span{x, gap.x1})
		}
	}
	// A gap with nothing to its left or right in any line parts nothing, but
	// the gaps began between two segs, so there is something.
	return out
}

// squeeze puts back the gaps that line n closed, where two of its words stand
// on either side: full cells come close to each other.
func (r *Reader) squeeze(gaps, left []span, n *line, words []word) []span {
	out := r.gaps2[:0]
	for _, gap := range gaps {
		kept := false
		for _, l := range left {
			if l.x0 >= gap.x0 && l.x1 <= gap.x1 {
				out = append(out, l)
				kept = true
			}
		}
		if kept {
			continue
		}
		for k := n.i; k < n.j; k++ {
			s := &r.segs[k]
			if s.x0 >= gap.x1 || s.x1 <= gap.x0 {
				continue
			}
			for i := s.i + 1; i < s.j; i++ {
				x0, x1 := max(words[i-1].x1, gap.x0), min(words[i].x0, gap.x1)
				if x1-x0 >= 0.12*n.size {
					out = append(out, span{x0, x1})
					kept = true
					break
				}
			}
			if kept {
				break
			}
		}
		if !kept {
			return left
		}
	}
	r.gaps2 = out
	return append(r.gaps3[:0], out...)
}

// column says in which column of the region x lies.
func (g *region) column(x float64) int {
	lo, hi := 0, len(g.gaps)
	for lo < hi {
		m := (lo + hi) / 2
		if x >= (g.gaps[m].x0+g.gaps[m].x1)/2 {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo
}

// columns finds where the stream goes down the page across columns of prose,
// and reads the columns one after the other.
func (r *Reader) columns(words []word) {
	lines := r.lines
	out := r.lines2[:0]
	for i := 0; i < len(lines); {
		g, ok := r.descend(lines, i)
		if !ok {
			out = append(out, lines[i])
			i++
			continue
		}
		if !g.wide() || !r.prose(lines, &g, words) {
			skip := max(1, (g.b-g.a)/4)
			out = append(out, lines[i:i+skip]...)
			i += skip
			continue
		}
		cols := len(g.gaps) + 1
		for c := range cols {
			for k := g.a; k < g.b; k++ {
				l := &lines[k]
				from := l.i
				for from < l.j && g.column(r.segs[from].x0) < c {
					from++
				}
				to := from
				for to < l.j && g.column(r.segs[to].x0) == c {
					to++
				}
				if to > from {
					out = append(out, makeLine(r.segs, from, to))
				}
			}
		}
		i = g.b
	}
	r.lines, r.lines2 = out, lines
}

// descend follows a gap downwards from line a on, over lines on either side of
// it and lines across it, for as long as the stream goes down. Columns that
// the stream reads to their end go up again after a side is done, so they do
// not get far.
func (r *Reader) descend(lines []line, a int) (region, bool) {
	l := &lines[a]
	g := region{a: a, b: a + 1, size: l.size}
	if l.grid != 0 || l.leader {
		return g, false
	}
	gaps := r.gaps[:0]
	for k := l.i + 1; k < l.j && len(gaps) < 8; k++ {
		gaps = append(gaps, span{r.segs[k-1].x1, r.segs[k].x0})
	}
	if len(gaps) == 0 {
		// Two lines side by side, at heights that are not quite the same.
		if a+1 >= len(lines) {
			return g, false
		}
		n := &lines[a+1]
		if n.grid != 0 || math.Abs(n.base-l.base) > 1.5*l.size {
			return g, false
		}
		switch {
		case n.x0-l.x1 >= 0.8*l.size:
			gaps = append(gaps, span{l.x1, n.x0})
		case l.x0-n.x1 >= 0.8*l.size:
			gaps = append(gaps, span{n.x1, l.x0})
		default:
			return g, false
		}
	}
	last := l.base
	for b := a + 1; b < len(lines) && b-a < maxGrow; b++ {
		n := &lines[b]
		if n.grid != 0 || n.leader || n.base < last-0.8*n.size || n.base > last+4*max(n.size, g.size) {
			break
		}
		left := r.narrow(gaps, n, 0.5*n.size)
		if len(left) == 0 || len(left) < len(gaps) && b-a >= 2 {
			break
		}
		gaps, r.gaps3 = left, gaps
		last = max(last, n.base)
		g.b = b + 1
	}
	r.gaps = gaps
	g.gaps = gaps
	return g, g.b-g.a >= 3
}

// wide says whether the gaps are wide enough for the gutter of columns. Few
// lines prove less, and gaps between words can stand under each other.
func (g *region) wide() bool {
	least := 0.8
	if g.b-g.a < 6 {
		least = 1.2
	}
	for _, gap := range g.gaps {
		if gap.x1-gap.x0 < least*g.size {
			return false
		}
	}
	return true
}

// columnStat is what prose and tables are told apart by.
type columnStat struct {
	rows, words, alpha, chars, lower int
	width, widest                    float64
}

// prose says whether every column of the region is running text: several words
// a line, mostly words rather than numbers, lines that fill the column, and no
// rules between the lines.
func (r *Reader) prose(lines []line, g *region, words []word) bool {
	cols := len(g.gaps) + 1
	if cols > 6 {
		return false
	}
	var stat [6]columnStat
	pieces, switches, side := 0, 0, -1
	for k := g.a; k < g.b; k++ {
		l := &lines[k]
		for s := l.i; s < l.j; {
			c := g.column(r.segs[s].x0)
			e := s + 1
			for e < l.j && g.column(r.segs[e].x0) == c {
				e++
			}
			st := &stat[c]
			st.rows++
			pieces++
			if c != side {
				switches++
				side = c
			}
			w := r.segs[e-1].x1 - r.segs[s].x0
			st.width += w
			st.widest = max(st.widest, w)
			first, _ := utf8.DecodeRuneInString(words[r.segs[s].i].text)
			if unicode.IsLower(first) {
				st.lower++
			}
			for ; s < e; s++ {
				sg := &r.segs[s]
				st.chars += int(sg.chars)
				for i := sg.i; i < sg.j; i++ {
					if i == sg.i || words[i].space || words[i].brk {
						st.words++
						if c, _ := utf8.DecodeRuneInString(words[i].text); unicode.IsLetter(c) || c == '(' || c == '“' || c == '"' {
							st.alpha++
						}
					}
				}
			}
		}
	}
	// From side to side again and again.
	if switches < 5 || switches*3 < pieces {
		return false
	}
	allUpper := true
	for _, st := range stat[:cols] {
		if st.rows < 2 || st.words < 3*st.rows || st.chars < 12*st.rows || st.alpha*5 < 3*st.words ||
			st.width < 0.6*st.widest*float64(st.rows) {
			return false
		}
		if st.rows < 6 || st.lower*7 >= st.rows {
			allUpper = false
		}
	}
	if allUpper {
		return false // every line begins anew: cells
	}
	// Rules that cross a gutter part rows.
	top, bottom := lines[g.a].base, lines[g.b-1].base
	rules := 0
	for _, h := range r.sheet.hrules {
		y := (h.Y0 + h.Y1) / 2
		if y > top && y < bottom && h.X0 <= g.gaps[0].x0 && h.X1 >= g.gaps[0].x1 {
			rules++
		}
	}
	return rules < 2
}

// edges moves what was written first but stands below everything to the end
// (a footer), and what was written last but stands above everything to the
// front (a header, a title in a frame of its own).
func (r *Reader) edges() {
	const most = 8
	n := len(r.lines)
	if n < 2 {
		return
	}
	limit := min(most, n-1)
	bottom := math.Inf(-1) // of lines[k:]
	for k := limit; k < n; k++ {
		bottom = max(bottom, mid(&r.lines[k]))
	}
	for k := limit; k >= 1; k-- {
		if r.below(r.lines[:k], bottom, &r.lines[n-1]) {
			head := slices.Clone(r.lines[:k])
			copy(r.lines, r.lines[k:])
			copy(r.lines[n-k:], head)
			return
		}
		bottom = max(bottom, mid(&r.lines[k-1]))
	}
	r.late()
	top := math.Inf(1) // of lines[:n-k]
	for k := range n - limit {
		top = min(top, mid(&r.lines[k]))
	}
	for k := limit; k >= 1; k-- {
		if r.above(r.lines[n-k:], top, &r.lines[0]) {
			tail := slices.Clone(r.lines[n-k:])
			copy(r.lines[k:], r.lines[:n-k])
			copy(r.lines, tail)
			return
		}
		top = min(top, mid(&r.lines[n-k]))
	}
}

// late moves what stands above everything that the first half of the stream
// has written, and comes in the second half, to the front: the title of a page
// in a frame of its own, or of a table that was drawn first.
func (r *Reader) late() {
	const most = 30
	n := len(r.lines)
	top := math.Inf(1)
	for i := range (n + 1) / 2 {
		top = min(top, r.lines[i].y0)
	}
	count := 0
	x0, x1 := math.Inf(1), math.Inf(-1)
	for i := (n + 1) / 2; i < n; i++ {
		if l := &r.lines[i]; l.y1 <= top+0.3*l.size {
			count++
			x0, x1 = min(x0, l.x0), max(x1, l.x1)
		}
	}
	// The next column begins above the first where a figure tops that one.
	if first := &r.lines[0]; count == 0 || count > most || min(x1, first.x1) <= max(x0, first.x0) {
		return
	}
	moved := make([]line, 0, n)
	for i := (n + 1) / 2; i < n; i++ {
		if l := &r.lines[i]; l.y1 <= top+0.3*l.size {
			moved = append(moved, *l)
		}
	}
	for i := range n {
		if l := &r.lines[i]; i < (n+1)/2 || l.y1 > top+0.3*l.size {
			moved = append(moved, *l)
		}
	}
	copy(r.lines, moved)
}

// below says whether all these lines stand below bottom, and over the same
// part of the page as the last of the others or in the foot of the page. (The
// short last column of a page may stand below a figure, and is no footer.)
func (r *Reader) below(lines []line, bottom float64, last *line) bool {
	for i := range lines {
		l := &lines[i]
		if mid(l) <= bottom || mid(l) < 0.88*r.sheet.height && !overlap(l, last) {
			return false
		}
	}
	return true
}

func (r *Reader) above(lines []line, top float64, first *line) bool {
	for i := range lines {
		l := &lines[i]
		if mid(l) >= top || mid(l) > 0.12*r.sheet.height && !overlap(l, first) {
			return false
		}
	}
	return true
}

func overlap(a, b *line) bool { return min(a.x1, b.x1) > max(a.x0, b.x0) }

func mid(l *line) float64 { return (l.y0 + l.y1) / 2 }

// dropCaps puts a large first letter in front of the word that it begins.
func (r *Reader) dropCaps(words []word) {
	n := 0
	for i := range r.lines {
		l := &r.lines[i]
		if i+1 < len(r.lines) && l.chars == 1 && l.j == l.i+1 && l.grid == 0 {
			next := &r.lines[i+1]
			c := &words[r.segs[l.i].i]
			first, _ := utf8.DecodeRuneInString(c.text)
			if next.grid == 0 && unicode.IsUpper(first) && l.size > 1.8*next.size && next.x0 > l.x0 && next.x0-l.x1 < next.size &&
				next.base < l.base+0.2*next.size && next.base > l.base-l.size && next.chars > 10 {
				w := &words[r.segs[next.i].i]
				if (c.text == "A" || c.text == "I") && w.space && !w.brk {
					w.text = " " + w.text
				}
				w.text = c.text + w.text
				w.chars++
				continue
			}
		}
		r.lines[n] = *l
		n++
	}
	r.lines = r.lines[:n]
}
