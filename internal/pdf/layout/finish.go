package layout

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Finish takes the decisions that belong to the whole document, over all the
// pages that were read: it removes running headers, footers and page numbers,
// gives headings their levels, takes back those that are none, and decides on
// the hyphens at line ends. It changes the results in place. Calling it with
// some of a document's pages is fine; calling it twice changes nothing more
// that matters.
//
// A paragraph that a page's end breaks stays in two, so that what stands
// between two page markers is what stands on that page.
func Finish(results []*Result) {
	results = slices.DeleteFunc(slices.Clone(results), func(r *Result) bool { return r == nil })
	running(results)
	headings(results)
	hyphens(results)
}

// text is what a block says, with its marker.
func (b *Block) text() string {
	if len(b.Spans) == 1 && b.Marker == "" {
		return b.Spans[0].Text
	}
	var s strings.Builder
	if b.Marker != "" {
		s.WriteString(b.Marker)
		s.WriteByte(' ')
	}
	for _, sp := range b.Spans {
		s.WriteString(sp.Text)
	}
	return s.String()
}

// ---- running headers and footers

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
			if b.Clue.Lines > 1 || drop[ri][c.block] || b.Kind == Heading {
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

// banded finds the running headers that say something else on every page and
// have no number: the topmost line of most pages, at one height, set apart
// from the text by its type.
func banded(results []*Result, drop []map[int]bool, kept map[[2]int]bool) {
	body, _, _, _ := bodyStyle(results)
	type band struct {
		y, size int
		italic  bool
	}
	type spot struct{ result, block int }
	found := map[band][]spot{}
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
		for _, s := range spots {
			if kept[[2]int{s.result, s.block}] {
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
// among the outermost in the outer part of the page.
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
		if y < 0.17*h {
			tops = append(tops, edge{y, i})
		} else if y > 0.83*h {
			bottoms = append(bottoms, edge{y, i})
		}
	}
	byY := func(a, b edge) int { return cmp.Compare(a.y, b.y) }
	slices.SortStableFunc(tops, byY)
	slices.SortStableFunc(bottoms, func(a, b edge) int { return byY(b, a) })
	for k, e := range tops {
		if k < 4 {
			out = append(out, runner{block: e.i, y: e.y, top: true})
		}
	}
	for k, e := range bottoms {
		if k < 4 {
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

// ---- headings

// class is how a heading is set. Headings of one class have one level.
type class struct {
	size  int // in half points
	bold  bool
	depth int // of its number: 2 for "2.1"
}

func (c class) before(d class) int {
	switch {
	case c.size != d.size:
		return cmp.Compare(d.size, c.size)
	case c.bold != d.bold:
		if c.bold {
			return -1
		}
		return 1
	}
	return cmp.Compare(c.depth, d.depth)
}

type candidate struct {
	result, block int
	class         class
	chars         int
	text          string
	level         int // what the outline says, 0: nothing
}

// headings finds the headings and gives them levels.
func headings(results []*Result) {
	body, bodyBold, total, tagged := bodyStyle(results)
	var all []candidate
	for ri, res := range results {
		for bi := range res.Blocks {
			b := &res.Blocks[bi]
			if b.Kind == Table || b.Kind == Code || b.Clue.Aside {
				continue
			}
			if tagged && b.Clue.Tagged > 0 {
				b.Kind, b.Level = Heading, min(b.Clue.Tagged, 6)
				flatten(b)
				continue
			}
			if tagged && b.Clue.Tagged < 0 && b.Clue.Outline == 0 {
				continue
			}
			if b.Kind == Heading && b.Clue.Outline == 0 {
				b.Kind = Paragraph // tags without levels to rely on
			}
			if c, ok := judge(results, ri, bi, body, bodyBold); ok {
				all = append(all, c)
			} else if b.Kind == Heading {
				b.Kind = Paragraph
			}
		}
	}
	all = withoutFalse(all, results, total)
	all = withoutAuthors(all, results)
	assign(all, results, tagged)
	if !tagged {
		titlePage(all, results)
	}
	joinHeadings(results)
}

// bodyStyle finds the size and weight of most of the text.
func bodyStyle(results []*Result) (size float64, isBold bool, total int, tagged bool) {
	bySize := map[int]int{}
	boldBy := map[int]int{}
	for _, res := range results {
		for i := range res.Blocks {
			b := &res.Blocks[i]
			if b.Clue.Tagged > 0 {
				tagged = true
			}
			n := 0
			switch b.Kind {
			case Code:
				continue
			case Table:
				for _, row := range b.Rows {
					for _, c := range row {
						for _, s := range c.Spans {
							n += len(s.Text)
						}
					}
				}
				n /= 2 // tables are often set smaller than the text
			default:
				n = b.Clue.Chars
			}
			k := int(math.Round(b.Clue.Size * 2))
			bySize[k] += n
			total += n
			if b.Clue.Bold {
				boldBy[k] += n
			}
		}
	}
	best := 0
	for k, n := range bySize {
		if n > bySize[best] || n == bySize[best] && k < best {
			best = k
		}
	}
	if total < 600 {
		// In a very short text a title can be longer than what follows it.
		for k, n := range bySize {
			if k < best && n*5 >= total {
				best = k
			}
		}
	}
	return float64(best) / 2, boldBy[best]*2 > bySize[best], total, tagged
}

// judge says whether a block is set like a heading.
func judge(results []*Result, ri, bi int, body float64, bodyBold bool) (candidate, bool) {
	b := &results[ri].Blocks[bi]
	c := candidate{result: ri, block: bi}
	size := b.Clue.Size
	level := b.Clue.Outline
	large := size > 1.08*body && size > body+0.4
	strong := b.Clue.Bold && !bodyBold && size >= 0.84*body
	if !large && !strong && level == 0 && b.Clue.Lines > 2 {
		return c, false
	}
	c.chars = b.Clue.Chars
	if c.chars > 240 || c.chars == 0 {
		return c, false
	}
	c.text = strings.TrimSpace(strings.ReplaceAll(b.text(), "\n", " "))
	depth, numbered := numberDepth(c.text)
	c.class = class{size: int(math.Round(size * 2)), bold: b.Clue.Bold, depth: depth}
	c.level = level
	if level > 0 {
		return c, true
	}
	if b.Kind == Item && !(numbered && (large || strong) && alone(results[ri].Blocks, bi)) {
		return c, false
	}
	if b.Clue.Entry || caption(c.text) || !wordy(c.text) || b.Clue.Lines > 4 {
		return c, false
	}
	last, _ := utf8.DecodeLastRuneInString(c.text)
	ends := last == '.' || last == ',' || last == ';' || last == '。'
	switch {
	case large:
		if ends && !numbered && size < 1.3*body {
			return c, false
		}
		return c, true
	case strong:
		if ends && !(numbered && last == '.' && b.Clue.Lines == 1) || c.chars > 160 || last == ':' && !numbered {
			return c, false
		}
		return c, true
	case b.Clue.Italic && numbered && b.Clue.Lines <= 2 && !ends && b.Kind != Item:
		return c, c.chars < 100
	case capitals(c.text) && b.Clue.Lines == 1 && b.Clue.Box.Y1 > 0.085*results[ri].Height && !ends && size >= 0.95*body && c.chars < 70:
		// In capitals, and the text begins right after it.
		if next := bi + 1; next < len(results[ri].Blocks) {
			n := &results[ri].Blocks[next]
			return c, n.Kind == Paragraph && n.Clue.Chars > 80 && !capitals(n.text())
		}
	}
	return c, false
}

// alone says whether no item stands next to block i.
func alone(blocks []Block, i int) bool {
	return (i == 0 || blocks[i-1].Kind != Item) && (i+1 == len(blocks) || blocks[i+1].Kind != Item)
}

// numberDepth reads the number of a heading: 1 for "2 Methods", 2 for "2.1",
// 1 for "Chapter 3", "IV." and "A.".
func numberDepth(s string) (depth int, ok bool) {
	head, rest, found := strings.Cut(s, " ")
	if !found || rest == "" {
		return 0, false
	}
	switch strings.ToLower(head) {
	case "chapter", "part", "appendix", "section", "article", "kapitel", "teil", "chapitre", "capítulo", "capitolo", "§":
		next, _, _ := strings.Cut(rest, " ")
		next = strings.Trim(next, ".:")
		if next != "" && (isNumeric(next) || romanValue(strings.ToLower(next)) > 0 || len(next) == 1) {
			return 1, true
		}
		return 0, false
	}
	digits := false
	for i := 0; i < len(head); i++ {
		c := head[i]
		switch {
		case c >= '0' && c <= '9':
			if !digits {
				depth++
			}
			digits = true
		case c == '.' || c == '-' && digits:
			digits = false
		case (c >= 'A' && c <= 'Z') && i == 0 && (len(head) == 1 || head[1] == '.'):
			depth++
		case c == ')' && i == len(head)-1 && i > 0:
		default:
			if v := romanValue(strings.ToLower(strings.TrimSuffix(head, "."))); v > 0 && strings.HasSuffix(head, ".") {
				return 1, true
			}
			return 0, false
		}
	}
	if depth == 0 || depth > 5 || len(head) > 12 {
		return 0, false
	}
	if first, _ := utf8.DecodeRuneInString(rest); !unicode.IsUpper(first) && !unicode.IsDigit(first) && !isCJK(first) && unicode.IsLetter(first) && !strings.HasSuffix(head, ".") && depth == 1 {
		return 0, false // "3 apples"
	}
	return depth, true
}

// caption says whether the text names a figure or table.
func caption(s string) bool {
	head, rest, ok := strings.Cut(s, " ")
	if !ok {
		return false
	}
	switch strings.ToLower(strings.TrimSuffix(head, ".")) {
	case "figure", "fig", "table", "tab", "abbildung", "abb", "tabelle", "algorithm", "listing", "figura", "tabla", "tableau", "equation", "scheme", "exhibit":
		c, _ := utf8.DecodeRuneInString(rest)
		return unicode.IsDigit(c) || len(rest) > 1 && unicode.IsUpper(c) && (rest[1] == '.' || rest[1] == ':' || rest[1] >= '0' && rest[1] <= '9')
	}
	return false
}

// wordy says whether a text has a word in it and is not a formula or number.
func wordy(s string) bool {
	run, n, other, digits := 0, 0, 0, 0
	word := false
	for _, r := range s {
		switch {
		case isCJK(r):
			word = true
			n++
		case unicode.IsLetter(r):
			run++
			n++
			if run >= 3 {
				word = true
			}
		default:
			switch {
			case unicode.IsDigit(r):
				digits++
			case r != ' ' && r != '.':
				other++
			}
			run = 0
		}
	}
	return word && n > 2*other && n+4 > digits
}

// capitals says whether all letters are capitals, and there is a word of them.
func capitals(s string) bool {
	n := 0
	for _, r := range s {
		if unicode.IsLower(r) {
			return false
		}
		if unicode.IsUpper(r) {
			n++
		}
	}
	return n >= 4
}

// withoutFalse takes out the classes that make up too much of the text, or
// stand in a row, to be headings.
func withoutFalse(all []candidate, results []*Result, total int) []candidate {
	type sum struct {
		n, chars, rows, known int
		first                 int // result of the first
	}
	sums := map[class]*sum{}
	flat := func(c class) class { c.depth = 0; return c }
	for i := range all {
		c := &all[i]
		s := sums[flat(c.class)]
		if s == nil {
			s = &sum{first: c.result}
			sums[flat(c.class)] = s
		}
		s.n++
		s.chars += c.chars
		if c.level > 0 {
			s.known++
		}
		if i > 0 && all[i-1].result == c.result && all[i-1].block+1 == c.block && flat(all[i-1].class) == flat(c.class) {
			s.rows++
		}
	}
	n := 0
	for i := range all {
		c := all[i]
		s := sums[flat(c.class)]
		// More than half of them in rows of their like: names on a cover,
		// lines of an address, entries of a form.
		long := total > 1500 && s.chars*5 > total || total > 300 && s.chars*2 > total || s.chars > 120*s.n
		if c.level == 0 && s.known*2 < s.n && (long || s.n >= 4 && s.rows*2 > s.n) {
			if b := &results[c.result].Blocks[c.block]; b.Kind == Heading {
				b.Kind = Paragraph
			}
			continue
		}
		all[n] = c
		n++
	}
	return all[:n]
}

// withoutAuthors takes out what stands between the title of the document and
// its first heading, set larger than the text but not bold: authors, a date.
func withoutAuthors(all []candidate, results []*Result) []candidate {
	if len(all) < 2 || results[all[0].result].Number > 1 {
		return all
	}
	n := 1
	cover := len(results) > 2 && results[all[0].result].Chars < 600
	if cover {
		// The first page is a title page: what it says beside the title, in
		// type that comes nowhere else, is no heading of the text.
		for n < len(all) && all[n].result == all[0].result {
			n++
		}
		for i := 1; i < n; i++ {
			if all[i].class.before(all[0].class) < 0 {
				all[0], all[i] = all[i], all[0]
			}
		}
	}
	for !cover && n < len(all) && all[n].result == all[0].result && all[n].block == all[n-1].block+1 {
		n++
	}
	out := all[:1]
	for i := 1; i < len(all); i++ {
		c := all[i]
		if i < n && c.level == 0 && (cover || !c.class.bold) && c.class.size < all[0].class.size &&
			!slices.ContainsFunc(all[n:], func(d candidate) bool { return d.class == c.class }) {
			if b := &results[c.result].Blocks[c.block]; b.Kind == Heading {
				b.Kind = Paragraph
			}
			continue
		}
		out = append(out, c)
	}
	return out
}

// assign gives the levels: the outline's where it names headings, else by the
// rank of the classes.
func assign(all []candidate, results []*Result, tagged bool) {
	if len(all) == 0 {
		return
	}
	// What the outline says of each class.
	votes := map[class]map[int]int{}
	outlined := false
	for i := range all {
		c := &all[i]
		if c.level > 0 {
			outlined = true
			if votes[c.class] == nil {
				votes[c.class] = map[int]int{}
			}
			votes[c.class][c.level]++
		}
	}
	// An unnumbered heading is of the class of the shallowest numbered ones
	// that look the same: "References" beside "5 Conclusion".
	shallow := map[class]int{}
	for i := range all {
		c := all[i].class
		if d := c.depth; d > 0 {
			c.depth = 0
			if shallow[c] == 0 || d < shallow[c] {
				shallow[c] = d
			}
		}
	}
	for i := range all {
		c := &all[i]
		if c.class.depth == 0 {
			c.class.depth = shallow[c.class]
		}
	}
	var classes []class
	for i := range all {
		if !slices.Contains(classes, all[i].class) {
			classes = append(classes, all[i].class)
			if len(classes) > 60 {
				break
			}
		}
	}
	slices.SortFunc(classes, class.before)
	level := make(map[class]int, len(classes))
	if outlined {
		// The outline does not name the title of the document.
		shift := 0
		for i := range all {
			c := &all[i]
			if c.result == 0 && c.level == 0 && c.class.before(topOutlined(all)) < 0 && results[c.result].Number <= 1 {
				shift = 1
				break
			}
		}
		for _, c := range classes {
			if v := votes[c]; v != nil {
				best := 0
				for l, n := range v {
					if best == 0 || n > v[best] || n == v[best] && l < best {
						best = l
					}
				}
				level[c] = best + shift
			}
		}
		// A class that the outline leaves out comes right after the one that
		// looks more important.
		last := 0
		for _, c := range classes {
			if l, ok := level[c]; ok {
				last = max(last, l)
			} else if last = min(last+1, 6); true {
				level[c] = last
			}
		}
		before := 0
		for i := range all {
			c := &all[i]
			l := min(level[c.class], before+1)
			if c.level > 0 {
				l = c.level + shift
			}
			set(results, c, l)
			before = l
		}
		return
	}
	rare := rareClasses(all, len(results))
	next, start := 1, class{}
	base := 1
	for i, c := range classes {
		if i > 0 && rare[c] {
			level[c] = min(next, 6) // takes no level for itself
			continue
		}
		same := i > 0 && c.size == start.size && c.bold == start.bold
		switch {
		case same && c.depth > start.depth:
			// The same type with a longer number.
			level[c] = min(base+c.depth-start.depth, 6)
		default:
			start = c
			base = next
			level[c] = min(base, 6)
		}
		next = max(next, level[c]+1)
	}
	// Numbers that skip a class ("2.1" beside "2" in another type) hold: a
	// deeper number is never above a shallower one.
	for i := 1; i < len(classes); i++ {
		for j := range i {
			if a, b := classes[j], classes[i]; a.depth > 0 && b.depth > a.depth && level[b] <= level[a] {
				level[b] = min(level[a]+1, 6)
			}
		}
	}
	// No class is more than one below everything that it follows.
	for _, c := range classes {
		above, before := 0, 0
		for i := range all {
			if all[i].class == c {
				above = max(above, before)
			}
			before = level[all[i].class]
		}
		level[c] = min(level[c], above+1)
	}
	if tagged {
		// Tagged pages have levels already; these come after them.
		return
	}
	for i := range all {
		l, ok := level[all[i].class]
		if !ok {
			l = 6
		}
		set(results, &all[i], l)
	}
}

// rareClasses are those that come on one page only of a long document, such as
// the type of a cover. If they had levels of their own there would be none left
// for the text.
func rareClasses(all []candidate, pages int) map[class]bool {
	if pages < 4 {
		return nil
	}
	rare := map[class]bool{}
	page := map[class]int{}
	for i := range all {
		c := &all[i]
		if p, ok := page[c.class]; !ok {
			page[c.class] = c.result
			rare[c.class] = true
		} else if p != c.result {
			rare[c.class] = false
		}
	}
	return rare
}

// topOutlined is the most important class among those of outline level 1.
func topOutlined(all []candidate) class {
	best := class{size: -1}
	for i := range all {
		if c := &all[i]; c.level == 1 && (best.size < 0 || c.class.before(best) < 0) {
			best = c.class
		}
	}
	return best
}

// titlePage makes the most important heading of a title page the highest.
func titlePage(all []candidate, results []*Result) {
	if len(results) == 0 || results[0].Number > 1 || results[0].Chars > 600 || len(results) < 3 {
		return
	}
	best := -1
	for i := range all {
		if all[i].result != 0 {
			break
		}
		if best < 0 || all[i].class.before(all[best].class) < 0 {
			best = i
		}
	}
	if best >= 0 {
		results[0].Blocks[all[best].block].Level = 1
	}
}

func set(results []*Result, c *candidate, level int) {
	b := &results[c.result].Blocks[c.block]
	if b.Kind == Item && b.Marker != "" {
		// A numbered heading that looked like an item.
		b.Spans = append([]Span{{Text: b.Marker + " "}}, b.Spans...)
		b.Marker = ""
	}
	b.Kind, b.Level = Heading, min(max(level, 1), 6)
	flatten(b)
}

// flatten takes the line breaks out of a heading.
func flatten(b *Block) {
	for i := range b.Spans {
		if s := &b.Spans[i]; strings.IndexByte(s.Text, '\n') >= 0 {
			s.Text = strings.ReplaceAll(s.Text, "\n", " ")
		}
	}
}

// chapterOnly says whether a heading is but the number of a chapter, with the
// title to follow.
func chapterOnly(s string) bool {
	head, rest, ok := strings.Cut(strings.TrimSpace(s), " ")
	if !ok || strings.ContainsRune(rest, ' ') {
		return false
	}
	switch strings.ToLower(head) {
	case "chapter", "part", "appendix", "kapitel", "teil", "anhang", "chapitre", "capítulo", "capitolo":
		rest = strings.TrimRight(rest, ".:")
		return isNumeric(rest) || romanValue(strings.ToLower(rest)) > 0 || len(rest) == 1
	}
	return false
}

// joinHeadings joins the lines of one title that were taken for two.
func joinHeadings(results []*Result) {
	for _, res := range results {
		n := 0
		for i := range res.Blocks {
			b := &res.Blocks[i]
			if n > 0 {
				a := &res.Blocks[n-1]
				if a.Kind == Heading && b.Kind == Heading && a.Clue.Outline == 0 && len(a.Spans) == 1 && chapterOnly(a.Spans[0].Text) && b.Clue.Box.Y0 > a.Clue.Box.Y0 {
					a.Spans[0].Text += " "
					a.Spans = append(a.Spans, b.Spans...)
					a.Level, a.Clue = b.Level, b.Clue
					continue
				}
				if a.Kind == Heading && b.Kind == Heading && a.Level == b.Level && a.Clue.Outline == 0 && b.Clue.Outline == 0 &&
					a.Clue.Tagged <= 0 && b.Clue.Tagged <= 0 && a.Clue.Size == b.Clue.Size && a.Clue.Bold == b.Clue.Bold &&
					b.Clue.Box.Y0 > a.Clue.Box.Y0 && b.Clue.Box.Y0-a.Clue.Box.Y1 < 0.9*b.Clue.Size && len(a.Spans) > 0 {
					if _, numbered := numberDepth(b.text()); !numbered && a.Clue.Chars+b.Clue.Chars < 240 {
						a.Spans[len(a.Spans)-1].Text += " "
						a.Spans = append(a.Spans, b.Spans...)
						a.Clue.Box.Y1 = b.Clue.Box.Y1
						a.Clue.Chars += b.Clue.Chars
						continue
					}
				}
			}
			if n != i {
				res.Blocks[n] = *b
			}
			n++
		}
		clear(res.Blocks[n:])
		res.Blocks = res.Blocks[:n]
	}
}
