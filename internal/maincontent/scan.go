package maincontent

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"sift.build/sift/internal/dom"
	"sift.build/sift/internal/normalize"
)

// A Block is the longest run of text and inline elements under one block
// element, or one of the parts that blank lines divide it into.
type Block struct {
	First, Last *html.Node // the first and the last node of the run, siblings

	elem  int32 // the element around it
	kinds kinds // what the classes of its inline elements say

	words  int32 // of these, and letters of Chinese or Japanese by twos
	chars  int32 // without white space
	linked int32 // words inside links
	strong int32 // words in bold
	code   int32
	links  int32
	images int32
	stops  int32 // marks that end or divide sentences
	commas int32
	ends   int32 // marks that end sentences
	digits int32 // characters
	upper  int32
	wide   int32 // characters beyond ASCII
	bars   int32 // | » › / • between words
	money  int32 // signs of a currency
	caps   int32 // words that begin with a capital letter
	first  rune  // the first and the last character that are not white space
	last   rune

	lex    [lexCount]uint16 // words of each category of the lexicon
	title  int32            // words that the title has too
	about  int32            // pairs of words that the description has too
	told   int32            // pairs of words that structured data has as the page's text
	same   uint64           // hash of its words
	prior  uint32           // the word before, while it is read
	pairs  int32
	nwords int32   // its words as they stand
	says   float32 // score of its first words
	heads  float32 // and as those of a heading
}

// Words is the length of the block, letters of Chinese or Japanese counted by twos.
func (b *Block) Words() int { return int(b.words) }

// isLong says whether the block reads like running text.
func (b *Block) isLong() bool { return b.words >= longWords && b.linked*3 < b.words }

// longWords is how many words running text has at least.
const longWords = 15

// An element is one block element, or an inline one with block elements inside.
type element struct {
	node     *html.Node
	parent   int32
	end      int32 // the first element that is not inside
	depth    int32
	from, to int32 // its blocks
	kinds    kinds
	sig      uint32 // of its tag and classes
	path     uint32 // of the sigs of it and two elements around it
	children int32
	twins    int32 // its siblings with the same sig, itself included
	order    int32 // its place among them
	says     nameScore
	chosen   bool // by rules
}

// A Page is a page cut into blocks.
type Page struct {
	Blocks   []Block
	elements []element
	hints    Hints
	about    hints
	sums     []sums // sums[i] is of the blocks before the i-th
	root     int32  // what the rules take for the part with the content
	model    *Model
	tokens   *tokens
}

// sums are added over blocks.
type sums struct {
	words, linked, long, links, images, heads, paras, stops, shorts, chosen int32
	lex                                                                     [lexCount]int32
}

// Scan cuts a page in normal form into blocks, which m is to choose from. A nil
// model is the one that the program carries.
func Scan(body *html.Node, h Hints, m *Model) *Page {
	if m == nil {
		m = builtin()
	}
	return scan(body, h, m, nil)
}

func scan(body *html.Node, h Hints, m *Model, t *tokens) *Page {
	p := &Page{hints: h, model: m, tokens: t}
	p.about.read(&h)
	s := scanner{page: p, mixed: mixedElements(body)}
	s.walk(body)
	p.add()
	return p
}

// mixedElements lists inline elements that hold block elements.
func mixedElements(body *html.Node) map[*html.Node]bool {
	var mixed map[*html.Node]bool
	for n := body; n != nil; n = dom.Next(n, body) {
		if n == body || !normalize.IsBlock(n) {
			continue
		}
		for a := n.Parent; a != nil && a != body && !normalize.IsBlock(a) && !mixed[a]; a = a.Parent {
			if mixed == nil {
				mixed = map[*html.Node]bool{}
			}
			mixed[a] = true
		}
	}
	return mixed
}

// scanner is one walk over a page.
type scanner struct {
	page   *Page
	mixed  map[*html.Node]bool
	elem   int32
	top    *html.Node // the child of the element that is being read
	open   bool       // the last block takes more
	breaks int        // line breaks since the last text
	link   int        // links, bold and code elements around
	strong int
	code   int
	names  []uint32 // words of the names of one element
}

func (s *scanner) name(word uint32) { s.names = append(s.names, word) }

func (s *scanner) walk(body *html.Node) {
	s.elem = -1
	n := body
	for {
		into := true
		switch {
		case n.Type == html.TextNode:
			s.text(n.Data)
		case n.Type != html.ElementNode:
			into = false
		case n == body || normalize.IsBlock(n) || s.mixed[n]:
			s.enterBlock(n)
		default:
			into = s.enterInline(n)
		}
		if into && n.FirstChild != nil {
			n = n.FirstChild
			if s.elem >= 0 && n.Parent == s.page.elements[s.elem].node {
				s.top = n
			}
			continue
		}
		for {
			s.leave(n)
			if n == body {
				return
			}
			if n.NextSibling != nil {
				n = n.NextSibling
				if n.Parent == s.page.elements[s.elem].node {
					s.top = n
				}
				break
			}
			n = n.Parent
		}
	}
}

