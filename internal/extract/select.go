package extract

import (
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"sift.build/sift/internal/dom"
	"sift.build/sift/internal/maincontent"
)

// about is what the page says of itself that selection goes by.
type about struct {
	thread  bool // what readers wrote is the content: a forum thread, a question with answers
	product bool // one thing on sale: what buyers wrote is not the content

	site string // the h1, where that is the name of the site
}

const (
	// furniture is what no page is about.
	furniture = roleNav | roleFooter | roleHeader | roleSide | roleDialog | roleShare | roleDeed | roleOther
	// junk is what an article is not about, though other pages may be: related
	// entries are the content of a list, a form that of a service.
	junk = furniture | roleRelated | rolePromo | roleMeta | roleForm

	// articleProse is how much running text makes a page an article, in bytes,
	// when it is half of the text outside of links or more. Measured on a benchmark of
	// pages of all kinds, anything from 1000 to 2500 does about as well.
	articleProse = 1000
	// leastContent is how little text is not believed to be all there is.
	leastContent = 250
	// landmarkProse is how much running text a titled <main> needs to be believed,
	// however much stands around it.
	landmarkProse = 2 * proseLength
	// longestLead is how much text the part above an article may hold.
	longestLead = 1500
)

// A selection is the main content of a page as the rules see it: a part of the
// page, less the cells of its index that are dropped.
type selection struct {
	*index
	about    about
	region   int32
	junk     role // what is left out of an article
	root     int32
	fallback string // the sentence that says why the usual way failed, or ""
}

// selectMain finds the main content of a page in normal form.
//
// It only ever leaves whole elements out. A page with enough running text is
// read as an article: the smallest element that holds most of that text, less
// everything whose class, tag or links say that it is something else. Any other
// page is read whole, less its furniture.
func selectMain(page *html.Node, a about) *selection {
	s := &selection{index: makeIndex(page), about: a, junk: junk}
	s.disown(a.site)
	s.region = s.index.region(a)
	if !a.thread && s.keptWithout(roleComments, s.region).prose >= leastContent {
		s.junk |= roleComments
	}
	s.leaveOut(s.region, s.junk)
	if kept := s.kept(s.region); kept.prose >= articleProse && kept.prose >= (kept.text-kept.link)/2 {
		s.asArticle()
	} else {
		s.root = s.region
		s.leaveOut(s.root, furniture|roleMeta)
		s.strips(s.root)
	}
	if got := s.kept(s.root).text; got < leastContent && got < s.cells[0].text && !(s.region > 0 && s.landmark(s.region)) {
		s.believeMore(got)
	}
	return s
}

// leaveOut drops what has one of the roles under root, and nothing else.
func (s *selection) leaveOut(root int32, mask role) {
	s.reset()
	s.prune(root, mask, s.about)
}

// asArticle selects the smallest element with most of the running text that is
// left.
func (s *selection) asArticle() {
	s.root = s.holder(s.region)
	s.leaveOut(s.root, s.junk)
	s.dropLinkLists(s.root)
}

// believeMore is for a selection of so little text that it is not believed to be
// all there is. A short page is kept whole rather than guessed at, and so is one
// whose parts all say that they are something else.
func (s *selection) believeMore(got int32) {
	s.leaveOut(0, furniture)
	whole := s.kept(0).text
	switch {
	case whole > 4*got:
		s.root = 0
	case got == 0:
		s.root = 0
		s.reset()
		s.fallback = "no main content was found; this is the whole page"
	default:
		s.leaveOut(s.root, furniture)
	}
}

// body gives what was selected as a <body> element that shares nothing with the
// page. With carve it is cut out of the page instead of copied, which leaves no
// page behind: a large one need not be held twice.
func (s *selection) body(carve bool) *html.Node {
	if carve {
		return s.carve(s.root)
	}
	return s.build(s.root)
}

// reading gives the selection to those who choose by more.
func (s *selection) reading() maincontent.Reading {
	r := maincontent.Reading{Root: s.cells[s.root].node, Dropped: map[*html.Node]bool{}}
	if lead := s.leadTo(s.root); lead > 0 {
		r.Lead = s.cells[lead].node
	}
	for i := s.root; i < s.cells[s.root].end; i++ {
		if c := &s.cells[i]; c.drop {
			r.Dropped[c.node] = true
			i = c.end - 1
		}
	}
	return r
}

// sizes are those of what was kept.
type sizes struct{ text, prose, link int32 }

// kept adds up what is not dropped under a cell.
func (ix *index) kept(root int32) sizes { return ix.keptWithout(0, root) }

