package extract

import (
	"bytes"

	"golang.org/x/net/html/atom"
)

const (
	// maxNodes is the size of tree that is built at most, in nodes, with two
	// attributes counted as one node: about 170 MB with its texts, so that one
	// page at a time leaves the service under 350 MB. A page of 10 MB has some
	// 500,000.
	maxNodes = 1_200_000
	// maxSteps is how many open elements the parser may look at for end tags
	// that fit none of them: about a second.
	maxSteps = 50_000_000
	// maxOpen is where html.Parse gives up on nesting.
	maxOpen = 512
	// maxAttrs is how many attributes of one tag are kept on a large page.
	maxAttrs = 1000
	// smallPage is a size that cannot hold enough attributes to hurt.
	smallPage = 1 << 20
)

// A plan says how a page is turned into a tree, decided by looking at its tags
// before anything is built. Three things make a small page cost gigabytes or
// minutes:
//
//   - A tag can hold any number of attributes, and every one costs the parser
//     a hundred bytes and more.
//   - A formatting element (b, i, font, a …) that was not closed is opened
//     again in every block that follows, with all its attributes, as the HTML
//     standard wants it. Four hundred unclosed ones in front of a hundred
//     thousand paragraphs become forty million nodes.
//   - An end tag is compared with every open element, of which there can be
//     five hundred.
type plan struct {
	flat   bool // too much for a tree: walk the tags instead
	rename bool // parse with formatting elements under other names, which are not reopened
	cut    bool // leave out attributes over maxAttrs
	nodes  int  // the estimate
}

// makePlan follows the tags, which costs a thirtieth of parsing, and decides.
func makePlan(text []byte) plan {
	w := follow(text)
	p := plan{nodes: w.nodes, cut: w.attrs > maxAttrs, rename: w.nodes+w.reopened > maxNodes}
	// Where our reading of raw text may differ from the parser's, neither a
	// rename nor a cut can be trusted.
	p.flat = w.nodes > maxNodes || w.steps > maxSteps || w.unsure && (p.rename || p.cut || len(text) > smallPage)
	if !p.rename {
		p.nodes += w.reopened
	}
	return p
}

// formattingLength gives the length of the formatting element's name that b
// begins with, or 0.
func formattingLength(b []byte) int {
	n := 0
	for n < len(b) && n < 7 && isLetter(b[n]) {
		n++
	}
	if n == 7 || n < len(b) && b[n] != '>' && b[n] != '/' && !isSpace(b[n]) {
		return 0
	}
	var low [8]byte
	for i := range n {
		low[i] = b[i] | 0x20
	}
	switch string(low[:n]) {
	case "a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u":
		return n
	}
	return 0
}

// A walk is what following the tags of a page found.
type walk struct {
	nodes    int  // tags, texts and half the attributes
	reopened int  // nodes of formatting elements that may be opened again, at most
	attrs    int  // the most attributes of one tag
	steps    int  // how far end tags look for their elements
	unsure   bool // raw text or CDATA inside SVG or MathML, where what is a tag depends on the tree
}

// openTag is an element that was opened and not closed yet.
type openTag struct {
	id     uint32
	weight int // of a formatting element: 1 and half its attributes
}

