package maincontent

import (
	"math"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"sift.build/sift/internal/dom"
	"sift.build/sift/internal/normalize"
)

// row collects the features of one block, or their names.
type row struct {
	values []float32
	names  *[]string
}

func (r *row) add(name string, v float32) {
	if r.names != nil {
		*r.names = append(*r.names, name)
	}
	r.values = append(r.values, v)
}

func (r *row) add2(group, name string, v float32) {
	if r.names != nil {
		*r.names = append(*r.names, group+" "+name)
	}
	r.values = append(r.values, v)
}

func (r *row) flag(name string, v bool) {
	if v {
		r.add(name, 1)
	} else {
		r.add(name, 0)
	}
}

// share is a of b, and 0 of nothing.
func share[T int32 | float32 | int](a, b T) float32 {
	if b == 0 {
		return 0
	}
	return float32(a) / float32(b)
}

// logOf grows slowly with a size.
func logOf[T int32 | int | float32](n T) float32 { return float32(math.Log1p(float64(n))) }

// tagGroups are the kinds of elements that are told apart.
const (
	tagNav = iota
	tagHeader
	tagFooter
	tagAside
	tagMain
	tagArticle
	tagSection
	tagForm
	tagTable
	tagList
	tagItem
	tagQuote
	tagFigure
	tagDetails
	tagTerms
	tagLink
	tagCell
	tagHeading
	tagParagraph
	tagPre
	tagDiv
	tagOther
	tagCount
)

var tagNames = [tagCount]string{"nav", "header", "footer", "aside", "main", "article", "section", "form", "table", "list", "item", "quote",
	"figure", "details", "terms", "link", "cell", "heading", "paragraph", "pre", "div", "other"}

func tagGroup(a atom.Atom) int {
	switch a {
	case atom.Nav:
		return tagNav
	case atom.Header:
		return tagHeader
	case atom.Footer:
		return tagFooter
	case atom.Aside:
		return tagAside
	case atom.Main:
		return tagMain
	case atom.Article:
		return tagArticle
	case atom.Section:
		return tagSection
	case atom.Form, atom.Fieldset:
		return tagForm
	case atom.Table:
		return tagTable
	case atom.Ul, atom.Ol:
		return tagList
	case atom.Li:
		return tagItem
	case atom.Blockquote:
		return tagQuote
	case atom.Figure, atom.Figcaption:
		return tagFigure
	case atom.Details, atom.Summary:
		return tagDetails
	case atom.Dl, atom.Dt, atom.Dd:
		return tagTerms
	case atom.A:
		return tagLink
	case atom.Td, atom.Th:
		return tagCell
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		return tagHeading
	case atom.P:
		return tagParagraph
	case atom.Pre:
		return tagPre
	case atom.Div:
		return tagDiv
	}
	return tagOther
}

// far is the distance to what is nowhere around.
const far = 30

// around says how many levels up the nearest element of each kind is.
type around struct {
	kinds [kindCount]uint8
	tags  [tagCount]uint8
	near  [tagCount]int32 // the element
}

// group is what is known of the blocks whose elements are built alike.
type group struct{ blocks, words, linked, long, chosen int32 }

// survey is what is worked out once for a page.
type survey struct {
	page   *Page
	around []around // of the element at each depth on the way to the last one asked for
	path   []int32  // those elements
	groups map[uint32]*group
	same   map[uint64]int32
	total  sums
	holds  [3]int32 // the smallest elements with 50, 75 and 90 of 100 long words
	best   int32    // the element that a scoring of paragraphs picks
	title  int32    // element of the first h1, or -1
	titleB int32    // its block
	heads  []int32  // for each block the heading block before it, or -1
}

// levels is how many elements around a block are described.
const levels = 4

func (p *Page) survey() *survey {
	s := &survey{page: p, title: -1, titleB: -1, groups: map[uint32]*group{}, same: make(map[uint64]int32, len(p.Blocks))}
	s.total = p.sums[len(p.Blocks)]
	for i := range p.elements {
		if e := &p.elements[i]; e.node.DataAtom == atom.H1 && e.to > e.from {
			s.title, s.titleB = int32(i), e.from
			break
		}
	}
	head := int32(-1)
	s.heads = make([]int32, len(p.Blocks))
	for i := range p.Blocks {
		b := &p.Blocks[i]
		e := &p.elements[b.elem]
		g := s.groups[e.path]
		if g == nil {
			g = &group{}
			s.groups[e.path] = g
		}
		g.blocks++
		g.words += b.words
		g.linked += b.linked
		if b.isLong() {
			g.long += b.words
		}
		if e.chosen {
			g.chosen += b.words
		}
		s.same[b.same]++
		s.heads[i] = head
		if normalize.IsHeading(e.node) {
			head = int32(i)
		}
	}
	for k, part := range []int32{50, 75, 90} {
		s.holds[k] = s.holder(part)
	}
	s.best = s.candidate()
	return s
}

