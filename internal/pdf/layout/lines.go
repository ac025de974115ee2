package layout

import (
	"math"
	"unicode"
	"unicode/utf8"
)

// seg is a run of words next to each other on one line, without a gap that
// could be the gutter of columns or the space between two cells.
type seg struct {
	i, j           int // words[i:j]
	x0, y0, x1, y1 float64
	base, size     float64 // of most of its letters
	reach          float64 // where it ends, without the dots that lead on
	vote           int32
	chars          int32
	bold           int32 // letters that are bold, and so on
	italic         int32
	mono           int32
	rtl            int32
	dots           int32 // words that are nothing but dots
	owner          int32
	label          bool  // begins with a tagged label
	grid           int32 // not words but a table: its index plus one
}

// line is what stands at one height: segs[i:j], from left to right.
type line struct {
	i, j           int
	x0, y0, x1, y1 float64
	base, size     float64
	chars          int32
	bold           int32
	italic         int32
	mono           int32
	rtl            int32
	owner          int32
	grid           int32
	leader         bool // dots lead to a page number
	entry          bool // ends with a number far off, as in a table of contents
	keep           bool // looks tabular: its line break is meant
}

func (l *line) allBold() bool { return l.chars > 0 && l.bold*10 >= l.chars*9 }
func (l *line) allMono() bool { return l.chars > 0 && l.mono*10 >= l.chars*9 }
func (l *line) toLeft() bool  { return l.rtl*2 > l.chars }

// start and end are where the line begins and ends in reading direction, on an
// axis that grows in that direction.
func (l *line) start() float64 {
	if l.toLeft() {
		return -l.x1
	}
	return l.x0
}

func (l *line) end() float64 {
	if l.toLeft() {
		return -l.x0
	}
	return l.x1
}

// sameLine says whether a word at this baseline stands on the line of s: as
// ordinary text, or raised or lowered as an index.
func (s *seg) sameLine(w *word) bool {
	size := max(s.size, w.size)
	low := min(s.size, w.size)
	d := math.Abs(w.base - s.base)
	if low > 0.85*size {
		return d <= 0.3*size
	}
	return d <= 0.62*size
}

func (s *seg) open(w *word, i int) {
	*s = seg{i: i, j: i, reach: w.x0, x0: w.x0, y0: w.y0, x1: w.x1, y1: w.y1, base: w.base, size: w.size, owner: w.owner, label: w.look&label != 0}
}

func (s *seg) add(w *word) {
	s.j++
	s.x0, s.x1 = min(s.x0, w.x0), max(s.x1, w.x1)
	s.y0, s.y1 = min(s.y0, w.y0), max(s.y1, w.y1)
	s.chars += w.chars
	if w.look&bold != 0 {
		s.bold += w.chars
	}
	if w.look&italic != 0 {
		s.italic += w.chars
	}
	if w.look&mono != 0 {
		s.mono += w.chars
	}
	if w.look&rtl != 0 {
		s.rtl += w.chars
	}
	if w.look&leader == 0 || len(w.text) == 1 && s.dots == 0 {
		s.reach = s.x1
	}
	if w.look&leader != 0 {
		s.dots++
		if len(w.text) >= 3 {
			s.dots += 4 // "…" was four dots or more
		}
	}
	// The size and baseline of the majority, in one pass.
	switch {
	case math.Abs(w.size-s.size) <= 0.03*s.size:
		s.vote += w.chars
	case s.vote >= w.chars:
		s.vote -= w.chars
	default:
		s.vote = w.chars - s.vote
		s.size, s.base = w.size, w.base
	}
}

// segment cuts the words, in the order of the stream, into segs and those into
// lines. Words that a table took (taken) are left out; the table stands where
// its first word stood.
func (r *Reader) segment(words []word, taken []int32, grids []grid) {
	r.segs, r.lines = r.segs[:0], r.lines[:0]
	placed := r.placed[:0]
	for range grids {
		placed = append(placed, false)
	}
	r.placed = placed
	cur := -1 // the open seg
	for i := range words {
		w := &words[i]
		if len(taken) > 0 && taken[i] >= 0 {
			if g := taken[i]; !placed[g] {
				placed[g] = true
				b := grids[g].box
				r.segs = append(r.segs, seg{i: i, j: i, reach: b.X1, x0: b.X0, y0: b.Y0, x1: b.X1, y1: b.Y1, base: b.Y1, size: 10, owner: -1, grid: g + 1})
				cur = -1
			}
			continue
		}
		if cur > 0 && isAccent(w.text) {
			r.closeDots() // it may stand over a word before the dots
			cur = len(r.segs) - 1
		}
		if cur >= 0 {
			s := &r.segs[cur]
			p := &words[s.j-1]
			if s.j == i && s.sameLine(w) && s.owner == w.owner || s.j == i && s.sameLine(w) && (s.owner < 0 || w.owner < 0) {
				switch r.beside(s, p, w, words) {
				case next:
					s.add(w)
					if s.owner < 0 {
						s.owner = w.owner
					}
					continue
				case accent:
					s.add(w)
					slip(words, s, i)
					continue
				case again:
					// Painted twice to look bold.
					p.hyphen = p.hyphen || w.hyphen
					w.chars, w.text = 0, ""
					s.j++
					continue
				}
			}
		}
		r.closeDots()
		r.segs = append(r.segs, seg{})
		cur = len(r.segs) - 1
		r.segs[cur].open(w, i)
		r.segs[cur].add(w)
	}
	r.closeDots()
	r.link(r.segs)
}