func (s *scanner) enterBlock(n *html.Node) {
	s.open, s.breaks = false, 0
	p := s.page
	if n.DataAtom == atom.A {
		s.link++
	}
	e := element{node: n, parent: s.elem, from: int32(len(p.Blocks)), twins: 1}
	s.names = s.names[:0]
	e.chosen = s.isChosen(n)
	e.kinds, e.sig = readNames(n, s.name)
	e.path = e.sig
	s.name(hashOf(n.Data))
	e.says = p.weigh(s.names, s.elem)
	if p.tokens != nil {
		p.tokens.elements = append(p.tokens.elements, slices.Clone(s.names))
	}
	if s.elem >= 0 {
		up := &p.elements[s.elem]
		up.children++
		e.depth = up.depth + 1
		e.path = e.path*31 + up.sig
		if up.parent >= 0 {
			e.path = e.path*31 + p.elements[up.parent].sig
		}
	}
	p.elements = append(p.elements, e)
	s.elem = int32(len(p.elements) - 1)
	if n == p.hints.Rules.Root {
		p.root = s.elem
	}
}

// isChosen says whether the rules keep the element that is entered.
func (s *scanner) isChosen(n *html.Node) bool {
	r := &s.page.hints.Rules
	switch {
	case r.Dropped[n]:
		return false
	case n == r.Root || n == r.Lead:
		return true
	case s.elem < 0:
		return r.Root == nil
	}
	return s.page.elements[s.elem].chosen
}

func (s *scanner) enterInline(n *html.Node) bool {
	switch n.DataAtom {
	case atom.A:
		s.link++
		if b := s.block(); b != nil {
			b.links++
		}
	case atom.Strong:
		s.strong++
	case atom.Code:
		s.code++
	case atom.Img:
		b := s.block()
		b.images++
		b.Last = s.top
	case atom.Br:
		s.breaks++
		if s.breaks > 1 && n == s.top {
			s.open = false
		}
		return false
	}
	if len(n.Attr) > 0 {
		if k, _ := readNames(n, nil); k != 0 {
			s.block().kinds |= k
		}
	}
	return true
}

func (s *scanner) leave(n *html.Node) {
	if n.Type != html.ElementNode {
		return
	}
	switch n.DataAtom {
	case atom.A:
		s.link--
	case atom.Strong:
		s.strong--
	case atom.Code:
		s.code--
	}
	p := s.page
	if s.elem >= 0 && p.elements[s.elem].node == n {
		e := &p.elements[s.elem]
		e.end, e.to = int32(len(p.elements)), int32(len(p.Blocks))
		s.open, s.breaks = false, 0
		s.elem = e.parent
		s.top = n
	}
}

// block gives the block that is being read, a new one where there is none.
func (s *scanner) block() *Block {
	p := s.page
	if !s.open {
		p.Blocks = append(p.Blocks, Block{elem: s.elem, First: s.top, Last: s.top, same: 14695981039346656037})
		s.open = true
	}
	return &p.Blocks[len(p.Blocks)-1]
}