// lookAround gives what is around an element. It is quick when elements are
// asked for in the order of the page.
func (s *survey) lookAround(i int32) *around {
	e := &s.page.elements[i]
	d := int(e.depth)
	if len(s.path) > d && s.path[d] == i {
		return &s.around[d]
	}
	for len(s.path) <= d {
		s.path, s.around = append(s.path, -1), append(s.around, around{})
	}
	if e.parent < 0 {
		s.around[0] = nothingAround
	} else {
		up := s.lookAround(e.parent)
		a := &s.around[d]
		*a = *up
		for k := range a.kinds {
			a.kinds[k] = min(a.kinds[k]+1, far)
		}
		for k := range a.tags {
			a.tags[k] = min(a.tags[k]+1, far)
		}
	}
	s.path[d] = i
	a := &s.around[d]
	for k := range a.kinds {
		if e.kinds>>k&1 != 0 {
			a.kinds[k] = 0
		}
	}
	g := tagGroup(e.node.DataAtom)
	a.tags[g], a.near[g] = 0, i
	return a
}

var nothingAround = func() (a around) {
	for k := range a.kinds {
		a.kinds[k] = far
	}
	for k := range a.tags {
		a.tags[k], a.near[k] = far, -1
	}
	return a
}()

// wider gives the elements around an element that hold more blocks than the
// one before, and the page where there are no more.
func (p *Page) wider(i int32) (out [levels]int32) {
	size := p.elements[i].to - p.elements[i].from
	n := 0
	for up := p.elements[i].parent; up >= 0 && n < levels; up = p.elements[up].parent {
		if held := p.elements[up].to - p.elements[up].from; held > size {
			out[n], size = up, held
			n++
		}
	}
	return out
}

// holder is the smallest element with part of 100 of the long words.
func (s *survey) holder(part int32) int32 {
	p := s.page
	want := s.total.long * part / 100
	i := int32(0)
	for {
		inner := int32(-1)
		for j := i + 1; j < p.elements[i].end; j = p.elements[j].end {
			if _, _, long := p.within(j); long >= want {
				inner = j
				break
			}
		}
		if inner < 0 || want == 0 {
			return i
		}
		i = inner
	}
}

// candidate scores the elements around paragraphs by their length and commas,
// with half for the next and a third for the one after, as Readability does,
// and gives the best.
func (s *survey) candidate() int32 {
	p := s.page
	score := make([]float32, len(p.elements))
	for i := range p.Blocks {
		b := &p.Blocks[i]
		if b.words < 6 {
			continue
		}
		v := 1 + float32(b.commas) + min(float32(b.chars)/100, 3)
		v *= 1 - share(b.linked, b.words)
		up, part := p.elements[b.elem].parent, float32(1)
		for range 3 {
			if up < 0 {
				break
			}
			score[up] += v * part
			part /= 2
			up = p.elements[up].parent
		}
	}
	best, top := int32(0), float32(0)
	for i := range score {
		words, linked, _ := p.within(int32(i))
		v := score[i] * (1 - share(linked, words))
		if k := p.elements[i].kinds; k&(kindNav|kindFooter|kindSide|kindRelated|kindPromo|kindDialog|kindComment) != 0 {
			v /= 2
		}
		if v > top {
			best, top = int32(i), v
		}
	}
	return best
}

// meet gives the smallest element around both.
func (p *Page) meet(a, b int32) int32 {
	for a != b {
		if a < b {
			a, b = b, a
		}
		a = p.elements[a].parent // the later one is not around the earlier
	}
	return a
}

