package layout

import (
	"math"
	"slices"
	"strings"
)

// blocks makes blocks of the ordered lines.
func (r *Reader) blocks(words []word, grids []grid, page int, aside bool) {
	lines := r.lines
	n := len(lines)
	body := r.bodySize(lines)
	r.items(words, lines, body)
	monoPage := r.monoPage(lines)
	r.depths = r.depths[:0]
	titles := r.titles[page]
	for i := 0; i < n; {
		l := &lines[i]
		if l.grid != 0 {
			r.emit(r.gridBlock(words, &grids[l.grid-1]), aside)
			i++
			continue
		}
		if len(titles) > 0 && !aside {
			if k, level := r.titleAt(words, lines, i, titles); k > 0 {
				b := r.block(words, lines[i:i+k], nil, 0)
				b.Kind, b.Clue.Outline = Heading, level
				r.emit(b, aside)
				i += k
				continue
			}
		}
		if t := r.gapAt[i]; t > 0 {
			g := &r.gapped[t-1]
			r.emit(g.block, aside)
			i = g.b
			continue
		}
		if l.allMono() && r.role(l.owner) != roleHeading && l.size < 1.3*body {
			if end, b, ok := r.code(words, lines, i, monoPage); ok {
				r.emit(b, aside)
				i = end
				continue
			}
		}
		j := i + 1
		for j < n && r.runsOn(&lines[j-1], &lines[j]) && (monoPage || !lines[j].allMono() || r.goesOn(words, &lines[j-1], &lines[j])) {
			if len(titles) > 0 && !aside {
				if k, _ := r.titleAt(words, lines, j, titles); k > 0 {
					break
				}
			}
			if r.gapAt[j] > 0 {
				break
			}
			j++
		}
		r.paragraphs(words, lines, i, j, aside)
		i = j
	}
}

// goesOn says whether the sentence of line a goes on in line b, as far as the
// place of the lines tells: close under it, at the same margin, and nothing
// ended.
func (r *Reader) goesOn(words []word, a, b *line) bool {
	if a.grid != 0 || b.grid != 0 || differ(a.size, b.size, r.sheet.ocr) {
		return false
	}
	usual, ok := r.usual[int32(math.Round(a.size*2))]
	if !ok {
		usual = 1.25 * a.size
	}
	if d := b.base - a.base; d <= 0.3*a.size || d > 1.15*usual {
		return false
	}
	last := lastWord(words, r.segs, a)
	return last != nil && !endsSentence(last.text) && math.Abs(a.start()-b.start()) < 3*a.size &&
		a.end()+firstWidth(words, r.segs, b)+1.1*a.size >= max(a.end(), b.end())
}

func (r *Reader) role(owner int32) role {
	if owner < 0 || r.sheet.tree == nil {
		return roleText
	}
	return r.sheet.tree.owners[owner].role
}

// bodySize is the size of most letters of the page.
func (r *Reader) bodySize(lines []line) float64 {
	clear(r.sizes)
	best, most := 10.0, int32(0)
	for i := range lines {
		if lines[i].grid != 0 {
			continue
		}
		k := int32(math.Round(lines[i].size * 4))
		r.sizes[k] += lines[i].chars
		if r.sizes[k] > most {
			best, most = float64(k)/4, r.sizes[k]
		}
	}
	return best
}

func (r *Reader) monoPage(lines []line) bool {
	var all, m int32
	for i := range lines {
		all += lines[i].chars
		m += lines[i].mono
	}
	return m*10 > all*8
}

// runsOn says whether b stands right under a as part of the same text.
func (r *Reader) runsOn(a, b *line) bool {
	if a.grid != 0 || b.grid != 0 {
		return false
	}
	size := max(a.size, b.size)
	d := b.base - a.base
	if d <= 0.3*size || d > 2.7*size {
		return false
	}
	if differ(a.size, b.size, r.sheet.ocr) {
		return false
	}
	return min(a.x1, b.x1)-max(a.x0, b.x0) > -2*size
}

func differ(a, b float64, ocr bool) bool {
	slack := 0.06
	if ocr {
		slack = 0.3
	}
	return math.Abs(a-b) > slack*max(a, b)
}

