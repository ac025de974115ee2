package extract

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"sift.build/sift/internal/normalize"
	"sift.build/sift/internal/sift"
)

const (
	// maxEntries is how many entries of a feed are read.
	maxEntries = 5000
	// maxFeedItems is how many authors, categories and enclosures of one entry
	// are kept each.
	maxFeedItems = 20
	// maxFeedName is the longest name of a person or category, in characters.
	maxFeedName = 200
	// maxFeedTitle is the longest title of an entry, in characters.
	maxFeedTitle = 1000
)

// An entry is one item of a feed of any format, with its texts as markup.
type entry struct {
	title      string // as markup
	link       string
	published  string
	updated    string
	authors    []string
	categories []string
	content    string // as markup
	duration   string // of a recording
	comments   string // where they are
	enclosures []enclosure
	from       string // the feed it was taken from
	fromLink   string
	base       string // what its relative links are resolved against; "" is the feed's address
	inner      string // the same for its content
}

type enclosure struct{ link, kind, size, title string }

// A feedHead is what a feed says about itself.
type feedHead struct {
	title       string // as markup
	link        string
	description string // as markup
	language    string
	authors     []string
	categories  []string
	published   string
	base        string
	next        string // the page of older entries
}

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
	return &feedWriter{in: in, address: address, body: element(atom.Body)}
}

// readFeed fills the document from a feed in XML. Not ok is one that holds
// neither a title nor an entry: no feed after all.
func readFeed(ctx context.Context, doc *sift.Document, text []byte, in Input) (ok bool, err error) {
	w := newFeedWriter(in)
	r := &xmlReader{b: text, base: in.URL}
	for r.next() != xmlStart {
		if r.pos >= len(r.b) {
			return false, nil
		}
	}
	var head feedHead
	head.language, head.base = r.attr("xml:lang"), r.base
	isAtom := r.native == familyAtom || r.name == "feed"
	depth := 1
	for depth > 0 {
		if err := alive(ctx); err != nil {
			return false, err
		}
		switch r.next() {
		case xmlEnd:
			depth = 0
		case xmlClose:
			depth--
		case xmlText:
		case xmlStart:
			switch r.name {
			case "item", "entry", "atom:entry":
				n := r.element()
				var e entry
				if isAtom || n.name == "atom:entry" {
					e = atomEntry(n)
				} else {
					e = rssEntry(n)
				}
				if err := w.entry(ctx, &e); err != nil {
					return false, err
				}
			case "channel", "items":
				head.base = r.base
				if l := r.attr("xml:lang"); l != "" && head.language == "" {
					head.language = l
				}
				depth++
			default:
				n := r.element()
				if isAtom {
					atomHead(&head, n)
				} else {
					rssHead(&head, n)
				}
			}
		}
	}
	w.cut = w.cut || r.cut
	if w.entries == 0 && head.title == "" {
		return false, nil
	}
	return true, w.finish(ctx, doc, &head)
}

// rssHead takes what an element of an RSS channel says.
func rssHead(h *feedHead, n *xmlNode) {
	switch n.name {
	case "title":
		if h.title == "" {
			h.title = rssTitle(n)
		}
	case "link":
		if h.link == "" {
			h.link = n.words()
		}
	case "atom:link":
		switch n.attr("rel") {
		case "", "alternate":
			if h.link == "" {
				h.link = n.attr("href")
			}
		case "next":
			h.next = n.attr("href")
		}
	case "description", "tagline":
		h.description = rssMarkup(n)
	case "itunes:summary", "itunes:subtitle":
		if h.description == "" {
			h.description = rssMarkup(n)
		}
	case "language", "dc:language":
		if h.language == "" {
			h.language = n.words()
		}
	case "managingeditor", "dc:creator", "itunes:author", "author":
		h.authors = withName(h.authors, person(n.words()))
	case "category":
		h.categories = withName(h.categories, n.words())
	case "itunes:category":
		h.categories = withName(h.categories, n.attr("text"))
	case "pubdate", "dc:date":
		h.published = n.words()
	case "lastbuilddate":
		if h.published == "" {
			h.published = n.words()
		}
	}
}