// describe gives the features of the i-th block.
func (s *survey) describe(i int, r *row) {
	p := s.page
	b := &p.Blocks[i]
	e := &p.elements[b.elem]
	a := s.lookAround(b.elem)
	n := len(p.Blocks)

	// The text itself.
	r.add("words", float32(b.words))
	r.add("characters a word", share(b.chars, b.words))
	r.add("share of links", share(b.linked, b.words))
	r.add("links", float32(b.links))
	r.add("share of bold", share(b.strong, b.words))
	r.add("share of code", share(b.code, b.words))
	r.add("images", float32(b.images))
	r.add("sentence marks a word", share(b.stops, b.words))
	r.add("sentence ends", float32(b.ends))
	r.add("commas", float32(b.commas))
	r.add("share of digits", share(b.digits, b.chars))
	r.add("share of capitals", share(b.upper, b.chars))
	r.add("share of capital words", share(b.caps, b.words))
	r.add("share beyond ASCII", share(b.wide, b.chars))
	r.add("dividers", float32(b.bars))
	r.add("money", float32(b.money))
	r.flag("ends like a sentence", b.last == '.' || b.last == '!' || b.last == '?' || b.last == '。' || b.last == '"' || b.last == '”')
	r.flag("ends with a colon", b.last == ':')
	r.flag("begins small", b.first >= 'a' && b.first <= 'z')
	r.flag("begins with a digit", b.first >= '0' && b.first <= '9')
	r.flag("copyright sign", b.first == '©')
	r.add("times on the page", float32(s.same[b.same]))
	r.add("title words", share(b.title, b.words))
	r.add("of the title", share(b.title, int32(len(p.about.title))))
	r.add("description pairs", share(b.about, b.pairs))
	r.add("structured text pairs", share(b.told, b.pairs))
	for k := range b.lex {
		r.add2("lexicon", lexNames[k], share(int32(b.lex[k]), b.words))
	}
	r.add("score of words", b.says)
	if h := s.heads[i]; h >= 0 {
		r.add("score of heading", p.Blocks[h].heads)
	} else {
		r.add("score of heading", 0)
	}
	r.add("score of own names", e.says.own)
	if e.parent >= 0 {
		up := &p.elements[e.parent]
		r.add("score of names around", up.says.up)
		if up.parent >= 0 {
			r.add("score of names further out", p.elements[up.parent].says.far)
		} else {
			r.add("score of names further out", 0)
		}
	} else {
		r.add("score of names around", 0)
		r.add("score of names further out", 0)
	}

	// Tags and names.
	r.add("tag", float32(tagGroup(e.node.DataAtom)))
	r.add("heading level", float32(dom.HeadingLevel(e.node)))
	for k := range a.tags {
		if k == tagParagraph || k == tagDiv || k == tagOther || k == tagPre {
			continue
		}
		r.add2("levels to", tagNames[k], float32(a.tags[k]))
	}
	for k := range a.kinds {
		d := a.kinds[k]
		if b.kinds>>k&1 != 0 {
			d = 0
		}
		r.add2("levels to name", kindNames[k], float32(d))
	}
	for _, k := range [...]int{tagMain, tagArticle, tagSection, tagList, tagTable, tagItem} {
		var words, long float32
		if at := a.near[k]; at >= 0 {
			w, _, l := p.within(at)
			words, long = share(w, s.total.words), share(l, s.total.long)
		}
		r.add2("page's share in", tagNames[k], words)
		r.add2("page's long share in", tagNames[k], long)
	}

	r.flag("chosen by rules", e.chosen)
	r.add("chosen before", share(p.sums[i].chosen, s.total.chosen))

	// The heading above.
	h := s.heads[i]
	if h >= 0 {
		hb := &p.Blocks[h]
		r.add("heading level above", float32(dom.HeadingLevel(p.elements[hb.elem].node)))
		r.add("blocks since heading", float32(i-int(h)))
		r.add("words since heading", float32(p.sums[i].words-p.sums[h+1].words))
		r.add("words of heading", float32(hb.words))
		r.add("levels up from heading", float32(e.depth-p.elements[p.meet(b.elem, hb.elem)].depth))
		r.add("links of heading", share(hb.linked, hb.words))
		for k := range hb.lex {
			if k == lexCommon || k == lexPerson {
				continue
			}
			r.add2("heading's lexicon", lexNames[k], share(int32(hb.lex[k]), hb.words))
		}
	} else {
		r.add("heading level above", 0)
		r.add("blocks since heading", float32(i+1))
		r.add("words since heading", float32(p.sums[i].words))
		r.add("words of heading", 0)
		r.add("levels up from heading", far)
		r.add("links of heading", 0)
		for k := range lexCount {
			if k == lexCommon || k == lexPerson {
				continue
			}
			r.add2("heading's lexicon", lexNames[k], 0)
		}
	}
	r.add("headings before", float32(p.sums[i].heads))
	if s.title >= 0 {
		m := p.meet(b.elem, s.title)
		r.add("levels to title", float32(e.depth-p.elements[m].depth))
		r.add("levels of title to it", float32(p.elements[s.title].depth-p.elements[m].depth))
		r.add("blocks after title", float32(i-int(s.titleB)))
		r.add("words after title", float32(p.sums[i].words-p.sums[s.titleB].words))
		w, _, _ := p.within(m)
		r.add("page's share with title", share(w, s.total.words))
	} else {
		r.add("levels to title", -1)
		r.add("levels of title to it", -1)
		r.add("blocks after title", -9999)
		r.add("words after title", -9999)
		r.add("page's share with title", 1)
	}

	// Position.
	r.add("place", share(i, n))
	r.add("words before", share(p.sums[i].words, s.total.words))
	r.add("long words before", share(p.sums[i].long, s.total.long))
	r.add("long words before it", float32(p.sums[i].long))
	r.add("long words behind it", float32(s.total.long-p.sums[i+1].long))
	r.add("depth", float32(e.depth))

	// The elements around, and those built alike.
	s.describeElement("own", b.elem, r)
	if e.parent >= 0 {
		s.describeElement("parent", e.parent, r)
	} else {
		s.describeElement("parent", b.elem, r)
	}
	for k, d := range p.wider(b.elem) {
		s.describeElement(levelNames[k], d, r)
		if k < 2 {
			from, to := &p.sums[p.elements[d].from], &p.sums[p.elements[d].to]
			for l := range lexCount {
				r.add2(levelLexicons[k], lexNames[l], share(to.lex[l]-from.lex[l], to.words-from.words))
			}
		}
	}
	g := s.groups[e.path]
	r.add("alike blocks", float32(g.blocks))
	r.add("alike share", share(g.words, s.total.words))
	r.add("alike long share", share(g.long, s.total.long))
	r.add("alike links", share(g.linked, g.words))
	r.add("alike mean words", share(g.words, g.blocks))
	r.add("alike chosen", share(g.chosen, g.words))

	// Against where most of the running text is.
	for k, c := range [...]int32{s.holds[0], s.holds[1], s.holds[2], s.best, p.root} {
		ce := &p.elements[c]
		m := p.meet(b.elem, c)
		r.add2(candidateNames[k], "levels up to it", float32(e.depth-p.elements[m].depth))
		r.add2(candidateNames[k], "levels down to it", float32(ce.depth-p.elements[m].depth))
		var off float32
		switch {
		case int32(i) < ce.from:
			off = -float32(p.sums[ce.from].words - p.sums[i].words)
		case int32(i) >= ce.to:
			off = float32(p.sums[i+1].words - p.sums[ce.to].words)
		}
		r.add2(candidateNames[k], "words away", off)
		words, linked, _ := p.within(c)
		r.add2(candidateNames[k], "share", share(words, s.total.words))
		r.add2(candidateNames[k], "links", share(linked, words))
	}

	// Neighbours.
	for _, d := range [...]int{-3, -2, -1, 1, 2, 3} {
		j := i + d
		if j < 0 || j >= n {
			r.add("neighbour words", -1)
			r.add("neighbour links", -1)
			r.add("neighbour alike", -1)
			r.add("neighbour common", -1)
			r.add("neighbour levels", far)
			r.add("neighbour chosen", -1)
			continue
		}
		o := &p.Blocks[j]
		r.add("neighbour words", float32(o.words))
		r.add("neighbour links", share(o.linked, o.words))
		r.flag("neighbour alike", p.elements[o.elem].path == e.path)
		r.add("neighbour common", share(int32(o.lex[lexCommon]), o.words))
		r.add("neighbour levels", float32(e.depth-p.elements[p.meet(b.elem, o.elem)].depth))
		r.flag("neighbour chosen", p.elements[o.elem].chosen)
	}
	for _, d := range [...]int{5, 12} {
		from, to := &p.sums[max(i-d, 0)], &p.sums[i]
		r.add("words close before", float32(to.words-from.words))
		r.add("long close before", share(to.long-from.long, to.words-from.words))
		r.add("links close before", share(to.linked-from.linked, to.words-from.words))
		from, to = &p.sums[i+1], &p.sums[min(i+1+d, n)]
		r.add("words close after", float32(to.words-from.words))
		r.add("long close after", share(to.long-from.long, to.words-from.words))
		r.add("links close after", share(to.linked-from.linked, to.words-from.words))
	}

	s.describePage(r)
}