// keptWithout leaves cells with one of the roles out as well.
func (ix *index) keptWithout(mask role, root int32) sizes {
	var s sizes
	for i := root; i < ix.cells[root].end; i++ {
		c := &ix.cells[i]
		if c.drop || i != root && c.role&mask != 0 && c.isContainer() {
			i = c.end - 1
			continue
		}
		s.text += c.own
		s.link += c.ownLk
		if c.isProse() {
			s.prose += c.own
		}
	}
	return s
}

func (ix *index) reset() {
	for i := range ix.cells {
		ix.cells[i].drop = false
	}
}

// region is the part of the page to look at: the <main> element when it holds a
// good part of the text, and in it the <article> when there is but one that
// does; else the body.
func (ix *index) region(a about) int32 {
	ix.prune(0, furniture, a)
	page := ix.kept(0).text
	ix.reset()
	best := ix.main
	least := page / 4
	if best > 0 && ix.landmark(best) {
		least = page / 20
	}
	if ix.cells[best].text < least {
		best = 0
	}
	if only := ix.onlyArticle(best); only > 0 {
		least = min(page, ix.cells[best].text) / 2
		if ix.hasTitle(only) {
			least /= 2
		}
		if ix.cells[only].text > least {
			return only
		}
	}
	return best
}

// landmark says that a <main> is what it says: it has the page's title and
// text. Teasers beside it may well be longer.
func (ix *index) landmark(i int32) bool {
	return ix.cells[i].prose >= landmarkProse && ix.hasTitle(i)
}

// onlyArticle is the one <article> under a cell, or -1 when there are several
// or none.
func (ix *index) onlyArticle(root int32) int32 {
	found := int32(-1)
	for i := root + 1; i < ix.cells[root].end; i++ {
		if ix.cells[i].node.DataAtom != atom.Article {
			continue
		}
		if found >= 0 {
			return -1
		}
		found, i = i, ix.cells[i].end-1
	}
	return found
}

// holder is the smallest element that holds three quarters of the running
// text that was kept under a cell.
func (ix *index) holder(region int32) int32 {
	// before[i] is how much of it stands before the i-th cell of the region.
	top := ix.cells[region].end
	before := make([]int32, top-region+1)
	for i := region; i < top; i++ {
		c := &ix.cells[i]
		sum := before[i-region]
		if c.drop {
			for ; i < c.end; i++ {
				before[i-region+1] = sum
			}
			i--
			continue
		}
		if c.isProse() {
			sum += c.own
		}
		before[i-region+1] = sum
	}
	prose := func(i int32) int32 { return before[ix.cells[i].end-region] - before[i-region] }
	want := prose(region) / 4 * 3
	i := region
	for {
		inner := int32(-1)
		for j := i + 1; j < ix.cells[i].end; j = ix.cells[j].end {
			if prose(j) >= want {
				inner = j
				break
			}
		}
		if inner < 0 || !ix.cells[inner].isContainer() {
			return i
		}
		i = inner
	}
}

// prune drops the elements under root that have one of the roles, unless so
// much of the page is in them that the name must mean something else.
func (ix *index) prune(root int32, mask role, a about) {
	page := ix.cells[root]
	for i := root + 1; i < page.end; i++ {
		c := &ix.cells[i]
		if !c.isContainer() && c.role&roleDeed == 0 || c.node.DataAtom == atom.Footer && c.node.Parent.DataAtom == atom.Blockquote {
			continue // the footer of a quotation says whose it is
		}
		bad := c.role & mask
		if a.product {
			bad |= c.role & (roleReviews | roleRelated)
		}
		if c.role&roleNote != 0 {
			bad &^= roleSide | roleFooter
		}
		if bad&roleHeader != 0 && c.role&^(roleHeader|roleHero|roleContent|rolePost) == 0 && (c.links <= 3 && !ix.siteHead(i) || ix.hasTitle(i)) {
			bad &^= roleHeader // the head of an article, not of the site
		}
		if bad == 0 {
			continue
		}
		sure := bad&roleDialog != 0 || bad&(roleNav|roleFooter) != 0 && c.text < page.text/5*4 || bad&roleComments != 0
		if bad&roleNav != 0 && c.link > c.text/10*9 && c.text-c.link < (page.text-page.link)/4 {
			sure = true // a menu, however long it is beside a short page
		}
		if bad&roleSide != 0 && ix.beside(i) {
			sure = true
		}
		sure = sure && !ix.hasTitle(i)
		if sure || c.prose <= page.prose/2 && c.text < page.text/2 {
			c.drop = true
			i = c.end - 1
		}
	}
}

// disown finds the h1 that is the name of the site, which is no title. What
// stands first under the name of a heading is the title then.
func (ix *index) disown(site string) {
	ix.site = -1
	if site == "" || ix.title == 0 || oneLine(text(ix.cells[ix.title].node), maxTitle) != site {
		return
	}
	ix.site = ix.title
	for i := ix.title + 1; i < int32(len(ix.cells)); i++ {
		if ix.cells[i].prose > 0 && ix.cells[i].node.DataAtom != atom.Div || ix.cells[i].node.DataAtom == atom.H2 {
			ix.title = i
			return
		}
	}
}

