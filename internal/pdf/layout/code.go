package layout

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// code makes a code block of the lines from i on that are set in a font of one
// width. On a page that is typed throughout, text that reads like prose stays
// text.
func (r *Reader) code(words []word, lines []line, i int, typed bool) (int, Block, bool) {
	j := i + 1
	for j < len(lines) {
		a, b := &lines[j-1], &lines[j]
		d := b.base - a.base
		if !b.allMono() || b.grid != 0 || d <= 0.3*a.size || d > 3.2*a.size || differ(a.size, b.size, true) || r.role(b.owner) == roleHeading || !typed && r.isItem(j) {
			break
		}
		if typed && d > 1.6*a.size && !(r.codeLike(words, lines[i:j]) && r.codeLike(words, lines[j:j+1])) {
			break // on a typed page the paragraphs are looked at one by one
		}
		j++
	}
	run := lines[i:j]
	if !typed && len(run) <= 2 && j < len(lines) && r.goesOn(words, &lines[j-1], &lines[j]) && startsLower(words[r.segs[lines[j].i].i].text) {
		return i, Block{}, false // a sentence that begins with code
	}
	if typed && !r.codeLike(words, run) {
		return i, Block{}, false
	}
	if !typed && r.isItem(i) {
		return i, Block{}, false // a list of names
	}
	b := Block{Kind: Code, Clue: Clue{Lines: len(run), Size: run[0].size, Box: Rect{run[0].x0, run[0].y0, run[0].x1, run[len(run)-1].y1}}}
	left := math.Inf(1)
	steps, leads := r.floats[:0], []float64(nil)
	long, wide := int32(0), 0.0 // the longest word
	for k := range run {
		l := &run[k]
		left = min(left, l.x0)
		b.Clue.Box.X1 = max(b.Clue.Box.X1, l.x1)
		if k > 0 {
			leads = append(leads, l.base-run[k-1].base)
		}
		var prev *word
		for s := l.i; s < l.j; s++ {
			for x := r.segs[s].i; x < r.segs[s].j; x++ {
				w := &words[x]
				// Glyphs do not fill their cells, so that widths and gaps say
				// little; from the beginning of one word to that of the next
				// it is a whole number of cells, mostly with one space.
				if prev != nil && prev.chars >= 3 && w.x0 > prev.x0 {
					steps = append(steps, (w.x0-prev.x0)/float64(prev.chars+1))
				}
				if w.chars > long {
					long, wide = w.chars, w.x1-w.x0
				}
				prev = w
			}
		}
	}
	b.Clue.Box.X0 = left
	advance := 0.6 * run[0].size
	switch {
	case len(steps) > 2:
		slices.Sort(steps)
		advance = steps[len(steps)/2]
	case long > 3:
		advance = wide / (float64(long) - 0.1)
	}
	advance = max(advance, 0.3*run[0].size)
	r.floats = steps
	lead := math.Inf(1)
	if len(leads) > 0 {
		slices.Sort(leads)
		lead = leads[len(leads)/4]
	}
	var text strings.Builder
	for k := range run {
		if k > 0 {
			text.WriteByte('\n')
			blanks := int(math.Round((run[k].base-run[k-1].base)/lead)) - 1
			for range min(max(blanks, 0), 2) {
				text.WriteByte('\n')
			}
		}
		r.codeLine(&text, words, &run[k], left, advance)
	}
	b.Text = text.String()
	return j, b, true
}

// isItem says whether line i begins a list item.
func (r *Reader) isItem(i int) bool { return r.itemOf[i] >= 0 && r.markers[r.itemOf[i]].in }

func (r *Reader) codeLine(text *strings.Builder, words []word, l *line, left, advance float64) {
	col := 0
	var prev *word
	for s := l.i; s < l.j; s++ {
		for x := r.segs[s].i; x < r.segs[s].j; x++ {
			w := &words[x]
			if w.text == "" {
				if w.hyphen {
					text.WriteByte('-')
				}
				continue
			}
			pad := 0
			switch {
			case prev == nil:
				pad = int(math.Round((w.x0 - left) / advance))
			case between(prev, w) != glue || x == r.segs[s].i:
				pad = max(1, int(math.Round((w.x0-left)/advance))-col)
			}
			for range min(pad, 160) {
				text.WriteByte(' ')
			}
			text.WriteString(w.text)
			if w.hyphen {
				text.WriteByte('-')
			}
			col += pad + int(w.chars)
			prev = w
		}
	}
}

// codeLike says whether typed lines are code, a listing or a drawing rather
// than prose.
func (r *Reader) codeLike(words []word, run []line) bool {
	marks, chars, count, lower, indents := 0, 0, 0, 0, 0
	left := math.Inf(1)
	for k := range run {
		left = min(left, run[k].x0)
	}
	for k := range run {
		l := &run[k]
		if l.x0-left > 0.5*l.size {
			indents++
		}
		if l.j-l.i > 1 {
			marks += 2
		}
		for s := l.i; s < l.j; s++ {
			for x := r.segs[s].i; x < r.segs[s].j; x++ {
				count++
				for _, c := range words[x].text {
					chars++
					switch {
					case unicode.IsLetter(c) || unicode.IsDigit(c):
					case strings.ContainsRune(".,:-'\"!?()’“”–", c):
					default:
						marks++
					}
				}
				if x == r.segs[s].i && s == l.i {
					if c, _ := utf8.DecodeRuneInString(words[x].text); unicode.IsLower(c) {
						lower++
					}
				}
			}
		}
	}
	if chars == 0 {
		return false
	}
	if marks*100 > 6*chars {
		return true
	}
	return indents*2 > len(run) && count < 4*len(run) && len(run) > 2
}
