package maincontent

import (
	_ "embed"
	"slices"
	"sync"

	"golang.org/x/net/html/atom"
)

//go:embed model.bin
var modelFile []byte

// builtin is the model that the program carries.
var builtin = sync.OnceValue(func() *Model {
	m, err := ReadModel(modelFile)
	if err != nil {
		panic(err) // the file is part of the program, and a test reads it
	}
	return m
})

// A Choice says which blocks of a page are its content.
type Choice struct {
	Keep  []bool
	Score []float32 // the probability of each
	Cut   float32   // what a block needs
	Why   []Why     // why a block was kept or dropped against its score
	All   bool      // nothing was probable enough, so that the whole page is kept
}

// Why says what overruled a block's score.
type Why uint8

// The reasons.
const (
	WhyScore   Why = iota // nothing did
	WhyTable              // a table is kept or dropped as a whole
	WhyTitle              // the page's title
	WhyPicture            // pictures go with the text around them
	WhyAround             // most of what is around it is kept
	WhyMenu               // a menu is never content
	WhyAside              // it stands beside <main>, which has a text of its own
	WhyAll                // nothing else was left
)

func (w Why) String() string {
	switch w {
	case WhyTable:
		return "as most of its table"
	case WhyTitle:
		return "it is the title"
	case WhyPicture:
		return "as the text around it"
	case WhyAround:
		return "as what is around it"
	case WhyMenu:
		return "it is in a menu"
	case WhyAside:
		return "it is in an aside beside the main part"
	case WhyAll:
		return "nothing was likely enough"
	}
	return ""
}

// Choose says which blocks are the page's content.
func (p *Page) Choose() *Choice {
	c := &Choice{Score: p.model.scores(p), Keep: make([]bool, len(p.Blocks)), Why: make([]Why, len(p.Blocks))}
	c.Cut = cut(p, c.Score)
	for i, q := range c.Score {
		c.Keep[i] = q >= c.Cut && p.Blocks[i].words > 0
	}
	c.menus(p)
	c.asides(p)
	c.fill(p)
	c.beside(p)
	c.title(p)
	c.tables(p)
	c.pictures(p)
	if !slices.Contains(c.Keep, true) {
		for i := range c.Keep {
			c.Keep[i], c.Why[i] = true, WhyAll
		}
		c.All = true
	}
	return c
}

const (
	// The cut of a page is mostly the one that gives the best F1 that can be
	// expected when the probabilities are right; the rest is a fixed one, which
	// keeps it from extremes. Both parts were chosen by cross-validation.
	expectedPart = 0.9
	fixedCut     = 0.3
)

// cut gives the probability that a block needs. The expected F1 of keeping the
// k most probable blocks is twice the expected words of content among them by
// the sum of their words and the expected words of content on the page.
func cut(p *Page, score []float32) float32 {
	order := make([]int32, 0, len(score))
	var content float64
	for i, q := range score {
		if w := p.Blocks[i].words; w > 0 {
			order = append(order, int32(i))
			content += float64(q) * float64(w)
		}
	}
	if len(order) == 0 {
		return fixedCut
	}
	slices.SortStableFunc(order, func(a, b int32) int {
		switch {
		case score[a] > score[b]:
			return -1
		case score[a] < score[b]:
			return 1
		}
		return 0
	})
	best, at := 0.0, score[order[0]]
	var right, kept float64
	for _, i := range order {
		w := float64(p.Blocks[i].words)
		right += float64(score[i]) * w
		kept += w
		if f := 2 * right / (kept + content); f > best {
			best, at = f, score[i]
		}
	}
	return expectedPart*at + (1-expectedPart)*fixedCut
}

// tables keeps or drops a table as a whole, or its columns would not stand
// under each other.
func (c *Choice) tables(p *Page) {
	for i := 0; i < len(p.elements); i++ {
		e := &p.elements[i]
		if e.node.DataAtom != atom.Table {
			continue
		}
		kept, all := int32(0), int32(0)
		for k := e.from; k < e.to; k++ {
			all += p.Blocks[k].words
			if c.Keep[k] {
				kept += p.Blocks[k].words
			}
		}
		keep := kept*2 > all
		for k := e.from; k < e.to; k++ {
			if c.Keep[k] != keep {
				c.Keep[k], c.Why[k] = keep, WhyTable
			}
		}
		i = int(e.end) - 1
	}
}

// pictures keeps blocks without words where most of the words around them are
// kept.
func (c *Choice) pictures(p *Page) {
	kept := c.keptWords(p)
	for i := range p.Blocks {
		if p.Blocks[i].words > 0 || c.Why[i] == WhyTable {
			continue
		}
		for at := p.Blocks[i].elem; at >= 0; at = p.elements[at].parent {
			e := &p.elements[at]
			if words, _, _ := p.within(at); words > 0 {
				if (kept[e.to]-kept[e.from])*2 > words {
					c.Keep[i], c.Why[i] = true, WhyPicture
				}
				break
			}
		}
	}
}

