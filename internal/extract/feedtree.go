package extract

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"sift.build/sift/internal/dom"
	"sift.build/sift/internal/normalize"
	"sift.build/sift/internal/sift"
)

// A feedWriter makes a feed into a tree in the normal form, entry by entry.
type feedWriter struct {
	in      Input
	address *url.URL
	body    *html.Node
	left    normalize.Result // what was left out, of all entries
	entries int
	nodes   int
	flat    bool // something was too large or too deep for a tree
	cut     bool // something was left out
}

func newFeedWriter(in Input) *feedWriter {
	address, _ := url.Parse(in.URL)
	return &feedWriter{in: in, address: address, body: dom.Element(atom.Body)}
}

// head writes what the feed says about itself, which may stand behind its
// entries, in front of them.
func (w *feedWriter) head(ctx context.Context, h *feedHead) error {
	top := dom.Element(atom.Section)
	if h.title != "" {
		if err := w.title(ctx, top, atom.H1, h.title, h.link); err != nil {
			return err
		}
	} else if h.link != "" {
		appendTo(top, atom.P, linkTo(h.link, h.link))
	}
	if err := w.content(ctx, top, h.description, 2, ""); err != nil {
		return err
	}
	w.add(top, h.base, w.body.FirstChild)
	return nil
}

// content writes markup, its headings of the level given and below. Its links are
// resolved against base where that is not the base of what is around.
func (w *feedWriter) content(ctx context.Context, to *html.Node, markup string, level int, base string) error {
	if strings.TrimSpace(markup) == "" {
		return nil
	}
	part, err := w.markup(ctx, markup)
	if err != nil {
		return err
	}
	for c := part; c != nil && base != ""; c = dom.Next(c, part) {
		for i := range c.Attr {
			if a := &c.Attr[i]; a.Key == "href" || a.Key == "src" || a.Key == "poster" {
				a.Val = resolveIn(base, a.Val)
			}
		}
	}
	demote(part, level)
	moveBody(to, part)
	return nil
}

// title writes a heading that is a link.
func (w *feedWriter) title(ctx context.Context, to *html.Node, level atom.Atom, markup, link string) error {
	if strings.IndexByte(markup, '<') >= 0 {
		part, err := w.markup(ctx, markup)
		if err != nil {
			return err
		}
		res := normalize.Page(part, nil)
		w.count(&res)
		markup = text(res.Body)
	} else {
		markup = html.UnescapeString(markup)
	}
	s := titleLine(markup)
	if s == "" {
		return nil
	}
	h := dom.Element(level)
	h.AppendChild(linkTo(s, link))
	to.AppendChild(h)
	return nil
}

// markup parses a part of a feed within the bounds that pages have, all of its
// parts together.
func (w *feedWriter) markup(ctx context.Context, s string) (*html.Node, error) {
	b := []byte(s)
	p := makePlan(b)
	var root *html.Node
	var err error
	flat := true
	if w.nodes += p.nodes; w.nodes > maxNodes {
		root, err = flatten(ctx, b)
	} else {
		root, flat, err = parse(ctx, b)
	}
	if err != nil {
		return nil, ended(err)
	}
	w.flat = w.flat || flat
	return root, nil
}

// entry writes one entry.
func (w *feedWriter) entry(ctx context.Context, e *entry) error {
	if e.title == "" && e.link == "" && e.content == "" && e.published == "" && e.updated == "" && len(e.enclosures) == 0 {
		return nil
	}
	if w.entries >= maxEntries {
		w.cut = true
		return nil
	}
	w.entries++
	published, updated := feedDate(e.published), feedDate(e.updated)
	if published == "" {
		published, updated = updated, ""
	}
	top := dom.Element(atom.Article)
	if err := w.title(ctx, top, atom.H2, e.title, e.link); err != nil {
		return err
	}
	if top.FirstChild == nil {
		// An entry without a title, as of a short message, is known by its day.
		name := published
		switch {
		case name != "":
			published = ""
		case e.link != "":
			name = e.link
		default:
			name = "Entry " + strconv.Itoa(w.entries)
		}
		appendTo(top, atom.H2, linkTo(name, e.link))
	}
	w.about(top, e, published, updated)
	inner := e.inner
	if inner == e.base {
		inner = ""
	}
	if err := w.content(ctx, top, e.content, 3, inner); err != nil {
		return err
	}
	if len(e.enclosures) > 0 {
		p := paragraph("Attached: ")
		for i := range e.enclosures {
			if i == maxFeedItems {
				p.AppendChild(dom.Text(" and more"))
				break
			}
			if i > 0 {
				p.AppendChild(dom.Text(", "))
			}
			p.AppendChild(linkTo(e.enclosures[i].label(), e.enclosures[i].link))
		}
		top.AppendChild(p)
	}
	w.add(top, e.base, nil)
	return nil
}