// rssEntry reads an item of RSS 0.9x, 1.0 or 2.0.
func rssEntry(n *xmlNode) entry {
	e := entry{base: n.base}
	var description, content, summary, media string
	guid := ""
	for _, c := range n.kids {
		switch c.name {
		case "title":
			if e.title == "" {
				e.title = rssTitle(c)
			}
		case "media:title":
			if e.title == "" {
				e.title = rssTitle(c)
			}
		case "link":
			if href := c.attr("href"); href != "" && c.words() == "" { // Atom's, without its namespace
				e.atomLink(c)
			} else if e.link == "" {
				e.link = c.words()
			}
		case "atom:link":
			e.atomLink(c)
		case "guid":
			if s := c.words(); !strings.EqualFold(c.attr("ispermalink"), "false") && isWebAddress(s) {
				guid = s
			}
		case "description":
			description = rssMarkup(c)
		case "content:encoded", "encoded":
			content = rssMarkup(c)
		case "atom:content", "content", "xhtml:body", "body", "xhtml:div":
			if content == "" {
				content = atomMarkup(c)
			}
		case "atom:summary", "summary", "itunes:summary", "itunes:subtitle":
			if summary == "" {
				summary = rssMarkup(c)
			}
		case "media:description":
			media = textHTML(c.words())
		case "pubdate", "dc:date", "atom:published", "dc:created", "dc:issued":
			if e.published == "" {
				e.published = c.words()
			}
		case "atom:updated", "dc:modified":
			e.updated = c.words()
		case "author", "dc:creator", "itunes:author", "atom:author":
			name := c.words()
			if p := c.child("atom:name"); p != nil {
				name = p.words()
			} else if p := c.child("name"); p != nil {
				name = p.words()
			}
			e.authors = withName(e.authors, person(name))
		case "category", "dc:subject":
			e.categories = withName(e.categories, c.words())
		case "enclosure":
			e.enclose(enclosure{link: c.attr("url"), kind: c.attr("type"), size: c.attr("length")})
		case "media:content":
			e.enclose(mediaOf(c))
			if d := c.child("media:description"); d != nil && media == "" {
				media = textHTML(d.words())
			}
		case "media:group":
			e.mediaGroup(c, &media)
		case "itunes:duration":
			e.duration = c.words()
		case "comments":
			e.comments = c.words()
		case "source":
			e.from, e.fromLink = c.words(), c.attr("url")
		}
	}
	if e.link == "" {
		e.link = guid
	}
	if e.link == "" {
		if about := n.attr("about"); isWebAddress(about) {
			e.link = about
		}
	}
	e.content = firstMarkup(content, description, summary, media)
	return e
}

// firstMarkup is the first that says something.
func firstMarkup(parts ...string) string {
	for _, p := range parts {
		if strings.TrimSpace(p) != "" {
			return p
		}
	}
	return ""
}

// atomHead takes what an element of an Atom feed says.
func atomHead(h *feedHead, n *xmlNode) {
	switch n.name {
	case "title":
		h.title = atomMarkup(n)
	case "subtitle", "tagline":
		h.description = atomMarkup(n)
	case "link":
		switch n.attr("rel") {
		case "", "alternate":
			if h.link == "" {
				h.link = n.attr("href")
			}
		case "next":
			h.next = n.attr("href")
		}
	case "author":
		h.authors = withName(h.authors, atomPerson(n))
	case "category":
		h.categories = withName(h.categories, atomCategory(n))
	case "updated", "modified":
		h.published = n.words()
	}
}