// closeDots joins the last seg to the one before if it is nothing but dots that
// lead on from it.
func (r *Reader) closeDots() {
	n := len(r.segs)
	if n < 2 {
		return
	}
	a, b := &r.segs[n-2], &r.segs[n-1]
	if b.dots < 4 || a.grid != 0 || a.j != b.i || int(b.dots) < b.j-b.i || !onward(a, b) || b.x0-a.x1 > 4*a.size {
		return
	}
	a.j = b.j
	a.x1, a.y0, a.y1 = max(a.x1, b.x1), min(a.y0, b.y0), max(a.y1, b.y1)
	a.chars += b.chars
	a.dots += b.dots
	a.bold, a.italic, a.mono = a.bold+b.bold, a.italic+b.italic, a.mono+b.mono
	r.segs = r.segs[:n-1]
}

type place uint8

const (
	apart place = iota
	next
	again
	accent // over a letter of the seg, wherever that stands in it
)

func isAccent(s string) bool {
	if len(s) < 2 || len(s) > 3 {
		return false
	}
	r, n := utf8.DecodeRuneInString(s)
	return r >= 0x300 && n == len(s) && unicode.Is(unicode.Mn, r)
}

// slip moves an accent, the word at i, in front of the word that it stands
// over: PDFium gives what overlaps after the rest of the line.
func slip(words []word, s *seg, i int) {
	w := words[i]
	k := i
	for k > s.i && i-k < 400 && words[k-1].x0 >= w.x0-0.05*w.size {
		k--
	}
	if k == i || k == s.i {
		return
	}
	copy(words[k+1:i+1], words[k:i])
	w.space, w.brk = words[k+1].space, words[k+1].brk
	words[k+1].space, words[k+1].brk = false, false
	words[k] = w
}

// beside says where w stands next to p, the last word of s.
func (r *Reader) beside(s *seg, p, w *word, words []word) place {
	size := max(s.size, w.size)
	limit := 0.9 * size
	switch {
	case p.look&mono != 0 && w.look&mono != 0:
		limit = 2.2 * size
		if p.look&w.look&number != 0 {
			limit = 0.9 * size
		}
	case p.look&w.look&number != 0:
		limit = 0.5 * size // two numbers side by side are rarely one thing
	}
	gap := w.x0 - p.x1
	if isAccent(w.text) && w.x1 > s.x0-size && w.x0 < s.x1+size {
		return accent
	}
	if w.look&leader != 0 && w.text == "…" && gap > 0 && gap < 40*size {
		return next // dots lead on from what stands before them, however far off
	}
	if p.look&leader != 0 && w.look&leader == 0 && s.dots >= 4 && gap >= 0 {
		return apart // what dots lead to stands in a column of its own
	}
	if gap >= -0.35*size && gap <= limit && p.text != "" {
		return next
	}
	if w.x0 < p.x1 || p.text == "" {
		// Backwards: painted twice, or a script that runs to the left.
		from := max(s.i, s.j-40)
		for k := s.j - 1; k >= from; k-- {
			q := &words[k]
			if math.Abs(q.x0-w.x0) <= 0.12*size && math.Abs(q.x1-w.x1) <= 0.2*size && q.text == w.text && w.text != "" && math.Abs(q.base-w.base) < 0.12*size {
				return again
			}
		}
		if gap >= -0.35*size && gap <= limit {
			return next
		}
		if (p.look|w.look)&rtl != 0 || s.rtl > 0 {
			if left := p.x0 - w.x1; left >= -0.35*size && left <= limit {
				return next
			}
			if s.rtl*2 > s.chars && (p.look&rtl == 0 || w.look&rtl == 0) && w.x1 < p.x0+0.35*size && w.x1 > s.x0-30*size {
				return next // over a phrase that runs the other way
			}
		}
		if gap >= -0.35*size-(p.x1-p.x0) && w.x1 > p.x1+0.1*size && w.x0 > p.x0 {
			return next // overlapping, but onwards: tight or slanted type
		}
	}
	if w.x0 >= p.x1 && s.rtl > 0 && s.rtl*2 > s.chars && gap < 30*size && w.look&rtl == 0 && p.look&rtl == 0 {
		return next
	}
	return apart
}

// link makes lines of segs that follow each other rightwards at one height.
func (r *Reader) link(segs []seg) {
	for i := 0; i < len(segs); {
		j := i + 1
		if segs[i].grid == 0 {
			for j < len(segs) && segs[j].grid == 0 && onward(&segs[j-1], &segs[j]) {
				j++
			}
		}
		r.lines = append(r.lines, makeLine(segs, i, j))
		i = j
	}
}

func onward(a, b *seg) bool {
	size := max(a.size, b.size)
	d := math.Abs(a.base - b.base)
	lim := 0.3 * size
	if min(a.size, b.size) < 0.85*size {
		lim = 0.5 * size
	}
	// Tags part what stands close together; over a gap the place decides.
	return d <= lim && b.x0 > a.x1-0.35*size && (a.owner == b.owner || a.owner < 0 || b.owner < 0 || b.x0-a.reach > 0.9*size)
}

func makeLine(segs []seg, i, j int) line {
	s := &segs[i]
	l := line{i: i, j: j, x0: s.x0, y0: s.y0, x1: s.x1, y1: s.y1, base: s.base, size: s.size, owner: s.owner, grid: s.grid}
	most, dots := int32(-1), int32(0)
	for k := i; k < j; k++ {
		s := &segs[k]
		l.x0, l.x1 = min(l.x0, s.x0), max(l.x1, s.x1)
		l.y0, l.y1 = min(l.y0, s.y0), max(l.y1, s.y1)
		l.chars += s.chars
		l.bold += s.bold
		l.italic += s.italic
		l.mono += s.mono
		l.rtl += s.rtl
		dots += s.dots
		if s.chars > most {
			most, l.base, l.size = s.chars, s.base, s.size
		}
		if l.owner < 0 {
			l.owner = s.owner
		}
	}
	l.leader = dots >= 4
	return l
}