// paragraphs parts lines[i:j], which stand under each other in one size, into
// paragraphs and items.
func (r *Reader) paragraphs(words []word, lines []line, i, j int, aside bool) {
	run := lines[i:j]
	n := len(run)
	if n == 1 {
		r.put(words, lines, i, j, nil, aside)
		return
	}
	starts, breaks := r.starts[:0], r.breaks[:0]
	for range n {
		starts, breaks = append(starts, false), append(breaks, false)
	}
	r.starts, r.breaks = starts, breaks
	lead := r.leading(run)
	var m margins
	until := 0 // m holds for run[:until]

	inItem := r.itemOf[i] >= 0 && r.markers[r.itemOf[i]].in
	var mark *marker
	if inItem {
		mark = &r.markers[r.itemOf[i]]
	}
	first := 0 // of the block at hand
	for k := 1; k < n; k++ {
		a, b := &run[k-1], &run[k]
		d := b.base - a.base
		if k >= until {
			// What stands close together has margins of its own.
			from := k
			if d <= 1.25*lead+0.5 && !r.split(a.owner, b.owner) {
				from = k - 1
			}
			for until = from + 1; until < n && run[until].base-run[until-1].base <= 1.25*lead+0.5 && !r.split(run[until-1].owner, run[until].owner); {
				until++
			}
			m = r.margins(words, run[from:until], i+from)
		}
		short := m.short(words, r, run, k)
		last := lastWord(words, r.segs, a)
		hy := last != nil && last.hyphen
		ended := last == nil || !hy && endsSentence(last.text)
		if m.verse && ended {
			short = true // the longest of lines that all stand for themselves
		}
		var item *marker
		if q := r.itemOf[i+k]; q >= 0 && r.markers[q].in {
			item = &r.markers[q]
		}
		start := false
		switch {
		case r.split(a.owner, b.owner):
			start = true
		case r.joined(a.owner, b.owner) && item == nil:
			breaks[k] = short && !hy
		case d > 1.25*lead+0.5:
			start = true
		case a.leader || b.leader:
			// An entry that takes two lines has its dots on the second.
			breaks[k] = a.entry || short && !b.leader
			start = !a.entry && !b.leader && ended
		case hy:
		case item != nil && (item.value == 0 && !item.weak || ended || short || inItem || k == 1):
			start = true
		case a.allBold() != b.allBold() && (short || ended || first == k-1 && m.centred || a.allBold() && first == k-1 && b.bold == 0 || b.allBold() && a.bold == 0 && k+1 < n && run[k+1].bold == 0):
			start = true
		case m.centred:
			breaks[k] = short
		case inItem && mark != nil && b.start() > mark.x0+0.5*b.size:
			// To the right of the marker: the item goes on.
			breaks[k] = short && !ended
		case inItem && (short || ended):
			start = true
		case m.hanging:
			start = m.at(b) == 0
		case m.indented && m.at(b) > 0 && (m.at(a) == 0 || ended || short):
			start = true
		case m.indented && m.at(b) == 0 && first == k-1:
			// The second line of a paragraph.
		case m.at(a) != m.at(b) && (short || ended):
			start = true
		case short:
			start = ended
			breaks[k] = !ended
		}
		if run[k].keep && run[k-1].keep && !a.leader && !b.leader {
			breaks[k] = true
		}
		if !start && !breaks[k] && !hy && k == n-1 && k-first >= 2 && b.end() < a.end() && !slices.Contains(breaks[first+1:k], false) {
			breaks[k] = true // the longest line of an address
		}
		if start {
			starts[k] = true
			first = k
			inItem, mark = item != nil, item
		} else if item != nil && !inItem {
			inItem, mark = false, nil
		}
	}
	from := 0
	for k := 1; k <= n; k++ {
		if k == n || starts[k] {
			r.put(words, lines, i+from, i+k, breaks[from:k], aside)
			from = k
		}
	}
}

// split says whether tags say that two lines belong to different blocks.
func (r *Reader) split(a, b int32) bool {
	return a >= 0 && b >= 0 && a != b
}

func (r *Reader) joined(a, b int32) bool {
	return a >= 0 && a == b
}

// leading is the usual distance of the lines of a run: the lower quartile,
// since gaps between paragraphs only make it larger.
func (r *Reader) leading(run []line) float64 {
	ds := r.floats[:0]
	for k := 1; k < len(run); k++ {
		ds = append(ds, run[k].base-run[k-1].base)
	}
	r.floats = ds
	slices.Sort(ds)
	lead := ds[len(ds)/4]
	size := run[0].size
	if len(ds) < 4 {
		// Few lines prove little: lines of one paragraph are rarely set
		// wider than others of the page in this size.
		usual, ok := r.usual[int32(math.Round(size*2))]
		if !ok {
			usual = 1.2 * size
		}
		lead = min(lead, max(usual, 1.2*size))
	}
	return max(lead, 0.8*size)
}