// text reads one text node.
func (s *scanner) text(data string) {
	i := 0
	for i < len(data) && data[i] <= ' ' {
		i++
	}
	if i == len(data) {
		return
	}
	s.breaks = 0
	b := s.block()
	b.Last = s.top
	h, n, capital := uint32(0), 0, false
	wide := 0 // letters of Chinese and Japanese in the word
	word := func() {
		if n == 0 {
			return
		}
		w := int32(1)
		if wide > 1 {
			w = int32(wide+1) / 2
		}
		b.words += w
		if s.link > 0 {
			b.linked += w
		}
		if s.strong > 0 {
			b.strong += w
		}
		if s.code > 0 {
			b.code += w
		}
		if capital {
			b.caps++
		}
		s.page.word(b, h)
		n, wide, capital = 0, 0, false
	}
	for i < len(data) {
		c := rune(data[i])
		size := 1
		if c >= utf8.RuneSelf {
			c, size = utf8.DecodeRuneInString(data[i:])
		}
		i += size
		letter := false
		switch {
		case c >= 'a' && c <= 'z':
			letter = true
		case c <= ' ':
			word()
			continue
		case c >= 'A' && c <= 'Z':
			letter = true
			b.upper++
			if n == 0 {
				capital = true
			}
			c += 'a' - 'A'
		case c >= '0' && c <= '9':
			letter = true
			b.digits++
		case c == '_':
			letter = true
		case c < utf8.RuneSelf:
			switch c {
			case '.', '!', '?':
				if i == len(data) || data[i] <= ' ' || data[i] == '"' || data[i] >= utf8.RuneSelf {
					b.stops++
					b.ends++
				}
			case ',', ';':
				b.stops++
				b.commas++
			case '|', '/', '>':
				b.bars++
			case '$':
				b.money++
			}
		default:
			b.wide++
			switch {
			case unicode.IsLetter(c) || unicode.IsNumber(c) || unicode.Is(unicode.Mn, c):
				letter = true
				if unicode.IsUpper(c) {
					b.upper++
					if n == 0 {
						capital = true
					}
					c = unicode.ToLower(c)
				}
				if isWide(c) {
					wide++
				}
			case c == '。' || c == '！' || c == '？' || c == '।' || c == '؟':
				b.stops++
				b.ends++
			case c == '，' || c == '、' || c == '،':
				b.stops++
				b.commas++
			case c == '»' || c == '›' || c == '•' || c == '·':
				b.bars++
			case c == '€' || c == '£' || c == '¥' || c == '₹':
				b.money++
			}
		}
		b.chars++
		if b.first == 0 {
			if b.first = c; size == 1 {
				b.first = rune(data[i-1]) // as it stands, not in small letters
			}
		}
		b.last = c
		if letter {
			if n == 0 {
				h = fnvStart
			}
			h = (h ^ uint32(c)) * fnvPrime
			n++
		} else {
			word()
		}
	}
	word()
}

const (
	fnvStart uint32 = 2166136261
	fnvPrime uint32 = 16777619
)

// isWide says whether a letter is of a script without spaces.
func isWide(c rune) bool {
	return c >= 0x2e80 && (c < 0xa4d0 || c >= 0xf900 && c < 0xfb00 || c >= 0x20000)
}

// add makes the sums, and counts twins.
func (p *Page) add() {
	p.sums = make([]sums, len(p.Blocks)+1)
	for i := range p.Blocks {
		b := &p.Blocks[i]
		s := &p.sums[i+1]
		*s = p.sums[i]
		s.words += b.words
		s.linked += b.linked
		s.links += b.links
		s.images += b.images
		s.stops += b.stops
		if b.isLong() {
			s.long += b.words
		}
		if p.elements[b.elem].chosen {
			s.chosen += b.words
		}
		if b.words > 0 && b.words < 5 {
			s.shorts++
		}
		switch n := p.elements[b.elem].node; {
		case normalize.IsHeading(n):
			s.heads++
		case n.DataAtom == atom.P:
			s.paras++
		}
		for k := range s.lex {
			s.lex[k] += int32(b.lex[k])
		}
	}
	type key struct {
		parent int32
		sig    uint32
	}
	count := make(map[key]int32, len(p.elements))
	for i := range p.elements {
		e := &p.elements[i]
		k := key{e.parent, e.sig}
		e.order = count[k]
		count[k]++
	}
	for i := range p.elements {
		e := &p.elements[i]
		e.twins = count[key{e.parent, e.sig}]
	}
}

// within adds up the blocks of an element.
func (p *Page) within(e int32) (words, linked, long int32) {
	a, b := &p.sums[p.elements[e].from], &p.sums[p.elements[e].to]
	return b.words - a.words, b.linked - a.linked, b.long - a.long
}

// Text gives the text of the block, without marks.
func (b *Block) Text() string {
	var s strings.Builder
	for top := b.First; top != nil; top = top.NextSibling {
		for n := top; n != nil; n = dom.Next(n, top) {
			switch {
			case n.Type == html.TextNode:
				s.WriteString(n.Data)
			case n.DataAtom == atom.Br:
				s.WriteByte('\n')
			}
		}
		if top == b.Last {
			break
		}
	}
	return s.String()
}

// Words is how many words the page has, letters of Chinese or Japanese counted
// by twos.
func (p *Page) Words() int { return int(p.sums[len(p.Blocks)].words) }

// Path names the elements around a block, outermost first, up to six, each with
// its first class.
func (p *Page) Path(i int) string {
	const most = 6
	var names []string
	for at := p.Blocks[i].elem; at > 0 && len(names) < most; at = p.elements[at].parent {
		n := p.elements[at].node
		name := n.Data
		if classes := strings.Fields(dom.Attr(n, "class")); len(classes) > 0 {
			name += "." + classes[0]
		}
		names = append(names, name)
	}
	slices.Reverse(names)
	return strings.Join(names, " > ")
}
