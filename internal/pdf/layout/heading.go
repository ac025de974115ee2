package layout

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

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