// atomEntry reads an entry of Atom 0.3 or 1.0.
func atomEntry(n *xmlNode) entry {
	e := entry{base: n.base}
	var content, summary, media string
	id := ""
	for _, c := range n.kids {
		switch strings.TrimPrefix(c.name, "atom:") {
		case "title":
			e.title = atomMarkup(c)
		case "link":
			e.atomLink(c)
		case "id":
			id = c.words()
		case "content":
			if src := c.attr("src"); src != "" {
				e.enclose(enclosure{link: src, kind: c.attr("type"), title: "content"})
				break
			}
			content, e.inner = atomMarkup(c), c.base
		case "summary":
			summary = atomMarkup(c)
		case "published", "issued", "created", "dc:date":
			e.published = c.words()
		case "updated", "modified":
			e.updated = c.words()
		case "author":
			e.authors = withName(e.authors, atomPerson(c))
		case "dc:creator":
			e.authors = withName(e.authors, c.words())
		case "category":
			e.categories = withName(e.categories, atomCategory(c))
		case "dc:subject":
			e.categories = withName(e.categories, c.words())
		case "source":
			if t := c.child("title"); t != nil {
				e.from = t.words()
			}
			for _, l := range c.kids {
				if rel := l.attr("rel"); l.name == "link" && (rel == "" || rel == "alternate") {
					e.fromLink = l.attr("href")
				}
			}
		case "media:group":
			e.mediaGroup(c, &media)
		case "media:content":
			e.enclose(mediaOf(c))
		}
	}
	if e.link == "" && isWebAddress(id) {
		e.link = id
	}
	if e.content = firstMarkup(content, summary, media); e.content != content {
		e.inner = ""
	}
	return e
}

// atomLink takes a link element of Atom.
func (e *entry) atomLink(n *xmlNode) {
	href := n.attr("href")
	if n.base != e.base {
		href = resolveIn(n.base, href)
	}
	if href == "" {
		return
	}
	switch n.attr("rel") {
	case "", "alternate":
		if kind := n.attr("type"); e.link == "" || kind == "text/html" {
			e.link = href
		}
	case "enclosure":
		e.enclose(enclosure{link: href, kind: n.attr("type"), size: n.attr("length"), title: n.attr("title")})
	case "replies":
		if e.comments == "" && !strings.HasSuffix(n.attr("type"), "xml") {
			e.comments = href
		}
	}
}

// mediaGroup takes what a group of Media RSS says of one recording.
func (e *entry) mediaGroup(n *xmlNode, description *string) {
	for _, c := range n.kids {
		switch c.name {
		case "media:content":
			e.enclose(mediaOf(c))
		case "media:description":
			*description = textHTML(c.words())
		case "media:title":
			if e.title == "" {
				e.title = html.EscapeString(c.words())
			}
		}
	}
}

func mediaOf(n *xmlNode) enclosure {
	kind := n.attr("type")
	if kind == "" {
		kind = n.attr("medium")
	}
	title := ""
	if t := n.child("media:title"); t != nil {
		title = t.words()
	}
	return enclosure{link: n.attr("url"), kind: kind, size: n.attr("filesize"), title: title}
}

func (e *entry) enclose(c enclosure) {
	if c.link = strings.TrimSpace(c.link); c.link == "" || len(e.enclosures) >= maxFeedItems {
		return
	}
	for i := range e.enclosures {
		if e.enclosures[i].link == c.link {
			return
		}
	}
	e.enclosures = append(e.enclosures, c)
}

// withName adds a name that is not among them.
func withName(names []string, s string) []string {
	if s = oneLine(s, maxFeedName); s == "" || len(names) >= maxFeedItems || slices.Contains(names, s) {
		return names
	}
	return append(names, s)
}

// person gives the name in "mail@host (Name)" and "Name <mail@host>".
func person(s string) string {
	s = strings.TrimSpace(s)
	if i := strings.IndexByte(s, '('); i >= 0 && strings.HasSuffix(s, ")") && strings.Contains(s[:i], "@") {
		return s[i+1 : len(s)-1]
	}
	if i := strings.IndexByte(s, '<'); i > 0 && strings.HasSuffix(s, ">") && strings.Contains(s[i:], "@") {
		return strings.TrimSpace(s[:i])
	}
	return s
}