// about writes the line of dates and names under an entry's title.
func (w *feedWriter) about(to *html.Node, e *entry, published, updated string) {
	line := dom.Element(atom.P)
	sep := func() {
		if line.FirstChild != nil {
			line.AppendChild(dom.Text(" · "))
		}
	}
	say := func(s string) {
		sep()
		line.AppendChild(dom.Text(s))
	}
	if published != "" {
		say(published)
	}
	if updated != "" && updated != published {
		say("updated " + updated)
	}
	if len(e.authors) > 0 {
		say("by " + named(e.authors))
	}
	if len(e.categories) > 0 {
		say("in " + named(e.categories))
	}
	if s := oneLine(e.duration, 32); s != "" {
		say("duration " + s)
	}
	if s := oneLine(e.from, maxFeedName); s != "" {
		sep()
		line.AppendChild(dom.Text("from "))
		line.AppendChild(linkTo(s, e.fromLink))
	}
	if e.comments != "" && e.comments != e.link {
		sep()
		line.AppendChild(linkTo("comments", e.comments))
	}
	if line.FirstChild != nil {
		to.AppendChild(line)
	}
}

// label names an enclosure by its title, type and size.
func (c *enclosure) label() string {
	var parts []string
	for _, s := range []string{c.title, c.kind} {
		if s = oneLine(s, maxFeedName); s != "" {
			parts = append(parts, s)
		}
	}
	if n, err := strconv.ParseInt(c.size, 10, 64); err == nil && n > 0 {
		parts = append(parts, strconv.FormatInt(n, 10)+" bytes")
	}
	if len(parts) == 0 {
		return c.link
	}
	return strings.Join(parts, ", ")
}

// titleLine makes one line of a title. What cannot be seen in it stays for now:
// it is counted when it goes.
func titleLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	n := 0
	for i := range s {
		if n++; n > maxFeedTitle {
			return s[:i] + "…"
		}
	}
	return s
}

// count adds up what was left out.
func (w *feedWriter) count(res *normalize.Result) {
	w.left.HiddenText += res.HiddenText
	w.left.TagChars += res.TagChars
	w.left.Invisible += res.Invisible
	w.left.Bidi += res.Bidi
}

// add brings a part into the normal form and puts it in front of a node of the
// feed, or at its end.
func (w *feedWriter) add(part *html.Node, base string, before *html.Node) {
	root := &html.Node{Type: html.DocumentNode}
	top, head, body := dom.Element(atom.Html), dom.Element(atom.Head), dom.Element(atom.Body)
	root.AppendChild(top)
	top.AppendChild(head)
	top.AppendChild(body)
	// It stands first, so that one in the part is not heard.
	b := dom.Element(atom.Base)
	b.Attr = []html.Attribute{{Key: "href", Val: w.baseOf(base)}}
	head.AppendChild(b)
	body.AppendChild(part)
	res := normalize.Page(root, w.address)
	w.count(&res)
	ownAnchors(res.Body, w.entries)
	for c := res.Body.FirstChild; c != nil; c = res.Body.FirstChild {
		res.Body.RemoveChild(c)
		w.body.InsertBefore(c, before)
	}
}

// baseOf gives the address that a part's links are resolved against.
func (w *feedWriter) baseOf(base string) string { return joinBase(w.in.URL, base) }

