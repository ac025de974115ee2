package extract

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/html"

	"sift.build/sift/internal/sift"
)

const (
	// maxEntries is how many entries of a feed are read.
	maxEntries = 5000
	// maxFeedItems is how many authors, categories and enclosures of one entry
	// are named each; that there are more is said.
	maxFeedItems = 200
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
			media = plainMarkup(c.words())
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
	case "related": // the PDF of a paper
		if kind := n.attr("type"); href != e.link && !strings.HasSuffix(kind, "xml") {
			e.enclose(enclosure{link: href, kind: kind, title: n.attr("title")})
		}
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
			*description = plainMarkup(c.words())
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
	title := n.child("media:title").words()
	if title == "" { // of a picture it is what others call alt
		title = n.child("media:description").words()
	}
	return enclosure{link: n.attr("url"), kind: kind, size: n.attr("filesize"), title: title}
}

func (e *entry) enclose(c enclosure) {
	if c.link = strings.TrimSpace(c.link); c.link == "" || len(e.enclosures) > maxFeedItems {
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
	if s = oneLine(s, maxFeedName); s == "" || len(names) > maxFeedItems || slices.Contains(names, s) {
		return names
	}
	return append(names, s)
}

// named joins names for a line.
func named(names []string) string {
	if len(names) > maxFeedItems {
		return strings.Join(names[:maxFeedItems], ", ") + " and more"
	}
	return strings.Join(names, ", ")
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
	return plainMarkup(html.UnescapeString(s))
}

// plainMarkup writes a plain text as paragraphs. Empty lines divide them. Within
// one, the line breaks of a text that was wrapped to a width are spaces, and
// others are kept.
func plainMarkup(s string) string {
	if s == "" {
		return ""
	}
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	var b strings.Builder
	var part []string
	end := func() {
		if len(part) == 0 {
			return
		}
		sep := "<br>\n"
		if isWrapped(part) {
			sep = "\n"
		}
		b.WriteString("<p>")
		for i, line := range part {
			if i > 0 {
				b.WriteString(sep)
			}
			b.WriteString(html.EscapeString(line))
		}
		b.WriteString("</p>\n")
		part = part[:0]
	}
	for line := range strings.SplitSeq(s, "\n") {
		if line = strings.TrimSpace(line); line == "" {
			end()
		} else {
			part = append(part, line)
		}
	}
	end()
	return b.String()
}

// isWrapped says whether lines were wrapped to a width: all but the last are
// about as long as the longest, and that is about a line of a letter.
func isWrapped(lines []string) bool {
	longest := 0
	for _, line := range lines {
		longest = max(longest, len(line))
	}
	if longest < 50 || longest > 120 {
		return false
	}
	for _, line := range lines[:len(lines)-1] {
		if len(line) < longest-25 {
			return false
		}
	}
	return true
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
	return plainMarkup(n.source())
}

// jsonFeedItem is an item of JSON Feed 1.0 or 1.1, as far as it is read. What can
// hold many values is left as it is written: an empty object is two bytes there
// and a hundred in memory.
type jsonFeedItem struct {
	ID          json.RawMessage `json:"id"`
	URL         string          `json:"url"`
	External    string          `json:"external_url"`
	Title       string          `json:"title"`
	HTML        string          `json:"content_html"`
	Text        string          `json:"content_text"`
	Summary     string          `json:"summary"`
	Published   string          `json:"date_published"`
	Modified    string          `json:"date_modified"`
	Author      json.RawMessage `json:"author"`
	Authors     json.RawMessage `json:"authors"`
	Tags        json.RawMessage `json:"tags"`
	Attachments json.RawMessage `json:"attachments"`
}

type jsonFeedName struct {
	Name string `json:"name"`
}

type jsonFeedFile struct {
	URL      string      `json:"url"`
	Kind     string      `json:"mime_type"`
	Title    string      `json:"title"`
	Size     json.Number `json:"size_in_bytes"`
	Duration json.Number `json:"duration_in_seconds"`
}

// eachJSON decodes the values of an array, or the one value that there is, until
// f says that it is enough. A value of another type is given as far as it fits.
func eachJSON[T any](raw json.RawMessage, f func(*T) bool) {
	if len(raw) == 0 {
		return
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if raw[0] == '[' {
		if _, err := dec.Token(); err != nil {
			return
		}
	}
	for dec.More() {
		var v T
		if err := dec.Decode(&v); err != nil && !isTypeError(err) {
			return
		}
		if !f(&v) {
			return
		}
	}
}

func isTypeError(err error) bool {
	_, ok := errors.AsType[*json.UnmarshalTypeError](err)
	return ok
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
		Version json.RawMessage `json:"version"`
	}
	if json.Unmarshal(text, &f) != nil {
		return false
	}
	version := jsonString(f.Version)
	return strings.HasPrefix(version, jsonFeedMark) || strings.HasPrefix(version, "http"+strings.TrimPrefix(jsonFeedMark, "https"))
}

// jsonString gives a JSON string, and "" for any other value.
func jsonString(raw json.RawMessage) string {
	var s string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// readJSONFeed fills the document from a JSON Feed, item by item.
func readJSONFeed(ctx context.Context, doc *sift.Document, text []byte, in Input) error {
	w := newFeedWriter(in)
	var head feedHead
	dec := json.NewDecoder(bytes.NewReader(text))
	if _, err := dec.Token(); err != nil {
		return fmt.Errorf("extract: read JSON Feed: %w", err) // it has been read once before
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return fmt.Errorf("extract: read JSON Feed: %w", err)
		}
		if key == "items" {
			if err := w.jsonItems(ctx, dec); err != nil {
				return err
			}
			continue
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return fmt.Errorf("extract: read JSON Feed: %w", err)
		}
		switch key {
		case "title":
			head.title = html.EscapeString(jsonString(raw))
		case "home_page_url":
			head.link = jsonString(raw)
		case "description":
			head.description = plainMarkup(jsonString(raw))
		case "language":
			head.language = jsonString(raw)
		case "next_url":
			head.next = jsonString(raw)
		case "author", "authors":
			head.authors = withNames(head.authors, raw)
		}
	}
	return w.finish(ctx, doc, &head)
}

// withNames adds the names of people.
func withNames(names []string, raw json.RawMessage) []string {
	eachJSON(raw, func(n *jsonFeedName) bool {
		names = withName(names, n.Name)
		return len(names) <= maxFeedItems
	})
	return names
}

// jsonItems reads the value of the member that holds the items.
func (w *feedWriter) jsonItems(ctx context.Context, dec *json.Decoder) error {
	open, err := dec.Token()
	if err != nil {
		return fmt.Errorf("extract: read JSON Feed: %w", err)
	}
	delim, ok := open.(json.Delim)
	if !ok {
		return nil // null, for one
	}
	for seen := 0; dec.More(); {
		if err := alive(ctx); err != nil {
			return err
		}
		if delim != '[' { // an object: the name of a member
			if _, err := dec.Token(); err != nil {
				return fmt.Errorf("extract: read JSON Feed: %w", err)
			}
		}
		if seen++; delim != '[' || seen > maxEntries {
			w.cut = w.cut || delim == '['
			var raw json.RawMessage
			if err := dec.Decode(&raw); err != nil {
				return fmt.Errorf("extract: read JSON Feed: %w", err)
			}
			continue
		}
		var item jsonFeedItem
		if err := dec.Decode(&item); err != nil && !isTypeError(err) {
			return fmt.Errorf("extract: read JSON Feed: %w", err)
		}
		e := item.entry()
		if err := w.entry(ctx, &e); err != nil {
			return err
		}
	}
	if _, err := dec.Token(); err != nil {
		return fmt.Errorf("extract: read JSON Feed: %w", err)
	}
	return nil
}

func (item *jsonFeedItem) entry() entry {
	e := entry{
		title: html.EscapeString(item.Title), link: item.URL, published: item.Published, updated: item.Modified,
		content: item.HTML,
	}
	if id := jsonString(item.ID); e.link == "" && isWebAddress(id) {
		e.link = id
	}
	e.authors = withNames(withNames(nil, item.Authors), item.Author)
	eachJSON(item.Tags, func(tag *string) bool {
		e.categories = withName(e.categories, *tag)
		return len(e.categories) <= maxFeedItems
	})
	if strings.TrimSpace(e.content) == "" {
		e.content = firstMarkup(plainMarkup(item.Text), plainMarkup(item.Summary))
	}
	if item.External != "" && item.External != e.link && e.link != "" {
		e.from, e.fromLink = item.External, item.External
	}
	if e.link == "" {
		e.link = item.External
	}
	eachJSON(item.Attachments, func(a *jsonFeedFile) bool {
		e.enclose(enclosure{link: a.URL, kind: a.Kind, size: a.Size.String(), title: a.Title})
		if s, err := a.Duration.Float64(); err == nil && s > 0 && s < 1e7 && e.duration == "" {
			e.duration = (time.Duration(s) * time.Second).String()
		}
		return len(e.enclosures) <= maxFeedItems
	})
	return e
}