// beside says that a cell stands outside of a <main> that has a text of its own.
func (ix *index) beside(i int32) bool {
	m := ix.main
	return m > 0 && (i >= ix.cells[m].end || ix.cells[i].end <= m) && ix.cells[m].text >= leastContent
}

// siteHead says that a cell stands above the title of the page and outside of
// any part that is about something.
func (ix *index) siteHead(i int32) bool {
	c := &ix.cells[i]
	if c.end > ix.title || c.prose > 0 {
		return false
	}
	for p := c.parent; p > 0; p = ix.cells[p].parent {
		if ix.cells[p].role&(roleContent|rolePost) != 0 || ix.cells[p].node.DataAtom == atom.Section {
			return false
		}
	}
	return true
}

// dropLinkLists drops what is little more than links.
func (ix *index) dropLinkLists(root int32) {
	for i := root + 1; i < ix.cells[root].end; i++ {
		c := &ix.cells[i]
		if c.drop || c.isContainer() && c.node.DataAtom != atom.Table && c.links >= 3 && c.link > c.text/10*7 {
			c.drop = true
			i = c.end - 1
		}
	}
}

// hasTitle says whether there is an h1 inside.
func (ix *index) hasTitle(i int32) bool {
	for j := i + 1; j < ix.cells[i].end; j++ {
		if j != ix.site && ix.cells[j].node.DataAtom == atom.H1 {
			return true
		}
	}
	return false
}

// carve is build with the page's own nodes: what was dropped is taken out of
// the tree, and what is kept moves. The page is no longer whole afterwards.
func (ix *index) carve(root int32) *html.Node {
	for i := root + 1; i < ix.cells[root].end; i++ {
		if c := &ix.cells[i]; c.drop {
			c.node.Parent.RemoveChild(c.node)
			i = c.end - 1
		}
	}
	if root == 0 {
		return ix.cells[0].node
	}
	parts := []int32{root}
	if lead := ix.leadTo(root); lead > 0 {
		parts = []int32{lead, root}
	}
	body := dom.Element(atom.Body)
	for _, i := range parts {
		n := ix.cells[i].node
		n.Parent.RemoveChild(n)
		body.AppendChild(n)
	}
	return body
}

// build copies what was kept under root, with the title and what leads to the
// article in front when they stand outside.
func (ix *index) build(root int32) *html.Node {
	body := dom.Element(atom.Body)
	if lead := ix.leadTo(root); lead > 0 {
		body.AppendChild(ix.copy(lead))
	}
	if root == 0 {
		i := int32(1)
		ix.copyChildren(body, ix.cells[0].node, &i)
		return body
	}
	body.AppendChild(ix.copy(root))
	return body
}

// leadTo finds what leads to root from above it when it has no title of its own:
// the h1, and around it the part of the page with a few sentences and no menu.
// It is -1 when there is none.
func (ix *index) leadTo(root int32) int32 {
	if root == 0 || ix.cells[root].node.DataAtom == atom.H1 || ix.hasTitle(root) {
		return -1
	}
	h := int32(-1)
	for i := root - 1; i > 0; i-- {
		if i != ix.site && ix.cells[i].node.DataAtom == atom.H1 && ix.cells[i].text > 0 {
			h = i
			break
		}
	}
	if h < 0 {
		return -1
	}
	best := h
	for p := ix.cells[h].parent; p > 0 && ix.cells[p].end <= root; p = ix.cells[p].parent {
		c := &ix.cells[p]
		if c.text > longestLead || c.links > 3 || c.role&(junk&^roleHeader) != 0 {
			break
		}
		best = p
	}
	return best
}

// copy gives a detached copy of a cell's element without what was dropped.
func (ix *index) copy(i int32) *html.Node {
	c := ix.cells[i].node
	out := dom.Shallow(c)
	i++
	ix.copyChildren(out, c, &i)
	return out
}

// copyChildren copies the children of from. i is the cell of the first element
// among them, and then the one behind them all.
func (ix *index) copyChildren(to, from *html.Node, i *int32) {
	for c := from.FirstChild; c != nil; c = c.NextSibling {
		if c.Type != html.ElementNode {
			to.AppendChild(dom.Shallow(c))
			continue
		}
		cell := &ix.cells[*i]
		if cell.drop {
			*i = cell.end
			continue
		}
		*i++
		out := dom.Shallow(c)
		to.AppendChild(out)
		ix.copyChildren(out, c, i)
	}
}