// finish says what the whole feed is.
func (w *feedWriter) finish(ctx context.Context, doc *sift.Document, h *feedHead) error {
	if err := w.head(ctx, h); err != nil {
		return err
	}
	if h.next != "" {
		p := dom.Element(atom.P)
		p.AppendChild(linkTo("Older entries", h.next))
		w.add(p, h.base, nil)
	}
	doc.Kind, doc.Main = sift.KindFeed, w.body
	doc.Title = firstText(w.body, atom.H1)
	doc.Author = named(h.authors)
	doc.Published = rfc3339(feedDate(h.published))
	doc.Language = (&metadata{lang: h.language}).language(w.in.ContentLanguage)
	if c := w.body.FirstChild; c != nil && c.DataAtom == atom.Section {
		for n := c.FirstChild; n != nil; n = n.NextSibling {
			if n.DataAtom != atom.H1 {
				doc.Description = oneLine(text(n), maxDescription)
				break
			}
		}
	}
	doc.VisibleChars = normalize.CountVisible(w.body)
	unseen(doc, &w.left)
	if w.cut {
		warn(doc, sift.WarnDeepMarkup, fmt.Sprintf("the feed is too large to be read whole: %d entries are shown; mode raw has all of it", w.entries))
	}
	if w.flat {
		warn(doc, sift.WarnDeepMarkup, "an entry is nested too deeply or too large to be read as a tree; headings, paragraphs, lists, code and links are kept, tables and other structure may be lost")
	}
	return nil
}

// demote moves the headings under n so far down that the highest of them has
// the level given, and keeps the steps between them.
func demote(n *html.Node, level int) {
	highest := 7
	each := func(f func(c *html.Node, level int)) {
		for c := n.FirstChild; c != nil; c = dom.Next(c, n) {
			if l := dom.HeadingLevel(c); l > 0 {
				f(c, l)
			}
		}
	}
	each(func(_ *html.Node, l int) { highest = min(highest, l) })
	if highest >= level {
		return
	}
	names := [...]atom.Atom{atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6}
	each(func(c *html.Node, l int) {
		c.DataAtom = names[min(l+level-highest, 6)-1]
		c.Data = c.DataAtom.String()
	})
}

// ownAnchors gives the anchors of an entry names of their own: every entry of
// some blogs has a note called fn1. Others are no use, for they are not those of
// the feed's address.
func ownAnchors(body *html.Node, number int) {
	prefix := "entry-" + strconv.Itoa(number) + "-"
	var wanted map[string]bool
	for c := body.FirstChild; c != nil; c = dom.Next(c, body) {
		for i := range c.Attr {
			if a := &c.Attr[i]; a.Key == "data-noteref" {
				if wanted == nil {
					wanted = make(map[string]bool)
				}
				wanted[a.Val] = true
				a.Val = prefix + a.Val
			}
		}
	}
	for c := body.FirstChild; c != nil; c = dom.Next(c, body) {
		for i := range c.Attr {
			if a := &c.Attr[i]; a.Key == "id" {
				if wanted[a.Val] {
					a.Val = prefix + a.Val
				} else {
					c.Attr = slices.Delete(c.Attr, i, i+1)
				}
				break
			}
		}
	}
}

// firstText gives the text of the first element of a kind.
func firstText(body *html.Node, a atom.Atom) string {
	for c := body.FirstChild; c != nil; c = dom.Next(c, body) {
		if c.DataAtom == a {
			return oneLine(text(c), maxTitle)
		}
	}
	return ""
}

// linkTo makes a link, or a text where there is nothing to link to.
func linkTo(s, href string) *html.Node {
	if strings.TrimSpace(href) == "" {
		return dom.Text(s)
	}
	a := dom.Element(atom.A)
	a.Attr = []html.Attribute{{Key: "href", Val: href}}
	a.AppendChild(dom.Text(s))
	return a
}

// appendTo puts an element that holds one node at the end of another.
func appendTo(to *html.Node, a atom.Atom, inner *html.Node) {
	n := dom.Element(a)
	n.AppendChild(inner)
	to.AppendChild(n)
}