// fill keeps what is likely enough where most of what is around it is kept: a
// listing between paragraphs, a caption, the short items of a list. Trained on
// pages of hundreds of words, the trees take the short parts of short pages for
// less than they are; so what is likely enough depends on how much there is. A
// gap between two kept parts of an element of which nearly all is kept needs
// little: a listing in the middle of a long manual.
func (c *Choice) fill(p *Page) {
	kept := c.keptWords(p)
	content := kept[len(kept)-1]
	x := float64(content) / fillWords
	least := float32(fillLeast + (fillMost-fillLeast)*min(1, x*x))
	for i := range p.Blocks {
		if c.Keep[i] || p.Blocks[i].words == 0 || c.Score[i] < min(least, gapLeast) {
			continue
		}
		for at := p.Blocks[i].elem; at >= 0; at = p.elements[at].parent {
			e := &p.elements[at]
			k := kept[e.to] - kept[e.from]
			if k == 0 {
				if isFurniture(e) {
					break
				}
				continue
			}
			words, _, _ := p.within(at)
			part, gap := float64(k)/float64(words), kept[i] > kept[e.from] && kept[e.to] > kept[i+1] && p.elements[p.Blocks[i].elem].parent == at
			if gap && part >= gapShare || part >= fillShare && c.Score[i] >= least {
				c.Keep[i], c.Why[i] = true, WhyAround
			}
			break
		}
	}
}

const (
	fillLeast = 0.04 // what is likely enough on a page without content
	fillMost  = 0.9  // and on one with fillWords words of it
	fillWords = 600
	fillShare = 0.6 // of the words around that are kept
	gapLeast  = 0.2 // what a gap in a text needs of which
	gapShare  = 0.9 // of the words are kept

	menuLinks   = 0.9  // of a menu's words are in links
	besideLeast = 0.3  // what a block beside a kept one needs
	titleLeast  = 0.05 // what the title needs
	asideWords  = 40   // of <main> are text of its own
)

// isFurniture says that an element's tag or names say that it is no content.
func isFurniture(e *element) bool {
	switch e.node.DataAtom {
	case atom.Nav, atom.Footer, atom.Aside:
		return true
	}
	return e.kinds&(kindNav|kindFooter|kindSide|kindShare|kindRelated|kindPromo|kindDialog) != 0
}

// menus drops what calls itself a menu and holds hardly anything but links.
func (c *Choice) menus(p *Page) {
	for i := 1; i < len(p.elements); i++ {
		e := &p.elements[i]
		if e.node.DataAtom != atom.Nav && e.kinds&kindNav == 0 {
			continue
		}
		words, linked, _ := p.within(int32(i))
		if float64(linked) < menuLinks*float64(words) || words == 0 {
			continue
		}
		for k := e.from; k < e.to; k++ {
			if c.Keep[k] && p.elements[p.Blocks[k].elem].node.DataAtom != atom.H1 {
				c.Keep[k], c.Why[k] = false, WhyMenu
			}
		}
		i = int(e.end) - 1
	}
}

// asides drops what stands in an aside outside of <main>, where that has the
// title and text of its own.
func (c *Choice) asides(p *Page) {
	main := int32(-1)
	for i := range p.elements {
		if e := &p.elements[i]; e.node.DataAtom == atom.Main {
			if main >= 0 {
				return
			}
			main = int32(i)
		}
	}
	if main < 0 {
		return
	}
	m := &p.elements[main]
	words, titled := int32(0), false
	for k := m.from; k < m.to; k++ {
		if c.Keep[k] {
			words += p.Blocks[k].words
		}
		titled = titled || p.elements[p.Blocks[k].elem].node.DataAtom == atom.H1
	}
	if !titled || words < asideWords {
		return
	}
	for i := 1; i < len(p.elements); i++ {
		e := &p.elements[i]
		if e.node.DataAtom != atom.Aside || int32(i) > main && int32(i) < m.end || e.from <= m.from && e.to >= m.to {
			continue
		}
		for k := e.from; k < e.to; k++ {
			if c.Keep[k] {
				c.Keep[k], c.Why[k] = false, WhyAside
			}
		}
		i = int(e.end) - 1
	}
}

// beside keeps a short block that stands directly beside one that is kept, under
// the same element: the line that leads to a table, the one behind a listing.
func (c *Choice) beside(p *Page) {
	was := slices.Clone(c.Keep)
	for i := range p.Blocks {
		b := &p.Blocks[i]
		if was[i] || b.words == 0 || float64(c.Score[i]) < besideLeast || c.Why[i] != WhyScore {
			continue
		}
		up := p.elements[b.elem].parent
		for _, k := range [...]int{i - 1, i + 1} {
			if k < 0 || k >= len(was) || !was[k] {
				continue
			}
			if m := p.meet(b.elem, p.Blocks[k].elem); m == up || m == b.elem {
				c.Keep[i], c.Why[i] = true, WhyAround
			}
		}
	}
}

// title keeps the page's title where a heading of the first level says it. One in
// the main part that says what the page's <title> does needs no score.
func (c *Choice) title(p *Page) {
	for i := range p.Blocks {
		b := &p.Blocks[i]
		if p.elements[b.elem].node.DataAtom == atom.H1 && b.words > 0 {
			sure := b.title == b.words && p.inMain(b.elem)
			if !c.Keep[i] && b.linked < b.words && (sure || float64(c.Score[i]) >= titleLeast) {
				c.Keep[i], c.Why[i] = true, WhyTitle
			}
			break
		}
	}
}

// inMain says that an element is in the main part of the page, or in an article.
func (p *Page) inMain(e int32) bool {
	for ; e >= 0; e = p.elements[e].parent {
		switch p.elements[e].node.DataAtom {
		case atom.Main, atom.Article:
			return true
		}
	}
	return false
}

// keptWords gives for each block how many words before it are kept.
func (c *Choice) keptWords(p *Page) []int32 {
	kept := make([]int32, len(p.Blocks)+1)
	for i := range p.Blocks {
		kept[i+1] = kept[i]
		if c.Keep[i] {
			kept[i+1] += p.Blocks[i].words
		}
	}
	return kept
}