func atomPerson(n *xmlNode) string {
	for _, c := range n.kids {
		if strings.TrimPrefix(c.name, "atom:") == "name" {
			return c.words()
		}
	}
	if !n.hasElements() {
		return n.words()
	}
	return ""
}

func atomCategory(n *xmlNode) string {
	for _, s := range []string{n.attr("label"), n.attr("term"), n.words()} {
		if s != "" {
			return s
		}
	}
	return ""
}

func isWebAddress(s string) bool {
	return strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://")
}

// rssMarkup gives a text of RSS as HTML. By custom it is HTML, escaped or in a
// CDATA section; what holds no tag is plain text with references in it; and some
// write the elements as they are.
func rssMarkup(n *xmlNode) string {
	if n.hasElements() {
		return n.markup()
	}
	return looseMarkup(n.source())
}

// looseMarkup gives a text that may be HTML as HTML.
func looseMarkup(s string) string {
	if holdsTags(s) {
		return s
	}
	return textHTML(html.UnescapeString(s))
}

// rssTitle gives a title of RSS as markup. "The <b> element" is text: a title
// is markup only where a tag is closed again.
func rssTitle(n *xmlNode) string {
	if n.hasElements() {
		return n.markup()
	}
	s := n.source()
	if holdsTags(s) && strings.Contains(s, "</") {
		return s
	}
	return html.EscapeString(html.UnescapeString(s))
}

// holdsTags says whether a text has tags of HTML in it, rather than words
// between angle brackets.
func holdsTags(s string) bool {
	for at := 0; ; {
		i := strings.IndexByte(s[at:], '<')
		if i < 0 || at+i+1 >= len(s) {
			return false
		}
		at += i + 1
		rest := s[at:]
		if strings.HasPrefix(rest, "!--") {
			return true
		}
		rest = strings.TrimPrefix(rest, "/")
		end := 0
		for end < len(rest) && end < 12 && (isLetter(rest[end]) || rest[end] >= '0' && rest[end] <= '9') {
			end++
		}
		if end == 0 || end == len(rest) || rest[end] != '>' && rest[end] != '/' && !isSpace(rest[end]) || !strings.Contains(rest, ">") {
			continue
		}
		if isElementName(strings.ToLower(rest[:end])) {
			return true
		}
	}
}

// isElementName knows the elements that stand in the texts of feeds. The atoms
// of package atom are no measure: they hold names of attributes too.
func isElementName(s string) bool {
	switch s {
	case "a", "abbr", "acronym", "address", "article", "aside", "audio", "b", "bdi", "bdo", "big", "blockquote", "body", "br", "button", "caption",
		"center", "cite", "code", "col", "colgroup", "dd", "del", "details", "dfn", "div", "dl", "dt", "em", "embed", "figcaption", "figure", "font", "footer",
		"form", "h1", "h2", "h3", "h4", "h5", "h6", "head", "header", "hr", "html", "i", "iframe", "img", "input", "ins", "kbd", "li", "link", "main", "mark", "math",
		"nav", "noscript", "object", "ol", "p", "picture", "pre", "q", "rp", "rt", "ruby", "s", "samp", "script", "section", "small", "source", "span", "strike",
		"strong", "style", "sub", "summary", "sup", "svg", "table", "tbody", "td", "template", "tfoot", "th", "thead", "time", "tr", "tt", "u", "ul", "var",
		"video", "wbr":
		return true
	}
	return false
}