// leads finds the usual leading of each size on the page.
func (r *Reader) leads() {
	clear(r.usual)
	clear(r.votes)
	for i := 1; i < len(r.lines); i++ {
		a, b := &r.lines[i-1], &r.lines[i]
		if a.grid != 0 || b.grid != 0 || math.Abs(a.size-b.size) > 0.05*a.size {
			continue
		}
		d := b.base - a.base
		if d < 0.8*a.size || d > 2.6*a.size {
			continue
		}
		s := int32(math.Round(a.size * 2))
		key := [2]int32{s, int32(math.Round(d * 2))}
		r.votes[key]++
		// Lines set wide are common only where there are several.
		if n := r.votes[key]; n > r.votes[[2]int32{s, -1}] && (n >= 3 || d < 1.4*a.size) {
			r.votes[[2]int32{s, -1}] = r.votes[key]
			r.usual[s] = d
		}
	}
}

// margins is how the lines of a run are set.
type margins struct {
	left, right float64 // in reading direction
	size        float64
	centred     bool
	indented    bool // a paragraph begins with an indent
	hanging     bool // a paragraph begins to the left of its other lines
	wide        float64
	verse       bool // most lines end before the margin
}

// at is 0 for a line at the left margin and 1 for one that begins further in.
func (m *margins) at(l *line) int {
	if l.start()-m.left > 0.6*m.size {
		return 1
	}
	return 0
}

func (r *Reader) margins(words []word, run []line, at int) margins {
	m := margins{left: math.Inf(1), right: math.Inf(-1), size: run[0].size}
	n := len(run)
	if n == 1 {
		m.left, m.right, m.wide = run[0].start(), run[0].end(), run[0].x1-run[0].x0
		return m
	}
	ends := r.floats[:0]
	for k := range run {
		m.left = min(m.left, run[k].start())
		m.wide = max(m.wide, run[k].x1-run[k].x0)
		ends = append(ends, run[k].end())
	}
	r.floats = ends
	slices.Sort(ends)
	// One line may stick out.
	m.right = ends[n-1-n/9]
	cut := 0
	for k := 1; k < n; k++ {
		if m.short(words, r, run, k) {
			cut++
		}
	}
	m.verse = n > 4 && cut*10 >= (n-1)*6
	// Centred: the middles agree where neither the beginnings nor the ends do.
	agree, same := 0, 0
	for k := 1; k < n; k++ {
		a, b := &run[k-1], &run[k]
		if math.Abs(a.x0+a.x1-b.x0-b.x1) < 0.8*m.size {
			agree++
		}
		if math.Abs(a.x0-b.x0) < 0.4*m.size {
			same++
		}
	}
	m.centred = agree*10 >= (n-1)*9 && same*2 < n
	if m.centred {
		return m
	}
	// Indents: does a line further in, or one further out, follow the ends of
	// paragraphs?
	in, out, ins, longest, stretch, back := 0, 0, 0, 0, 0, 0
	for k := range run {
		if m.at(&run[k]) == 1 {
			ins++
			stretch++
			longest = max(longest, stretch)
		} else {
			stretch = 0
		}
		if k == 0 || r.itemOf[at+k] >= 0 {
			continue
		}
		last := lastWord(words, r.segs, &run[k-1])
		end := last != nil && !last.hyphen && endsSentence(last.text)
		vote := -1
		if end {
			vote = 1
		}
		switch p, q := m.at(&run[k-1]), m.at(&run[k]); {
		case p == 0 && q == 1:
			in += vote
		case p == 1 && q == 0:
			out += vote
			back++
		}
	}
	if ins == 0 || ins == n {
		return m
	}
	if m.at(&run[0]) == 1 {
		in++
	} else if m.at(&run[1]) == 1 {
		out++
	}
	switch {
	case out > in && back > 0 && longest >= 1 && ins*3 >= n:
		m.hanging = true
	case in >= 0 && ins*2 <= n+1:
		m.indented = true
	case ins == n-1 && m.at(&run[0]) == 0 && (out > in || n > 2 && !m.short(words, r, run, 1)):
		m.hanging = true // one entry
	}
	return m
}

