package extract

import (
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"sift.build/sift/internal/dom"
	"sift.build/sift/internal/normalize"
)

// A role is what the class, id, ARIA role or tag of an element says that it is
// there for. An element can have several.
type role uint32

const (
	roleNav      role = 1 << iota // menus, breadcrumbs, pagers, tables of contents
	roleFooter                    // the foot of the page or of a post
	roleHeader                    // the head of the page: logo, search, account
	roleSide                      // side columns
	roleShare                     // share buttons, follow us
	roleRelated                   // other pages: related, recommended, popular
	rolePromo                     // advertising, newsletters, sign-up boxes
	roleDialog                    // cookie banners, pop-ups, overlays
	roleComments                  // what readers wrote under an article
	roleMeta                      // tags, author boxes, copyright lines
	roleForm                      // search, filters, log in
	rolePost                      // one of several contributions: post, message, answer
	roleContent                   // article, entry content, post body
	roleHero                      // a banner that often holds the title
	roleReviews                   // what buyers wrote
	roleNote                      // a note inside a text, in whatever element
	roleDeed                      // things to do, not to read: reply, share, sign in; what is not printed
	roleOther                     // its heading says that it is about other pages
)

// A cell is one element of the page with what lies under it. Cells stand in
// document order, so that the elements inside one are those up to its end.
type cell struct {
	node   *html.Node
	parent int32
	end    int32 // the first cell that is not inside
	role   role
	drop   bool

	// Sizes in bytes of text without white space; letters of Chinese or
	// Japanese weigh three.
	text  int32 // all text inside
	link  int32 // of that, inside links
	prose int32 // of that, in blocks that read like sentences
	own   int32 // text with this as its nearest block
	ownLk int32 // of that, inside links
	links int32 // links inside
	stops int32 // sentence marks in own
	deeds int32 // of text, in links that do something
	ownDo int32 // of own, the same
}

// isProse says whether the cell's own text reads like sentences: long, with
// marks between them, and not for the most part links.
func (c *cell) isProse() bool { return c.own >= proseLength && c.stops > 0 && c.ownLk*3 < c.own }

// isContainer says whether the cell is of a kind that holds parts of a page.
// Only these are judged by their class: a paragraph or a heading whose class
// is share-text is still text.
func (c *cell) isContainer() bool {
	switch c.node.DataAtom {
	case atom.Div, atom.Section, atom.Ul, atom.Ol, atom.Li, atom.Aside, atom.Header, atom.Footer, atom.Nav, atom.Dl, atom.Table,
		atom.Article, atom.Main, atom.Details:
		return true
	}
	return false
}

// An index is the page as a list, made in one pass.
type index struct {
	cells []cell
	title int32   // the first h1, 0 when there is none
	site  int32   // the h1 that is the name of the site, -1 when none is
	main  int32   // the longest <main>, 0 when there is none
	heads []int32 // headings over other pages
	todo  []int32 // links that do something
}

// proseLength is how much text a block needs to read like sentences.
const proseLength = 80

// makeIndex lists the elements of a page in normal form.
func makeIndex(body *html.Node) *index {
	count := 0
	for n := body; n != nil; n = dom.Next(n, body) {
		if n.Type == html.ElementNode {
			count++
		}
	}
	ix := &index{cells: make([]cell, 0, count), site: -1}
	parent, block := int32(-1), int32(-1)
	inLink := 0
	n := body
	for n != nil {
		if n.Type == html.TextNode {
			size, stops := measure(n.Data)
			if size > 0 {
				c := &ix.cells[parent]
				c.text += size
				b := &ix.cells[block]
				b.own += size
				b.stops += stops
				if inLink > 0 {
					c.link += size
					b.ownLk += size
				}
			}
		} else {
			ix.cells = append(ix.cells, cell{node: n, parent: parent, role: roleOf(n)})
			self := int32(len(ix.cells) - 1)
			if n.DataAtom == atom.A {
				inLink++
				ix.cells[self].links = 1
			}
			if n.FirstChild != nil {
				parent = self
				if normalize.IsBlock(n) {
					block = self
				}
				n = n.FirstChild
				continue
			}
			ix.leave(self)
			if n.DataAtom == atom.A {
				inLink--
			}
		}
		for n != body && n.NextSibling == nil {
			n = n.Parent
			ix.leave(parent)
			if n.DataAtom == atom.A {
				inLink--
			}
			if block == parent {
				block = ix.cells[block].parent
				for block >= 0 && !normalize.IsBlock(ix.cells[block].node) {
					block = ix.cells[block].parent
				}
			}
			parent = ix.cells[parent].parent
		}
		if n == body {
			break
		}
		n = n.NextSibling
	}
	ix.others()
	ix.buttons()
	return ix
}

// block gives the nearest block around a cell.
func (ix *index) block(i int32) int32 {
	for i > 0 && !normalize.IsBlock(ix.cells[i].node) {
		i = ix.cells[i].parent
	}
	return i
}

// leave closes a cell and adds it up into its parent.
func (ix *index) leave(i int32) {
	c := &ix.cells[i]
	c.end = int32(len(ix.cells))
	if c.isProse() {
		c.prose += c.own
	}
	if (c.node.DataAtom == atom.Main || c.role&roleContent != 0 && dom.Attr(c.node, "role") == "main") && (ix.main == 0 || c.text > ix.cells[ix.main].text) {
		ix.main = i
	}
	switch c.node.DataAtom {
	case atom.H1:
		if ix.title == 0 && c.text > 0 {
			ix.title = i
		}
		fallthrough
	case atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		if c.text <= longestDeed && len(ix.heads) < maxHeads && othersLabel(text(c.node)) {
			ix.heads = append(ix.heads, i)
		}
	case atom.A, atom.Span:
		if c.text > 0 && c.text <= longestDeed && c.deeds == 0 && isDeed(c.node) {
			c.deeds = c.text
			ix.cells[ix.block(i)].ownDo += c.text
			ix.todo = append(ix.todo, i)
		}
	default:
		if c.deeds > 0 && ix.isDeeds(c) {
			c.role |= roleDeed
		}
	}
	if c.parent < 0 {
		return
	}
	p := &ix.cells[c.parent]
	p.text += c.text
	p.link += c.link
	p.prose += c.prose
	p.links += c.links
	p.deeds += c.deeds
}

// measure counts the bytes of a text that are not white space, and the marks
// that end or divide sentences.
func measure(s string) (size, stops int32) {
	for i := range len(s) {
		switch c := s[i]; {
		case c <= ' ':
		case c == '.' || c == ',' || c == '!' || c == '?' || c == ';':
			size++
			if i+1 == len(s) || s[i+1] <= ' ' || s[i+1] == '"' || s[i+1] >= 0x80 {
				stops++
			}
		case c == 0xe3 && i+2 < len(s) && s[i+1] == 0x80 && (s[i+2] == 0x81 || s[i+2] == 0x82): // 、。
			size++
			stops++
		case c == 0xef && i+2 < len(s) && s[i+1] == 0xbc && (s[i+2] == 0x8c || s[i+2] == 0x81 || s[i+2] == 0x9f): // ，！？
			size++
			stops++
		case c == 0xd8 && i+1 < len(s) && s[i+1] == 0x8c, c == 0xe0 && i+2 < len(s) && s[i+1] == 0xa5 && s[i+2] == 0xa4: // ، ।
			size++
			stops++
		default:
			size++
		}
	}
	return size, stops
}