// atomMarkup gives a text construct of Atom as HTML, by its type.
func atomMarkup(n *xmlNode) string {
	kind := strings.ToLower(strings.TrimSpace(n.attr("type")))
	mode := n.attr("mode") // of Atom 0.3
	switch {
	case mode == "base64", strings.HasPrefix(kind, "image/"), strings.HasPrefix(kind, "audio/"), strings.HasPrefix(kind, "video/"):
		return ""
	case n.hasElements() && kind != "text" && kind != "text/plain":
		return n.markup()
	case kind == "html", kind == "text/html", kind == "xhtml", kind == "application/xhtml+xml", mode == "escaped" && kind == "":
		return n.source()
	case n.name == "encoded", kind == "" && n.name == "xhtml:body":
		return n.source()
	}
	if n.name == "title" || n.name == "subtitle" {
		return html.EscapeString(n.source())
	}
	return textHTML(n.source())
}

// jsonFeed is JSON Feed 1.0 and 1.1, as far as it is read.
type jsonFeed struct {
	Version     string         `json:"version"`
	Title       string         `json:"title"`
	HomePage    string         `json:"home_page_url"`
	Description string         `json:"description"`
	Next        string         `json:"next_url"`
	Language    string         `json:"language"`
	Author      jsonFeedName   `json:"author"`
	Authors     []jsonFeedName `json:"authors"`
	Items       []jsonFeedItem `json:"items"`
}

type jsonFeedName struct {
	Name string `json:"name"`
}

type jsonFeedItem struct {
	ID          any            `json:"id"`
	URL         string         `json:"url"`
	External    string         `json:"external_url"`
	Title       string         `json:"title"`
	HTML        string         `json:"content_html"`
	Text        string         `json:"content_text"`
	Summary     string         `json:"summary"`
	Image       string         `json:"image"`
	Published   string         `json:"date_published"`
	Modified    string         `json:"date_modified"`
	Author      jsonFeedName   `json:"author"`
	Authors     []jsonFeedName `json:"authors"`
	Tags        []string       `json:"tags"`
	Attachments []struct {
		URL      string      `json:"url"`
		Kind     string      `json:"mime_type"`
		Title    string      `json:"title"`
		Size     json.Number `json:"size_in_bytes"`
		Duration json.Number `json:"duration_in_seconds"`
	} `json:"attachments"`
}

// jsonFeedMark is how the version of a JSON Feed begins, which is the one sign
// that it is one.
const jsonFeedMark = "https://jsonfeed.org/version/"

// isJSONFeed says whether a JSON text says of itself that it is a JSON Feed.
func isJSONFeed(text []byte) bool {
	text = bytes.TrimSpace(text)
	if len(text) == 0 || text[0] != '{' || !bytes.Contains(text, []byte("jsonfeed.org")) {
		return false
	}
	var f struct {
		Version any `json:"version"`
	}
	if json.Unmarshal(text, &f) != nil {
		return false
	}
	version, _ := f.Version.(string)
	return strings.HasPrefix(version, jsonFeedMark) || strings.HasPrefix(version, "http"+strings.TrimPrefix(jsonFeedMark, "https"))
}

// readJSONFeed fills the document from a JSON Feed.
func readJSONFeed(ctx context.Context, doc *sift.Document, text []byte, in Input) error {
	var f jsonFeed
	// A member of the wrong type is left out; the others are read.
	_ = json.Unmarshal(text, &f)
	w := newFeedWriter(in)
	head := feedHead{
		title: html.EscapeString(f.Title), link: f.HomePage, description: textHTML(f.Description), language: f.Language, next: f.Next,
	}
	for _, a := range append(f.Authors, f.Author) {
		head.authors = withName(head.authors, a.Name)
	}
	for i := range f.Items {
		if err := alive(ctx); err != nil {
			return err
		}
		e := f.Items[i].entry()
		if err := w.entry(ctx, &e); err != nil {
			return err
		}
	}
	return w.finish(ctx, doc, &head)
}