var levelNames = [levels]string{"first", "second", "third", "fourth"}
var levelLexicons = [2]string{"first's lexicon", "second's lexicon"}
var candidateNames = [...]string{"half", "three quarters", "nine tenths", "best", "chosen part"}

// describeElement gives the features of an element around a block.
func (s *survey) describeElement(name string, i int32, r *row) {
	p := s.page
	e := &p.elements[i]
	from, to := &p.sums[e.from], &p.sums[e.to]
	blocks, words := e.to-e.from, to.words-from.words
	r.add2(name, "blocks", float32(blocks))
	r.add2(name, "words", float32(words))
	r.add2(name, "share", share(words, s.total.words))
	r.add2(name, "links", share(to.linked-from.linked, words))
	r.add2(name, "long", share(to.long-from.long, words))
	r.add2(name, "long share", share(to.long-from.long, s.total.long))
	r.add2(name, "mean words", share(words, blocks))
	r.add2(name, "link count", share(to.links-from.links, blocks))
	r.add2(name, "images", share(to.images-from.images, blocks))
	r.add2(name, "headings", share(to.heads-from.heads, blocks))
	r.add2(name, "paragraphs", share(to.paras-from.paras, blocks))
	r.add2(name, "short", share(to.shorts-from.shorts, blocks))
	r.add2(name, "stops", share(to.stops-from.stops, words))
	r.add2(name, "chosen", share(to.chosen-from.chosen, words))
	r.add2(name, "children", float32(e.children))
	r.add2(name, "twins", float32(e.twins))
	r.add2(name, "order", float32(e.order))
	r.add2(name, "tag", float32(tagGroup(e.node.DataAtom)))
}

