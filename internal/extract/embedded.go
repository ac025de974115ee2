package extract

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"sift.build/sift/internal/dom"
	"sift.build/sift/internal/normalize"
	"sift.build/sift/internal/sift"
)

// Where an EmbeddedDocument was found.
const (
	fromLinkedData = "json-ld"
	fromState      = "state"
	fromNoscript   = "noscript"
)

const (
	// leastEmbedded is how much visible text data must have to stand in for a
	// page. Where schema.org says in so many words that a text is that of the
	// article, leastArticleBody will do.
	leastEmbedded    = 200
	leastArticleBody = 60
	// maxEmbedded is how much markup stands in for a page at most, in bytes.
	maxEmbedded = 4 << 20
	// shellChars is how many visible characters a page has at most to be taken
	// for a shell.
	shellChars = 200
)

// EmbeddedDocument is the content that a page carries as data.
type EmbeddedDocument struct {
	Document *sift.Document
	From     string // json-ld, state or noscript
}

// Shell says whether a page shows so little that what it carries as data is
// worth a look: nothing, hardly anything, or a call to turn JavaScript on. It
// is true of a short real page too: [Embedded] finds nothing there.
func Shell(doc *sift.Document) bool {
	if doc == nil {
		return false
	}
	fallback := false
	for _, w := range doc.Warnings {
		switch w.Code {
		case sift.WarnNoText, sift.WarnEmpty, sift.WarnJSShell:
			return true
		case sift.WarnFallback:
			fallback = true
		default:
		}
	}
	switch {
	case doc.Kind != sift.KindHTML:
		return false
	case doc.VisibleChars < shellChars:
		return true
	case doc.VisibleChars < 4*shellChars && asksForScripts(doc.Main):
		return true
	}
	// Menu and footer are there, and nothing between them.
	if doc.VisibleChars < 15*shellChars && (fallback || doc.Main != nil && normalize.CountVisible(doc.Main) < shellChars/2) {
		return true
	}
	return doc.VisibleChars < 5*shellChars && doc.Main != nil && outsideLinks(doc.Main) < shellChars/4
}

// outsideLinks counts the bytes of text that are no part of a link, white space
// left out.
func outsideLinks(top *html.Node) int {
	total := 0
	for n := top; n != nil; {
		if n.DataAtom == atom.A {
			n = after(n, top)
			continue
		}
		if n.Type == html.TextNode {
			size, _ := measure(n.Data)
			total += int(size)
		}
		n = dom.Next(n, top)
	}
	return total
}

// asksForScripts says whether a text asks to turn JavaScript on.
func asksForScripts(n *html.Node) bool {
	if n == nil {
		return false
	}
	s := strings.ToLower(oneLine(text(n), 4*shellChars))
	if !strings.Contains(s, "javascript") {
		return false
	}
	for _, word := range []string{
		"enable", "turn on", "activate", "requires", "required", "need", "without", "disabled", "supported", "aktivier", "benötig", "activer", "activez", "désactivé",
		"habilit", "activar", "active ", "attiva", "abilita", "inschakel", "включит", "włącz", "有効", "启用", "啟用", "사용", "aktiver", "povol", "etkinleştir",
	} {
		if strings.Contains(s, word) {
			return true
		}
	}
	return false
}

// found is what stands in for a page, before it has been cleaned.
type found struct {
	from   string
	title  string
	parts  []string // HTML, each parsed by itself so that none swallows the next
	size   int      // of their text
	sure   bool     // said to be the text of the article
	author []string
	date   string
	lang   string
	site   string
	about  string // a description
	cut    bool   // there was more
	short  bool   // a summary of the article only
}

func (f *found) add(markup string) {
	if markup == "" {
		return
	}
	f.parts = append(f.parts, markup)
}