// short says whether line k-1 was broken although the first word of line k
// would have fitted on it.
func (m *margins) short(words []word, r *Reader, run []line, k int) bool {
	a, b := &run[k-1], &run[k]
	w := firstWidth(words, r.segs, b)
	if m.centred {
		return (a.x1-a.x0)+w+0.3*m.size < m.wide-0.8*m.size
	}
	return a.end()+w+0.3*m.size < m.right-0.8*m.size
}

// firstWidth is the width of the first word of a line, up to the first space.
func firstWidth(words []word, segs []seg, l *line) float64 {
	s := &segs[l.i]
	x0, x1 := words[s.i].x0, words[s.i].x1
	for k := s.i + 1; k < s.j && !words[k].space && !words[k].brk; k++ {
		x0, x1 = min(x0, words[k].x0), max(x1, words[k].x1)
	}
	if words[s.i].look&cjk != 0 {
		return words[s.i].size // breaks anywhere
	}
	return x1 - x0
}

func lastWord(words []word, segs []seg, l *line) *word {
	for k := l.j - 1; k >= l.i; k-- {
		for x := segs[k].j - 1; x >= segs[k].i; x-- {
			if words[x].text != "" {
				return &words[x]
			}
		}
	}
	return nil
}

// put emits lines[i:j] as a paragraph or item.
func (r *Reader) put(words []word, lines []line, i, j int, breaks []bool, aside bool) {
	run := lines[i:j]
	own := run[0].owner
	var b Block
	q := r.itemOf[i]
	tagged := r.role(own) == roleItem
	switch {
	case q >= 0 && (r.markers[q].in || tagged) && r.role(own) != roleHeading:
		b = r.item(words, run, breaks, &r.markers[q])
	case tagged:
		b = r.block(words, run, breaks, 0)
		b.Kind = Item
		b.Level = r.sheet.tree.owners[own].level
		if n := r.labels(words, run); n > 0 {
			b.Marker = r.textOf(words, run, n)
			b.Spans = r.flow(words, run, breaks, n)
		} else if r.continues(own) {
			b.Kind, b.Level = Paragraph, 0
		}
	default:
		b = r.block(words, run, breaks, 0)
	}
	if tagged && b.Kind == Item {
		b.Level = min(max(r.sheet.tree.owners[own].level, 1), 16)
	}
	r.owner = own
	r.emit(b, aside)
	r.lastOwner = own
}

// continues says whether the block before belongs to the same element.
func (r *Reader) continues(own int32) bool { return own >= 0 && own == r.lastOwner }

// labels counts the words at the beginning that are tagged as a label.
func (r *Reader) labels(words []word, run []line) int {
	n := 0
	for k := run[0].i; k < run[0].j; k++ {
		for x := r.segs[k].i; x < r.segs[k].j; x++ {
			if words[x].look&label == 0 {
				return n
			}
			if words[x].text != "" {
				n++
			}
		}
	}
	return 0 // nothing but the label
}

// textOf is the text of the first n words of a line.
func (r *Reader) textOf(words []word, run []line, n int) string {
	var b strings.Builder
	for k := run[0].i; k < run[0].j; k++ {
		for x := r.segs[k].i; x < r.segs[k].j && n > 0; x++ {
			if words[x].text == "" {
				continue
			}
			b.WriteString(words[x].text)
			n--
		}
	}
	return b.String()
}

func (r *Reader) item(words []word, run []line, breaks []bool, m *marker) Block {
	first := &words[r.segs[run[0].i].i]
	whole := first.text
	mark := whole[:m.n]
	skip := 1
	if m.n < len(whole) {
		first.text = strings.TrimLeft(whole[m.n:], " ")
		skip = 0
	}
	b := r.block(words, run, breaks, skip)
	first.text = whole
	b.Kind, b.Marker = Item, mark
	if b.Clue.Box.Y0 < r.depthY-b.Clue.Size {
		r.depths = r.depths[:0] // another column, or box
	}
	r.depthY = b.Clue.Box.Y0
	b.Level = r.depth(m)
	return b
}

// depth says how deep an item stands: further to the right than the item
// before is one deeper.
func (r *Reader) depth(m *marker) int {
	for len(r.depths) > 0 && m.x0 < r.depths[len(r.depths)-1]-4 {
		r.depths = r.depths[:len(r.depths)-1]
	}
	if len(r.depths) == 0 || m.x0 > r.depths[len(r.depths)-1]+7 && len(r.depths) < 8 {
		r.depths = append(r.depths, m.x0)
	}
	return len(r.depths)
}