func (item *jsonFeedItem) entry() entry {
	e := entry{
		title: html.EscapeString(item.Title), link: item.URL, published: item.Published, updated: item.Modified,
		content: item.HTML,
	}
	if id, ok := item.ID.(string); ok && e.link == "" && isWebAddress(id) {
		e.link = id
	}
	for _, a := range append(item.Authors, item.Author) {
		e.authors = withName(e.authors, a.Name)
	}
	for _, t := range item.Tags {
		e.categories = withName(e.categories, t)
	}
	if strings.TrimSpace(e.content) == "" {
		e.content = firstMarkup(textHTML(item.Text), textHTML(item.Summary))
	}
	if item.External != "" && item.External != e.link {
		e.from, e.fromLink = item.External, item.External
	}
	if e.link == "" {
		e.link = item.External
	}
	for _, a := range item.Attachments {
		e.enclose(enclosure{link: a.URL, kind: a.Kind, size: a.Size.String(), title: a.Title})
		if s, err := a.Duration.Float64(); err == nil && s > 0 && s < 1e7 && e.duration == "" {
			e.duration = (time.Duration(s) * time.Second).String()
		}
	}
	return e
}

// head writes what the feed says about itself, which may stand behind its
// entries, in front of them.
func (w *feedWriter) head(ctx context.Context, h *feedHead) error {
	top := element(atom.Section)
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
	for c := part; c != nil && base != ""; c = next(c, part) {
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
	h := element(level)
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
	flat := false
	if w.nodes += p.nodes; w.nodes > maxNodes {
		root, err = flatten(ctx, b)
		flat = true
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
	if w.entries >= maxEntries {
		w.cut = true
		return nil
	}
	w.entries++
	published, updated := feedDate(e.published), feedDate(e.updated)
	if published == "" {
		published, updated = updated, ""
	}
	top := element(atom.Article)
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
			if i > 0 {
				p.AppendChild(textNode(", "))
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
	line := element(atom.P)
	sep := func() {
		if line.FirstChild != nil {
			line.AppendChild(textNode(" · "))
		}
	}
	say := func(s string) {
		sep()
		line.AppendChild(textNode(s))
	}
	if published != "" {
		say(published)
	}
	if updated != "" && updated != published {
		say("updated " + updated)
	}
	if len(e.authors) > 0 {
		say("by " + strings.Join(e.authors, ", "))
	}
	if len(e.categories) > 0 {
		say("in " + strings.Join(e.categories, ", "))
	}
	if s := oneLine(e.duration, 32); s != "" {
		say("duration " + s)
	}
	if s := oneLine(e.from, maxFeedName); s != "" {
		sep()
		line.AppendChild(textNode("from "))
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
	top, head, body := element(atom.Html), element(atom.Head), element(atom.Body)
	root.AppendChild(top)
	top.AppendChild(head)
	top.AppendChild(body)
	// It stands first, so that one in the part is not heard.
	b := element(atom.Base)
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

// joinBase resolves one base against another.
func joinBase(outer, inner string) string {
	if inner = strings.TrimSpace(inner); inner == "" {
		return outer
	}
	o, err := url.Parse(outer)
	if err != nil {
		return inner
	}
	i, err := o.Parse(inner)
	if err != nil || len(inner) > 2048 {
		return outer
	}
	return i.String()
}

// resolveIn resolves a link against a base.
func resolveIn(base, ref string) string {
	if base == "" || ref == "" {
		return ref
	}
	b, err := url.Parse(strings.TrimSpace(base))
	if err != nil {
		return ref
	}
	u, err := b.Parse(strings.TrimSpace(ref))
	if err != nil || u.String() == "" {
		return ref
	}
	return u.String()
}

// finish says what the whole feed is.
func (w *feedWriter) finish(ctx context.Context, doc *sift.Document, h *feedHead) error {
	if err := w.head(ctx, h); err != nil {
		return err
	}
	if h.next != "" {
		p := element(atom.P)
		p.AppendChild(linkTo("Older entries", h.next))
		w.add(p, h.base, nil)
	}
	doc.Kind, doc.Main = sift.KindFeed, w.body
	doc.Title = firstText(w.body, atom.H1)
	doc.Author = strings.Join(h.authors, ", ")
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

// feedDate gives a date as RFC 3339, and one in no known form as it is.
func feedDate(s string) string {
	s = oneLine(s, maxDate)
	if s == "" {
		return ""
	}
	if d := mailDate(s); d != "" {
		return d
	}
	if d := rfc3339(s); d != "" {
		return d
	}
	return s
}

// mailDate reads the dates of RSS: RFC 822 with its names for zones, years of
// two digits, a wrong day of the week or none, and no seconds. One without a
// zone names no moment, and is not read.
func mailDate(s string) string {
	if i := strings.IndexByte(s, ','); i > 0 && i < 12 {
		s = strings.TrimSpace(s[i+1:])
	}
	at := strings.LastIndexByte(s, ' ')
	if at < 0 {
		return ""
	}
	zone := s[at+1:]
	switch strings.ToUpper(zone) {
	case "GMT", "UT", "UTC", "Z":
		zone = "+0000"
	case "EDT":
		zone = "-0400"
	case "EST", "CDT":
		zone = "-0500"
	case "CST", "MDT":
		zone = "-0600"
	case "MST", "PDT":
		zone = "-0700"
	case "PST":
		zone = "-0800"
	}
	s = s[:at+1] + zone
	for _, layout := range [...]string{
		"2 Jan 2006 15:04:05 -0700", "2 Jan 2006 15:04:05 -07:00", "2 Jan 2006 15:04 -0700", "2 January 2006 15:04:05 -0700",
		"2 Jan 06 15:04:05 -0700", "2 Jan 06 15:04 -0700", "2-Jan-2006 15:04:05 -0700", "2-Jan-06 15:04:05 -0700",
	} {
		if t, err := time.Parse(layout, s); err == nil && t.Year() >= 1900 && t.Year() <= 2200 {
			return t.Format(time.RFC3339)
		}
	}
	return ""
}

// demote moves the headings under n so far down that the highest of them has
// the level given, and keeps the steps between them.
func demote(n *html.Node, level int) {
	highest := 7
	each := func(f func(c *html.Node, level int)) {
		for c := n.FirstChild; c != nil; c = next(c, n) {
			if l := headingRank(c); l > 0 {
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

// headingRank gives the level of a heading, 0 for any other node.
func headingRank(n *html.Node) int {
	switch n.DataAtom {
	case atom.H1:
		return 1
	case atom.H2:
		return 2
	case atom.H3:
		return 3
	case atom.H4:
		return 4
	case atom.H5:
		return 5
	case atom.H6:
		return 6
	}
	return 0
}

// ownAnchors gives the anchors of an entry names of their own: every entry of
// some blogs has a note called fn1. Others are no use, for they are not those of
// the feed's address.
func ownAnchors(body *html.Node, number int) {
	prefix := "entry-" + strconv.Itoa(number) + "-"
	var wanted map[string]bool
	for c := body.FirstChild; c != nil; c = next(c, body) {
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
	for c := body.FirstChild; c != nil; c = next(c, body) {
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
	for c := body.FirstChild; c != nil; c = next(c, body) {
		if c.DataAtom == a {
			return oneLine(text(c), maxTitle)
		}
	}
	return ""
}

func textNode(s string) *html.Node { return &html.Node{Type: html.TextNode, Data: s} }

// linkTo makes a link, or a text where there is nothing to link to.
func linkTo(s, href string) *html.Node {
	if strings.TrimSpace(href) == "" {
		return textNode(s)
	}
	a := element(atom.A)
	a.Attr = []html.Attribute{{Key: "href", Val: href}}
	a.AppendChild(textNode(s))
	return a
}

// appendTo puts an element that holds one node at the end of another.
func appendTo(to *html.Node, a atom.Atom, inner *html.Node) {
	n := element(a)
	n.AppendChild(inner)
	to.AppendChild(n)
}
