package maincontent

import "golang.org/x/net/html"

// Where a word stands: the same word means something else in a block's text
// than in a class.
const (
	placeText uint32 = iota
	placeHeading
	placeOwn // names of the element around the block
	placeUp  // of the one around that
	placeFar // of those further out
	placeCount
)

const (
	tokenBits = 18
	// textWords and headingWords are how many words of a block are weighed.
	textWords    = 40
	headingWords = 12
)

// tokenOf gives the number of a word in a place.
func tokenOf(place, word uint32) uint32 {
	return ((word ^ place*0x9e3779b9) * 0x85ebca6b) >> (32 - tokenBits)
}

// wordWeights are the weights of a logistic regression on words, by token.
type wordWeights struct {
	scale float32
	w     []int8
}

func (w *wordWeights) of(place, word uint32) float32 {
	return float32(w.w[tokenOf(place, word)]) * w.scale
}

// nameScore is the score of the names of an element, as seen from what is in
// it, from one further in, and from all the way in with those around it.
type nameScore struct{ own, up, far float32 }

func (p *Page) weigh(names []uint32, parent int32) (s nameScore) {
	if p.model.words == nil {
		return s
	}
	for _, n := range names {
		s.own += p.model.words.of(placeOwn, n)
		s.up += p.model.words.of(placeUp, n)
		s.far += p.model.words.of(placeFar, n)
	}
	if parent >= 0 {
		s.far += p.elements[parent].says.far
	}
	return s
}

// word counts one word of a block.
func (p *Page) word(b *Block, w uint32) {
	p.about.word(b, w)
	if b.nwords++; b.nwords > textWords {
		return
	}
	if p.model.words != nil {
		b.says += p.model.words.of(placeText, w)
		if b.nwords <= headingWords {
			b.heads += p.model.words.of(placeHeading, w)
		}
	}
	if p.tokens != nil {
		p.tokens.words(len(p.Blocks)-1, w)
	}
}

// tokens records words for training.
type tokens struct {
	blocks   [][]uint32 // the first words of each block
	elements [][]uint32 // the words of each element's names
}

func (t *tokens) words(i int, w uint32) {
	for len(t.blocks) <= i {
		t.blocks = append(t.blocks, nil)
	}
	t.blocks[i] = append(t.blocks[i], w)
}

// Tokens gives for each block the words in it and around it, each with its
// place as a number below 1<<18 times the place: what the weights of words are
// trained on.
func Tokens(body *html.Node, h Hints) [][]uint32 {
	t := &tokens{}
	p := scan(body, h, &Model{}, t)
	heads := p.survey().heads
	out := make([][]uint32, len(p.Blocks))
	for i := range p.Blocks {
		put := func(place uint32, words []uint32) {
			for _, w := range words {
				out[i] = append(out[i], place<<tokenBits|tokenOf(place, w))
			}
		}
		if i < len(t.blocks) {
			put(placeText, t.blocks[i])
		}
		if h := heads[i]; h >= 0 && int(h) < len(t.blocks) {
			put(placeHeading, t.blocks[h][:min(headingWords, len(t.blocks[h]))])
		}
		e := p.Blocks[i].elem
		put(placeOwn, t.elements[e])
		if e = p.elements[e].parent; e >= 0 {
			put(placeUp, t.elements[e])
			for e = p.elements[e].parent; e >= 0; e = p.elements[e].parent {
				put(placeFar, t.elements[e])
			}
		}
	}
	return out
}