// Embedded gives the content that a page carries as data but does not show: an
// empty shell that a script would fill. In order of trust it is the text of
// schema.org's articles and the like (json-ld), the state of a framework in a
// script or attribute (state), and what stands in noscript elements
// (noscript).
//
// The Document is one that Extract gives of a page: cleaned by the same rules,
// with links resolved against the page, with what the page says about itself and,
// where it says nothing, what the data says. Its Page is what was found; a
// Document that was saved and loaded has none, and Page gives that of the shell.
//
// ok is false when nothing was found that has enough text, or no more than what
// the page shows anyway. Errors are those of Extract, but that a body which is
// no HTML page is no error.
func Embedded(ctx context.Context, in Input) (e EmbeddedDocument, ok bool, err error) {
	if len(in.Body) == 0 {
		return e, false, nil
	}
	b, err := open(ctx, in)
	var failure *sift.Failure
	switch {
	case errors.As(err, &failure) && failure.Code == sift.CodeUnsupported, err == nil && b.kind != sift.KindHTML:
		return e, false, nil
	case err != nil:
		return e, false, err
	}
	base, _ := url.Parse(in.URL)
	root, _, err := parse(ctx, b.text)
	if err != nil {
		return e, false, ended(err)
	}
	meta := collect(root)
	href := baseHref(root)
	page := normalize.Page(root, base)
	shown := normalize.CountVisible(page.Body)
	if err := alive(ctx); err != nil {
		return e, false, err
	}
	data, err := readData(b.text, ctx.Err)
	if err != nil {
		return e, false, ended(err)
	}

	candidates := make([]*found, 0, 3)
	linked := meta.fromLinked()
	if linked != nil {
		candidates = append(candidates, linked)
	}
	if linked == nil || !linked.sure || linked.size < 1000 || isCutShort(linked.parts) {
		state := readProse(data, base).choose(meta, base)
		if data.values.err != nil {
			return e, false, ended(data.values.err)
		}
		switch {
		case state == nil:
		case linked != nil && (state.size >= 3*linked.size || !linked.sure && 2*state.size >= 3*linked.size):
			// A summary, or the beginning of what the state has as a whole.
			candidates = append([]*found{state}, candidates...)
		default:
			candidates = append(candidates, state)
		}
	}
	if len(data.noscripts) > 0 {
		candidates = append(candidates, &found{from: fromNoscript, parts: data.noscripts})
	}
	for _, f := range candidates {
		doc, err := f.document(ctx, &b, meta, base, href, in)
		if err != nil {
			return e, false, err
		}
		if doc != nil && f.adds(doc, page.Body, shown) {
			return EmbeddedDocument{Document: doc, From: f.from}, true, nil
		}
	}
	return e, false, nil
}

// isCutShort says whether a text ends as one that was cut does.
func isCutShort(parts []string) bool {
	if len(parts) == 0 {
		return false
	}
	s := strings.TrimRight(plainOf(parts[len(parts)-1]), " \n\t")
	return strings.HasSuffix(s, "…") || strings.HasSuffix(s, "...") || strings.HasSuffix(s, "[…]") || strings.HasSuffix(s, "[...]")
}

// baseHref gives the page's <base href>, as written.
func baseHref(root *html.Node) string {
	for n := root; n != nil; n = dom.Next(n, root) {
		if n.DataAtom == atom.Base {
			if h := dom.Attr(n, "href"); h != "" {
				return h
			}
		}
	}
	return ""
}

// document makes a Document of what was found, as Extract does of a page; nil
// when it has too little text.
func (f *found) document(ctx context.Context, b *body, meta *metadata, base *url.URL, href string, in Input) (*sift.Document, error) {
	doc := &sift.Document{Kind: sift.KindHTML, MediaType: b.mediaType, Charset: b.charset.name, CharsetFrom: b.charset.from}
	if b.charset.guess != "" {
		warn(doc, sift.WarnCharsetGuess, b.charset.guess)
	}
	root := &html.Node{Type: html.DocumentNode}
	top, head, bodyNode, article := dom.Element(atom.Html), dom.Element(atom.Head), dom.Element(atom.Body), dom.Element(atom.Article)
	root.AppendChild(top)
	top.AppendChild(head)
	top.AppendChild(bodyNode)
	bodyNode.AppendChild(article)
	// The page's own base stands first, so that one in the data is not heard.
	if href == "" {
		href = in.URL
	}
	baseElement := dom.Element(atom.Base)
	baseElement.Attr = []html.Attribute{{Key: "href", Val: href}}
	head.AppendChild(baseElement)

	size, flat := 0, false
	for _, part := range f.parts {
		if size+len(part) > maxEmbedded {
			f.cut = true
			break
		}
		size += len(part)
		r, wasFlat, err := parse(ctx, []byte(part))
		if err != nil {
			return nil, ended(err)
		}
		flat = flat || wasFlat
		moveBody(article, r)
	}
	if f.title != "" && !hasHeading(article, f.title) {
		h := dom.Element(atom.H1)
		h.AppendChild(&html.Node{Type: html.TextNode, Data: f.title})
		article.InsertBefore(h, article.FirstChild)
	}
	if err := alive(ctx); err != nil {
		return nil, err
	}
	page := normalize.Page(root, base)
	if f.from == fromNoscript {
		dropCalls(page.Body)
		page.VisibleChars = normalize.CountVisible(page.Body)
	}
	least := leastEmbedded
	if f.sure {
		least = leastArticleBody
	}
	if page.VisibleChars < least {
		return nil, nil //nolint:nilnil // too little is no document and no error
	}
	if flat {
		warn(doc, sift.WarnDeepMarkup, "a text in the page's data is nested too deeply or too large to be read as a tree; headings, paragraphs, lists, code and links are kept")
	}
	if f.short {
		warn(doc, sift.WarnPartial, "the page's data holds a summary of its text, not the text itself")
	}
	if f.cut {
		warn(doc, sift.WarnPartial, "the page's data holds more text than is read of it")
	}
	doc.Page, doc.VisibleChars = page.Body, page.VisibleChars
	meta.fill(doc, page.Body, base, in.ContentLanguage)
	f.fill(doc, base)
	unseen(doc, &page)
	if err := alive(ctx); err != nil {
		return nil, err
	}
	s := selectMain(page.Body, meta.about(base))
	main, fallback := s.body(size > largePage), s.fallback
	doc.Main = main
	if size > largePage {
		doc.Page = nil
	}
	if fallback != "" {
		warn(doc, sift.WarnFallback, fallback)
	}
	return doc, nil
}