// follow walks the tags and keeps the elements that are open. A formatting
// element counts as done with only when its end tag comes while it is the
// innermost open one: then, and only then, it is certain that the parser
// forgets it too. Everything else stays in the list of what may be opened
// again, which makes the count an upper bound.
func follow(text []byte) walk {
	var w walk
	l := lexer{b: text}
	var open []openTag
	list := 0    // weight of the formatting elements not done with
	foreign := 0 // open svg and math elements
	for {
		kind := l.next()
		if l.textTo > l.textFrom {
			w.nodes++
			w.reopened += list
		}
		switch kind {
		case lexEnd:
			return w
		case lexComment:
			w.nodes++
			if foreign > 0 && bytes.HasPrefix(text[l.textTo:], []byte("<![CDATA[")) {
				section, _, _ := bytes.Cut(text[l.textTo+1:], []byte("]]>"))
				w.unsure = w.unsure || bytes.IndexByte(section, '<') >= 0
			}
		case lexStart:
			id := l.id()
			w.nodes += 1 + l.attrs/2
			switch atom.Atom(id) {
			case atom.Td, atom.Th, atom.Tr, atom.Col:
				w.nodes += 2 // the rows and groups around it may be left out
			}
			w.reopened += list
			w.attrs = max(w.attrs, l.attrs)
			weight := 0
			if formattingLength(l.name) == len(l.name) {
				weight = 1 + l.attrs/2
				list += weight
			}
			switch atom.Atom(id) {
			case atom.Area, atom.Base, atom.Br, atom.Col, atom.Embed, atom.Hr, atom.Img, atom.Input, atom.Keygen,
				atom.Link, atom.Meta, atom.Param, atom.Source, atom.Track, atom.Wbr, atom.Frame:
				continue
			case atom.Svg, atom.Math:
				if l.closed {
					continue
				}
				foreign++
			case atom.Plaintext:
				if foreign > 0 {
					w.unsure = true
					break
				}
				w.nodes++
				return w
			case atom.Script, atom.Style, atom.Textarea, atom.Title, atom.Xmp, atom.Iframe, atom.Noembed, atom.Noframes, atom.Noscript:
				if foreign > 0 && l.closed {
					continue
				}
				content := l.skipRaw(atom.Atom(id))
				switch {
				case foreign > 0:
					// The parser reads tags here.
					if bytes.IndexByte(bytes.TrimPrefix(bytes.TrimSpace(content), []byte("<![CDATA[")), '<') >= 0 {
						w.unsure = true
					}
				case atom.Atom(id) == atom.Noscript:
					// It is parsed by itself later on.
					inner := follow(content)
					w.nodes += inner.nodes
					w.reopened += inner.reopened
					w.attrs = max(w.attrs, inner.attrs)
					w.steps += inner.steps
					w.unsure = w.unsure || inner.unsure
				}
				l.textFrom, l.textTo = l.pos, l.pos
				w.nodes++
			default:
				if foreign > 0 && l.closed {
					continue
				}
			}
			if len(open) == cap(open) && len(open) >= 4096 {
				// Elements that need no end tag pile up; the oldest are given up,
				// which can only make the count larger.
				for _, o := range open[:len(open)/2] {
					if isForeign(o.id) {
						foreign--
						w.unsure = true
					}
				}
				open = open[:copy(open, open[len(open)/2:])]
			}
			open = append(open, openTag{id, weight})
		case lexClose:
			id := l.id()
			steps, done := min(len(open), maxOpen), false
			for i := len(open) - 1; i >= 0 && i >= len(open)-64; i-- {
				if open[i].id != id {
					continue
				}
				if i == len(open)-1 {
					list -= open[i].weight
					done = true
				}
				steps = len(open) - i
				for _, o := range open[i:] {
					if isForeign(o.id) {
						foreign--
						w.unsure = w.unsure || o.id != id
					}
				}
				open = open[:i]
				break
			}
			w.steps += steps
			switch {
			case atom.Atom(id) == atom.P, atom.Atom(id) == atom.Br:
				w.nodes++ // such an end tag alone is an element
			case !done && formattingLength(l.name) == len(l.name):
				// What stands across blocks is copied into each of up to eight.
				w.reopened += 8 * list
			}
		}
	}
}

func isForeign(id uint32) bool { return atom.Atom(id) == atom.Svg || atom.Atom(id) == atom.Math }

// renamed is what stands in front of the name of a formatting element that the
// parser must not treat as one.
const renamed = "x-"

// rewrite gives a copy of the text as the plan wants it.
func (p plan) rewrite(text []byte) []byte {
	if p.cut {
		text = cutAttributes(text)
	}
	if p.rename {
		text = renameFormatting(text)
	}
	return text
}

// cutAttributes blanks what a tag holds beyond maxAttrs attributes.
func cutAttributes(text []byte) []byte {
	out := bytes.Clone(text)
	l := lexer{b: text}
	for l.next() != lexEnd {
		if l.kind == lexComment || l.attrs <= maxAttrs {
			continue
		}
		i := l.attrFrom
		for n := 0; i < l.attrTo && n < maxAttrs; {
			if isSpace(text[i]) || text[i] == '/' {
				i++
				continue
			}
			_, _, i = attribute(text[:l.attrTo], i)
			n++
		}
		for ; i < l.attrTo; i++ {
			out[i] = ' '
		}
	}
	return out
}

// renameFormatting writes every formatting tag under a name that is none. As
// HTML closes a link where the next one begins, so does the copy.
func renameFormatting(text []byte) []byte {
	out := make([]byte, 0, len(text)+len(text)/8)
	from := 0
	for i := 0; ; {
		j := bytes.IndexByte(text[i:], '<')
		if j < 0 {
			return append(out, text[from:]...)
		}
		i += j + 1
		name := i
		if name < len(text) && text[name] == '/' {
			name++
		}
		n := formattingLength(text[min(name, len(text)):])
		if n == 0 {
			continue
		}
		out = append(out, text[from:i-1]...)
		if name == i && n == 1 && text[i]|0x20 == 'a' {
			out = append(out, "</"+renamed+"a>"...)
		}
		out = append(out, text[i-1:name]...)
		out = append(out, renamed...)
		from, i = name, name+n
	}
}

// nameBack gives the name that a renamed element had.
func nameBack(name string) (string, bool) {
	if len(name) <= len(renamed) || name[:len(renamed)] != renamed {
		return name, false
	}
	rest := name[len(renamed):]
	if formattingLength([]byte(rest)) != len(rest) {
		return name, false
	}
	return rest, true
}