// describePage gives the features that all blocks share.
func (s *survey) describePage(r *row) {
	p := s.page
	n := int32(len(p.Blocks))
	r.add("page words", logOf(s.total.words))
	r.add("page blocks", logOf(n))
	r.add("page links", share(s.total.linked, s.total.words))
	r.add("page long", share(s.total.long, s.total.words))
	r.add("page long words", logOf(s.total.long))
	r.add("page headings", share(s.total.heads, n))
	r.add("page paragraphs", share(s.total.paras, n))
	r.add("page images", share(s.total.images, n))
	r.add("page chosen", share(s.total.chosen, s.total.words))
	for k := range lexCount {
		r.add2("page lexicon", lexNames[k], share(s.total.lex[k], s.total.words))
	}
	h := &p.hints
	var groups [16]bool
	for _, t := range h.Types {
		if g := typeGroup(t); g >= 0 {
			groups[g] = true
		}
	}
	for k, name := range typeNames {
		r.flag(name, groups[k])
	}
	r.flag("is a thread", h.Thread)
	r.flag("is a product", h.Product)
	r.flag("og article", h.OpenGraph == "article")
	r.flag("og website", h.OpenGraph == "website")
	r.flag("og product", strings.Contains(h.OpenGraph, "product"))
	r.flag("has structured text", len(p.about.told) > 30)
	var path pathGroup
	depth, digits, longest := 0, 0, 0
	if h.Address != nil {
		for part := range strings.SplitSeq(h.Address.Path, "/") {
			if part == "" {
				continue
			}
			depth++
			hyphens := strings.Count(part, "-") + strings.Count(part, "_")
			longest = max(longest, hyphens)
			for i := range len(part) {
				if part[i] >= '0' && part[i] <= '9' {
					digits++
				}
			}
		}
		eachWord(h.Address.Path, 40, func(w, _ uint32) { path |= pathWords[w] })
		eachWord(h.Address.RawQuery, 20, func(w, _ uint32) { path |= pathWords[w] })
	}
	for k := range pathNames {
		r.flag(pathNames[k], path>>k&1 != 0)
	}
	r.add("address depth", float32(depth))
	r.add("address digits", float32(digits))
	r.add("address hyphens", float32(longest))
}

// Features gives the features of every block, one row after the other, and how
// many there are in a row.
func (p *Page) Features() (values []float32, width int) {
	if len(p.Blocks) == 0 {
		return nil, 0
	}
	s := p.survey()
	r := row{}
	for i := range p.Blocks {
		s.describe(i, &r)
		if i == 0 {
			width = len(r.values)
			all := make([]float32, width, width*len(p.Blocks))
			copy(all, r.values)
			r.values = all
		}
	}
	return r.values, width
}

// FeatureNames names the features in their order.
func FeatureNames() []string {
	p := &Page{model: &Model{}, Blocks: make([]Block, 1), elements: []element{{parent: -1, end: 1, to: 1}}, sums: make([]sums, 2)}
	p.elements[0].node = body()
	var names []string
	r := row{names: &names}
	p.survey().describe(0, &r)
	return names
}

func body() *html.Node { return &html.Node{Type: html.ElementNode, Data: "body", DataAtom: atom.Body} }