// fill gives the document what the page does not say of itself.
func (f *found) fill(doc *sift.Document, base *url.URL) {
	host := ""
	if base != nil {
		host = base.Hostname()
	}
	if t := oneLine(f.title, maxTitle); t != "" && (doc.Title == "" || isSite(doc.Title, cmp.Or(doc.Site, f.site), host) || isLoading(doc.Title)) {
		doc.Title = t
	}
	if doc.Author == "" {
		var names []string
		for _, a := range f.author {
			if a = author(a); a != "" && !slices.Contains(names, a) && len(names) < maxAuthors {
				names = append(names, a)
			}
		}
		doc.Author = strings.Join(names, ", ")
	}
	if doc.Published == "" {
		doc.Published = f.date
	}
	if doc.Site == "" {
		doc.Site = oneLine(f.site, maxName)
	}
	if doc.Description == "" {
		doc.Description = oneLine(plainOf(f.about), maxDescription)
	}
	if doc.Language == "" {
		doc.Language = (&metadata{}).language(f.lang)
	}
}

// isLoading says whether a title is that of a page that is still to come.
func isLoading(title string) bool {
	switch strings.ToLower(strings.Trim(title, " .…")) {
	case "loading", "react app", "vite app", "vite + react", "vite + vue", "app", "home", "untitled", "document", "index", "error", "just a moment", "please wait", "welcome":
		return true
	}
	return false
}

// moveBody moves what is in the body of a document to the end of another
// element.
func moveBody(to, root *html.Node) {
	for n := root; n != nil; n = dom.Next(n, root) {
		if n.DataAtom != atom.Body || n.Type != html.ElementNode {
			continue
		}
		for c := n.FirstChild; c != nil; c = n.FirstChild {
			n.RemoveChild(c)
			to.AppendChild(c)
		}
		return
	}
}

// hasHeading says whether an h1, or a first heading that says the same as the
// title, stands in the content.
func hasHeading(n *html.Node, title string) bool {
	first := true
	for c := n; c != nil; c = dom.Next(c, n) {
		switch c.DataAtom {
		case atom.H1:
			return true
		case atom.H2, atom.H3:
			if first && letters(text(c)) == letters(title) {
				return true
			}
			first = false
		}
	}
	return false
}

// dropCalls takes the calls to turn JavaScript on out of what noscript elements
// say.
func dropCalls(body *html.Node) {
	for n := body.FirstChild; n != nil; {
		following := dom.Next(n, body)
		if n.Type == html.ElementNode && (n.DataAtom == atom.P || isShortBlock(n)) {
			if asksForScripts(n) {
				for following != nil && within(following, n) {
					following = dom.Next(following, body)
				}
				n.Parent.RemoveChild(n)
			}
		}
		n = following
	}
}

func within(n, top *html.Node) bool {
	for ; n != nil; n = n.Parent {
		if n == top {
			return true
		}
	}
	return false
}

// isShortBlock says whether an element is a block of a sentence or two.
func isShortBlock(n *html.Node) bool {
	if !normalize.IsBlock(n) {
		return false
	}
	count := 0
	for c := n; c != nil; c = dom.Next(c, n) {
		if c.Type == html.TextNode {
			count += len(c.Data)
		}
		if count > 400 {
			return false
		}
	}
	return true
}

// adds says whether a document says more than the page shows anyway. shown is
// how many characters that is.
func (f *found) adds(doc *sift.Document, page *html.Node, shown int) bool {
	if shown == 0 {
		return true
	}
	tree := doc.Page
	if tree == nil {
		tree = doc.Main
	}
	var g grams
	g.learn(tree)
	known := g.known(page)
	fresh := doc.VisibleChars * (len(g.set) - known) / max(len(g.set), 1)
	least := leastEmbedded
	if f.sure {
		least = leastArticleBody
	}
	return fresh >= least && 10*fresh >= 3*doc.VisibleChars
}
