package layout

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

type runner struct {
	result, block int
	y             float64
	top           bool
	numbers       []int
}

// running removes the lines that stand at the same place of three pages or
// more with nothing but the number of the page changing. The first is kept if
// it says something that is said nowhere else.
func running(results []*Result) {
	if len(results) < 3 {
		return
	}
	body, _, _, _ := bodyStyle(results)
	found := map[string][]runner{}
	for ri, res := range results {
		for _, c := range margin(res) {
			key, numbers := runningKey(&res.Blocks[c.block])
			if key == "" {
				continue
			}
			c.result, c.numbers = ri, numbers
			if c.top {
				key = "^" + key
			}
			found[key] = append(found[key], c)
		}
	}
	drop := make([]map[int]bool, len(results))
	kept := map[[2]int]bool{}
	var said map[string]bool // what stands elsewhere than at the edges
	keys := make([]string, 0, len(found))
	for k := range found {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, key := range keys {
		group := samePlace(found[key], results)
		if len(group) < 3 {
			continue
		}
		content := meaning(strings.TrimPrefix(key, "^"))
		if content && said == nil {
			said = sayings(results)
		}
		if content && changing(group) && slices.ContainsFunc(group, func(c runner) bool { return !setApart(results[c.result], c, body) }) {
			continue // a heading or an invoice's number may count along with the pages
		}
		for n, c := range group {
			if n == 0 && content && !said[strings.TrimPrefix(key, "^")] {
				kept[[2]int{c.result, c.block}] = true
				continue // the first says it for all
			}
			if drop[c.result] == nil {
				drop[c.result] = map[int]bool{}
			}
			drop[c.result][c.block] = true
		}
	}
	numbered(results, drop)
	banded(results, drop, kept)
	for ri, gone := range drop {
		res := results[ri]
		lost, all := 0, 0
		for i := range res.Blocks {
			n := res.Blocks[i].Clue.Chars + len(res.Blocks[i].Text) + 10*len(res.Blocks[i].Rows)
			all += n
			if gone[i] {
				lost += n
			}
		}
		if lost == 0 || lost*3 > all && lost > 12 || lost == all {
			continue // too much: this is what the page says
		}
		n := 0
		for i := range res.Blocks {
			if gone[i] {
				continue
			}
			res.Blocks[n] = res.Blocks[i]
			n++
		}
		clear(res.Blocks[n:])
		res.Blocks = res.Blocks[:n]
	}
}

// numbered finds the running headers whose text changes from section to
// section, by the number of the page in them: at one height, at the beginning
// or the end of the line, it goes with the pages.
func numbered(results []*Result, drop []map[int]bool) {
	body, _, _, _ := bodyStyle(results)
	type place struct {
		top    bool
		y      int // in steps of 4 points
		offset int // of the number from that of the page
	}
	type spot struct{ result, block int }
	found := map[place][]spot{}
	for ri, res := range results {
		for _, c := range margin(res) {
			b := &res.Blocks[c.block]
			if b.Clue.Lines > 1 || drop[ri][c.block] || b.Kind == Heading || !setApart(res, c, body) {
				continue
			}
			t := strings.TrimSpace(b.text())
			head, _, _ := strings.Cut(t, " ")
			tail := t[strings.LastIndexByte(t, ' ')+1:]
			if len(t) > 120 || head == tail && t != head {
				continue
			}
			for _, s := range []string{head, tail} {
				v := 0
				for i := 0; i < len(s); i++ {
					if s[i] < '0' || s[i] > '9' || len(s) > 4 {
						v = -1
						break
					}
					v = v*10 + int(s[i]-'0')
				}
				if v > 0 {
					p := place{c.top, int(math.Round(c.y / 4)), v - res.Number}
					found[p] = append(found[p], spot{ri, c.block})
				}
				if head == tail {
					break
				}
			}
		}
	}
	for _, spots := range found {
		if len(spots) < 3 {
			continue
		}
		for _, s := range spots {
			if drop[s.result] == nil {
				drop[s.result] = map[int]bool{}
			}
			drop[s.result][s.block] = true
		}
	}
}

// setApart says that a line is set apart from the text, by its type or because it
// stands at the very edge of the page.
func setApart(res *Result, c runner, body float64) bool {
	b := &res.Blocks[c.block]
	if b.Clue.Size > 1.05*body || b.Kind == Heading {
		return false
	}
	return b.Clue.Size < 0.95*body || b.Clue.Italic || capitals(b.text()) || c.y < 0.075*res.Height || c.y > 0.925*res.Height
}

// changing says whether the numbers in a line differ from page to page.
func changing(group []runner) bool {
	return slices.ContainsFunc(group, func(c runner) bool { return !slices.Equal(c.numbers, group[0].numbers) })
}

// banded finds the running headers that say something else on every page and
// have no number: the topmost line of most pages, at one height, set apart
// from the text by its type. What they say must be said in the text as well.
func banded(results []*Result, drop []map[int]bool, kept map[[2]int]bool) {
	body, _, _, _ := bodyStyle(results)
	type band struct {
		y, size int
		italic  bool
	}
	type spot struct{ result, block int }
	found := map[band][]spot{}
	var said map[string]bool
	pages := 0
	for ri, res := range results {
		if res.Chars > 200 {
			pages++
		}
		best := -1
		for i := range res.Blocks {
			b := &res.Blocks[i]
			if !b.Clue.Aside && (best < 0 || b.Clue.Box.Y0 < res.Blocks[best].Clue.Box.Y0) {
				best = i
			}
		}
		if best < 0 {
			continue
		}
		b := &res.Blocks[best]
		c := &b.Clue
		if b.Kind == Table || b.Kind == Code || c.Lines != 1 || c.Outline > 0 || c.Box.Y1 > 0.12*res.Height || c.Size > 1.05*body ||
			!(c.Size < 0.95*body || c.Italic || capitals(b.text())) {
			continue
		}
		k := band{int(math.Round(c.Box.Y1 / 2)), int(math.Round(c.Size * 2)), c.Italic}
		found[k] = append(found[k], spot{ri, best})
	}
	for _, spots := range found {
		if len(spots) < 4 || len(spots)*3 < pages {
			continue
		}
		if said == nil {
			said = sayings(results)
		}
		for _, s := range spots {
			if kept[[2]int{s.result, s.block}] || !said[normal(results[s.result].Blocks[s.block].text())] {
				continue
			}
			if drop[s.result] == nil {
				drop[s.result] = map[int]bool{}
			}
			drop[s.result][s.block] = true
		}
	}
}

// sayings are the short texts that stand in the body of a page.
func sayings(results []*Result) map[string]bool {
	said := map[string]bool{}
	for _, res := range results {
		edge := map[int]bool{}
		for _, c := range margin(res) {
			edge[c.block] = true
		}
		for i := range res.Blocks {
			if b := &res.Blocks[i]; !edge[i] && b.Kind != Table && b.Kind != Code && len(b.Spans) > 0 {
				if t := b.text(); len(t) < 400 {
					said[normal(t)] = true
				}
			}
		}
	}
	return said
}

// margin lists the blocks that can be a running header or footer: short, and
// among the outermost in the outer part of the page. What stands further in is
// the text of a form or a letter, though it stands on every page.
func margin(res *Result) []runner {
	var out []runner
	h := res.Height
	type edge struct {
		y float64
		i int
	}
	var tops, bottoms []edge
	for i := range res.Blocks {
		b := &res.Blocks[i]
		if b.Clue.Aside || b.Kind == Table || b.Kind == Code || b.Clue.Lines > 2 || b.Clue.Outline > 0 {
			continue
		}
		y := (b.Clue.Box.Y0 + b.Clue.Box.Y1) / 2
		if y < 0.13*h && b.Clue.Lines < 2 {
			tops = append(tops, edge{y, i})
		} else if y > 0.87*h {
			bottoms = append(bottoms, edge{y, i})
		}
	}
	byY := func(a, b edge) int { return cmp.Compare(a.y, b.y) }
	slices.SortStableFunc(tops, byY)
	slices.SortStableFunc(bottoms, func(a, b edge) int { return byY(b, a) })
	for k, e := range tops {
		if k < 2 || e.y < 0.075*h {
			out = append(out, runner{block: e.i, y: e.y, top: true})
		}
	}
	for k, e := range bottoms {
		if k < 2 || e.y > 0.925*h {
			out = append(out, runner{block: e.i, y: e.y})
		}
	}
	return out
}

// samePlace gives those that share their height with two more, if their
// numbers go with the pages.
func samePlace(all []runner, results []*Result) []runner {
	if len(all) < 3 {
		return nil
	}
	order := slices.Clone(all)
	slices.SortStableFunc(order, func(a, b runner) int { return cmp.Compare(a.y, b.y) })
	var out []runner
	for i := 0; i < len(order); {
		j := i + 1
		for j < len(order) && order[j].y-order[j-1].y < 4 && order[j].y-order[i].y < 16 {
			j++
		}
		group := order[i:j]
		slices.SortStableFunc(group, func(a, b runner) int {
			return cmp.Or(cmp.Compare(a.result, b.result), cmp.Compare(a.block, b.block))
		})
		pages := 0
		for k := range group {
			if k == 0 || group[k].result != group[k-1].result {
				pages++
			}
		}
		if pages >= 3 && counting(group, results) {
			out = append(out, group...)
		}
		i = j
	}
	slices.SortStableFunc(out, func(a, b runner) int {
		return cmp.Or(cmp.Compare(a.result, b.result), cmp.Compare(a.block, b.block))
	})
	return out
}

// counting says whether the numbers in a line stay the same or count the
// pages. A sum at the foot of every invoice does neither.
func counting(group []runner, results []*Result) bool {
	for n := range group[0].numbers {
		good, bad := 0, 0
		for k := 1; k < len(group); k++ {
			a, b := &group[k-1], &group[k]
			if n >= len(a.numbers) || n >= len(b.numbers) || a.result == b.result {
				bad++
				continue
			}
			step := b.numbers[n] - a.numbers[n]
			pages := results[b.result].Number - results[a.result].Number
			// A chapter's number grows now and then, and page numbers begin
			// anew once: what matters is the rule.
			if step == 0 || step == pages {
				good++
			} else {
				bad++
			}
		}
		if bad*4 > good {
			return false
		}
	}
	return true
}

// runningKey is what stays the same of a running line, with # for its
// numbers, and the numbers. Empty: too long to be one.
func runningKey(b *Block) (string, []int) {
	n := 0
	for i := range b.Spans {
		n += len(b.Spans[i].Text)
	}
	if n == 0 || n > 250 {
		return "", nil
	}
	t := strings.TrimSpace(b.text())
	if v := romanValue(strings.ToLower(t)); v > 0 {
		return "#", []int{v}
	}
	var numbers []int
	for i := 0; i < len(t); i++ {
		if t[i] < '0' || t[i] > '9' {
			continue
		}
		v := 0
		for ; i < len(t) && t[i] >= '0' && t[i] <= '9'; i++ {
			v = min(v*10+int(t[i]-'0'), 1<<40)
		}
		numbers = append(numbers, v)
	}
	return normal(t), numbers
}

// normal writes # for every number and lower case for the rest.
func normal(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	digit := false
	for _, r := range s {
		switch {
		case r >= '0' && r <= '9':
			if !digit {
				b.WriteByte('#')
			}
			digit = true
			continue
		case r == '\n':
			r = ' '
		case r == undecided:
			continue
		}
		digit = false
		b.WriteRune(unicode.ToLower(r))
	}
	return strings.TrimSpace(b.String())
}

// meaning says whether a running line says more than which page this is.
func meaning(key string) bool {
	n := 0
	for _, f := range strings.FieldsFunc(key, func(r rune) bool { return !unicode.IsLetter(r) }) {
		switch f {
		case "page", "p", "pg", "of", "seite", "von", "sur", "de", "página", "pagina", "di", "side", "sida", "strona", "z", "s", "стр", "из":
			continue
		}
		n += utf8.RuneCountInString(f)
	}
	return n >= 3
}
