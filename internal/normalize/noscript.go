package normalize

import (
	"hash/maphash"
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"sift.build/sift/internal/dom"
)

// gram is how many words in a row are compared to know a text again.
const gram = 4

// noscript parses what stands in a noscript element, which the HTML parser
// leaves as raw text, and puts it in its place when the page does not say the
// same around it: the only copy of a lazy image, the whole thread of a
// Discourse forum. A call to turn JavaScript on goes.
//
// It returns the node that the walk enters next: the first of the contents,
// else n, which has become an empty text.
func (p *pass) noscript(n *html.Node) *html.Node {
	var nodes []*html.Node
	if c := n.FirstChild; c != nil && c == n.LastChild && c.Type == html.TextNode {
		raw := c.Data
		if strings.Trim(raw, " \t\r\n\f") == "" {
			return gone(n)
		}
		var err error
		nodes, err = html.ParseFragment(strings.NewReader(raw), dom.Element(atom.Body))
		if err != nil {
			return gone(n)
		}
	} else {
		for c := n.FirstChild; c != nil; c = n.FirstChild {
			n.RemoveChild(c)
			nodes = append(nodes, c)
		}
	}
	box := dom.Element(atom.Div)
	for _, c := range nodes {
		box.AppendChild(c)
	}

	var words []string
	script := false
	images := 0
	for c := box.FirstChild; c != nil; c = following(c, box, visibleByNature(c)) {
		switch {
		case c.Type == html.TextNode && visibleByNature(c.Parent):
			words = appendWords(words, c.Data)
		case c.DataAtom == atom.Img:
			images++
		case c.DataAtom == atom.Noscript:
			rename(c, atom.Template) // one level is enough: unclosed ones would be parsed again and again
		}
	}
	const call = 60 // words: longer than any call to turn JavaScript on
	if len(words) <= call {
		for i, w := range words {
			if strings.EqualFold(w, "javascript") || strings.EqualFold(w, "javascripts") || i > 0 && strings.EqualFold(w, "script") && strings.EqualFold(words[i-1], "java") ||
				strings.Contains(w, "JavaScript") {
				script = true
			}
		}
	}
	switch {
	case script, len(words) == 0 && images == 0 && find(box, 64, isFrame) == nil:
		return gone(n)
	case len(words) == 0 && images == 1:
		img := find(box, 64, func(c *html.Node) bool { return c.DataAtom == atom.Img })
		if img != nil && p.lazyTwin(n, img) {
			return gone(n)
		}
	case len(words) > 0:
		if p.said(words) {
			return gone(n)
		}
	}
	first := box.FirstChild
	if IsBlock(n.Parent) && len(words) > 0 {
		n.Parent.InsertBefore(box, n)
		first = box
	} else {
		for c := box.FirstChild; c != nil; c = box.FirstChild {
			box.RemoveChild(c)
			n.Parent.InsertBefore(c, n)
		}
	}
	skip(n)
	return first
}

func gone(n *html.Node) *html.Node {
	n, _ = skip(n)
	return n
}

func isFrame(c *html.Node) bool {
	return c.DataAtom == atom.Iframe || c.DataAtom == atom.Video || c.DataAtom == atom.A
}

// lazyTwin finds the image that waits to be loaded beside its noscript copy,
// and completes it from the copy.
func (p *pass) lazyTwin(n, img *html.Node) bool {
	for _, s := range [...]*html.Node{prevElement(n), nextElement(n)} {
		if s == nil {
			continue
		}
		twin := s
		if s.DataAtom != atom.Img {
			twin = find(s, 8, func(c *html.Node) bool { return c.DataAtom == atom.Img })
		}
		if twin == nil {
			continue
		}
		if a, b := dom.Attr(twin, "alt"), dom.Attr(img, "alt"); a != "" && b != "" && strings.TrimSpace(a) != strings.TrimSpace(b) {
			continue // another image
		}
		if src := p.imageSource(img); src != "" {
			if dom.Attr(twin, "src") == "" || s == n.NextSibling || placeholder(dom.Attr(twin, "src")) {
				setAttr(twin, "src", src)
			}
			if dom.Attr(twin, "alt") == "" {
				setAttr(twin, "alt", p.line(cut(dom.Attr(img, "alt"), attrMax)))
			}
		}
		return true
	}
	return false
}

// said says that most of a text stands elsewhere on the page too, or stood in
// an earlier noscript.
func (p *pass) said(words []string) bool {
	if p.words == nil {
		p.words, p.seed = make(map[uint64]struct{}), maphash.MakeSeed()
		var all []string
		for c := p.body.FirstChild; c != nil; c = following(c, p.body, visibleByNature(c)) {
			if c.Type == html.TextNode && visibleByNature(c.Parent) {
				all = appendWords(all, c.Data)
			}
		}
		p.learn(all)
	}
	known, total := 0, 0
	p.grams(words, func(h uint64) {
		total++
		if _, ok := p.words[h]; ok {
			known++
		}
	})
	if known*10 >= total*7 {
		return true
	}
	p.learn(words)
	return false
}

func (p *pass) learn(words []string) {
	p.grams(words, func(h uint64) { p.words[h] = struct{}{} })
	if len(words) >= gram {
		for _, w := range words { // for texts that are shorter than a gram
			p.words[p.hash(w)] = struct{}{}
		}
	}
}

func (p *pass) hash(words ...string) uint64 {
	var h maphash.Hash
	h.SetSeed(p.seed)
	for _, w := range words {
		for i := range len(w) {
			b := w[i]
			if b >= 'A' && b <= 'Z' {
				b |= 0x20
			}
			h.WriteByte(b)
		}
		h.WriteByte(' ')
	}
	return h.Sum64()
}

func (p *pass) grams(words []string, f func(uint64)) {
	if len(words) < gram {
		for _, w := range words {
			f(p.hash(w))
		}
		return
	}
	for i := 0; i+gram <= len(words); i++ {
		f(p.hash(words[i : i+gram]...))
	}
}

func appendWords(words []string, s string) []string {
	for w := range strings.FieldsFuncSeq(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		words = append(words, w)
	}
	return words
}