// block makes a paragraph of lines.
func (r *Reader) block(words []word, run []line, breaks []bool, skip int) Block {
	b := Block{Kind: Paragraph, Spans: r.flow(words, run, breaks, skip)}
	c := &b.Clue
	var chars, nb, ni, most int32
	c.Box = Rect{run[0].x0, run[0].y0, run[0].x1, run[0].y1}
	for k := range run {
		l := &run[k]
		c.Box.X0, c.Box.X1 = min(c.Box.X0, l.x0), max(c.Box.X1, l.x1)
		c.Box.Y0, c.Box.Y1 = min(c.Box.Y0, l.y0), max(c.Box.Y1, l.y1)
		chars += l.chars
		nb += l.bold
		ni += l.italic
		if l.chars > most {
			most, c.Size = l.chars, l.size
		}
	}
	c.Size = math.Round(c.Size*100) / 100
	c.Bold, c.Italic = nb*10 >= chars*9, ni*10 >= chars*9
	c.Lines, c.Chars = len(run), int(chars)
	c.Entry = run[0].entry
	if t := r.sheet.tree; t != nil && run[0].owner >= 0 {
		if c.Tagged = t.heading(run[0].owner); c.Tagged == 0 {
			c.Tagged = -1
		} else {
			b.Kind = Heading
		}
	}
	return b
}

// emit appends a block to the page.
func (r *Reader) emit(b Block, aside bool) {
	if len(b.Spans) == 0 && len(b.Rows) == 0 && b.Text == "" && b.Marker == "" {
		return
	}
	if b.Kind != Item {
		// An indented paragraph between items belongs to the list.
		if len(r.depths) == 0 || b.Clue.Box.X0 < r.depths[0]+7 || b.Kind == Heading {
			r.depths = r.depths[:0]
		}
	}
	b.Clue.Aside = aside
	if b.Kind == Paragraph && !aside && r.carries(&b) {
		return
	}
	r.out = append(r.out, b)
}

// carries joins a paragraph to the one before when a column's end parts them:
// it stands higher on the page, the sentence is not over, and it looks alike.
func (r *Reader) carries(b *Block) bool {
	if len(r.out) == 0 {
		return false
	}
	a := &r.out[len(r.out)-1]
	if a.Kind != Paragraph && a.Kind != Item || len(a.Spans) == 0 || len(b.Spans) == 0 || a.Clue.Aside ||
		b.Clue.Box.Y0 > a.Clue.Box.Y1-b.Clue.Size || b.Clue.Box.X0 < a.Clue.Box.X1-b.Clue.Size && b.Clue.Box.X1 > a.Clue.Box.X0 ||
		differ(a.Clue.Size, b.Clue.Size, r.sheet.ocr) || a.Clue.Bold != b.Clue.Bold ||
		a.Clue.Tagged != b.Clue.Tagged || a.Clue.Tagged < 0 && r.owner != r.lastOwner || a.Clue.Lines < 2 && b.Clue.Lines < 2 {
		return false
	}
	end := &a.Spans[len(a.Spans)-1]
	begin := b.Spans[0].Text
	if strings.ContainsRune(begin, '\n') || end.Sup || b.Spans[0].Sup {
		return false
	}
	hy := strings.HasSuffix(end.Text, "-")
	if !startsLower(begin) || endsSentence(end.Text) {
		return false
	}
	a.Clue.Lines += b.Clue.Lines
	a.Clue.Chars += b.Clue.Chars
	p, q := a.Clue.Box, b.Clue.Box
	a.Clue.Box = Rect{min(p.X0, q.X0), min(p.Y0, q.Y0), max(p.X1, q.X1), max(p.Y1, q.Y1)}
	if hy {
		// The hyphen that flow kept at the end of the column.
		left := strings.TrimSuffix(end.Text, "-")
		head, _, _ := strings.Cut(begin, " ")
		switch hyphenation(left[strings.LastIndexByte(left, ' ')+1:], head) {
		case hyphenOpen:
			end.Text = left + string(undecided)
		case hyphenGap:
			end.Text += " "
		}
	} else {
		end.Text += " "
	}
	rest := b.Spans
	if same(*end, rest[0]) {
		end.Text += rest[0].Text
		rest = rest[1:]
	}
	a.Spans = append(a.Spans, rest...)
	return true
}

func same(a, b Span) bool {
	a.Text, b.Text = "", ""
	return a == b
}
