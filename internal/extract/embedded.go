package extract

import (
	"cmp"
	"context"
	"hash/maphash"
	"html"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	nethtml "golang.org/x/net/html"
	"golang.org/x/net/html/atom"

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
func outsideLinks(top *nethtml.Node) int {
	total := 0
	for n := top; n != nil; {
		if n.DataAtom == atom.A {
			n = after(n, top)
			continue
		}
		if n.Type == nethtml.TextNode {
			size, _ := measure(n.Data)
			total += int(size)
		}
		n = next(n, top)
	}
	return total
}

// asksForScripts says whether a text asks to turn JavaScript on.
func asksForScripts(n *nethtml.Node) bool {
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
	if err != nil {
		if f, is := err.(*sift.Failure); is && f.Code == sift.CodeUnsupported {
			return e, false, nil
		}
		return e, false, err
	}
	if b.kind != sift.KindHTML {
		return e, false, nil
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
		prose := readProse(data)
		if data.values.err != nil {
			return e, false, ended(data.values.err)
		}
		state := prose.choose(meta, base)
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
func baseHref(root *nethtml.Node) string {
	for n := root; n != nil; n = next(n, root) {
		if n.DataAtom == atom.Base {
			if h := attr(n, "href"); h != "" {
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
	root := &nethtml.Node{Type: nethtml.DocumentNode}
	top, head, bodyNode, article := element(atom.Html), element(atom.Head), element(atom.Body), element(atom.Article)
	root.AppendChild(top)
	top.AppendChild(head)
	top.AppendChild(bodyNode)
	bodyNode.AppendChild(article)
	// The page's own base stands first, so that one in the data is not heard.
	if href == "" {
		href = in.URL
	}
	baseElement := element(atom.Base)
	baseElement.Attr = []nethtml.Attribute{{Key: "href", Val: href}}
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
		h := element(atom.H1)
		h.AppendChild(&nethtml.Node{Type: nethtml.TextNode, Data: f.title})
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
	main, fallback := selectMain(page.Body, meta.about(base), size > largePage)
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
func moveBody(to, root *nethtml.Node) {
	for n := root; n != nil; n = next(n, root) {
		if n.DataAtom != atom.Body || n.Type != nethtml.ElementNode {
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
func hasHeading(n *nethtml.Node, title string) bool {
	first := true
	for c := n; c != nil; c = next(c, n) {
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
func dropCalls(body *nethtml.Node) {
	for n := body.FirstChild; n != nil; {
		following := next(n, body)
		if n.Type == nethtml.ElementNode && (n.DataAtom == atom.P || isShortBlock(n)) {
			if asksForScripts(n) {
				for following != nil && within(following, n) {
					following = next(following, body)
				}
				n.Parent.RemoveChild(n)
			}
		}
		n = following
	}
}

func within(n, top *nethtml.Node) bool {
	for ; n != nil; n = n.Parent {
		if n == top {
			return true
		}
	}
	return false
}

// isShortBlock says whether an element is a block of a sentence or two.
func isShortBlock(n *nethtml.Node) bool {
	if !normalize.IsBlock(n) {
		return false
	}
	count := 0
	for c := n; c != nil; c = next(c, n) {
		if c.Type == nethtml.TextNode {
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
func (f *found) adds(doc *sift.Document, page *nethtml.Node, shown int) bool {
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

// grams are the hashes of a text's runs of four words: what is needed to know
// it again.
type grams struct {
	seed maphash.Seed
	set  map[uint64]bool // whether it was met
}

// maxGrams is how many are kept: the beginning of a text will do.
const maxGrams = 50_000

func (g *grams) learn(n *nethtml.Node) {
	g.seed, g.set = maphash.MakeSeed(), map[uint64]bool{}
	g.walk(n, func(h uint64) bool {
		g.set[h] = false
		return len(g.set) < maxGrams
	})
}

// known counts how many of them stand in another text.
func (g *grams) known(n *nethtml.Node) int {
	count := 0
	g.walk(n, func(h uint64) bool {
		if met, ok := g.set[h]; ok && !met {
			g.set[h] = true
			count++
		}
		return true
	})
	return count
}

func (g *grams) walk(n *nethtml.Node, f func(uint64) bool) {
	w := gramWriter{seed: g.seed}
	for c := n; c != nil; c = next(c, n) {
		if c.Type == nethtml.TextNode && !w.words(c.Data, f) {
			return
		}
	}
}

// A gramWriter makes hashes of four words in a row. Characters of scripts
// without spaces count as words.
type gramWriter struct {
	seed maphash.Seed
	last [4]uint64
	n    int
}

func (w *gramWriter) words(s string, f func(uint64) bool) bool {
	from := -1
	for i, c := range s {
		wide := c >= 0x2e80 && unicode.IsLetter(c) || c >= 0x0e00 && c <= 0x0eff
		if !wide && (unicode.IsLetter(c) || unicode.IsDigit(c)) {
			if from < 0 {
				from = i
			}
			continue
		}
		if from >= 0 {
			if !w.word(s[from:i], f) {
				return false
			}
			from = -1
		}
		if wide && !w.word(string(c), f) {
			return false
		}
	}
	return from < 0 || w.word(s[from:], f)
}

func (w *gramWriter) word(s string, f func(uint64) bool) bool {
	h := maphash.String(w.seed, strings.ToLower(s))
	w.last[w.n%4] = h
	w.n++
	if w.n < 4 {
		return true
	}
	sum := uint64(0)
	for i := range 4 {
		sum = sum*0x9e3779b97f4a7c15 + w.last[(w.n+i)%4]
	}
	return f(sum)
}

// fromLinked gives the text that the schema.org data of the page has, or nil.
func (m *metadata) fromLinked() *found {
	var best *found
	var about map[string]any
	score := 0
	for _, o := range m.linked.objects {
		r := rank(o)
		if r == 0 {
			continue
		}
		f := &found{from: fromLinkedData}
		m.linked.write(f, o, 0)
		f.size = 0
		for _, p := range f.parts {
			n, _ := measure(plainOf(p))
			f.size += int(n)
		}
		s := f.size * r
		if f.sure {
			s *= 4
		}
		if s > score {
			best, about, score = f, o, s
		}
	}
	if best == nil {
		return nil
	}
	best.title = oneLine(plainOf(firstOf(str(about["headline"]), str(about["name"]), str(about["title"]))), maxTitle)
	if best.title == "" { // of a page with one question
		if q, ok := about["mainEntity"].(map[string]any); ok {
			best.title = oneLine(plainOf(str(q["name"])), maxTitle)
		}
	}
	best.author = append(m.linked.names(about["author"], 0), m.linked.names(about["creator"], 0)...)
	best.date = firstDate(str(about["datePublished"]), str(about["dateCreated"]), str(about["uploadDate"]), str(about["datePosted"]))
	best.lang = str(about["inLanguage"])
	best.about = str(about["description"])
	if names := m.linked.names(about["publisher"], 0); len(names) > 0 {
		best.site = names[0]
	}
	return best
}

func firstDate(dates ...string) string {
	for _, d := range dates {
		if out := rfc3339(d); out != "" {
			return out
		}
	}
	return ""
}

// ldText gives a text of schema.org, which may be a list of paragraphs.
func ldText(v any) string {
	list, ok := v.([]any)
	if !ok {
		return str(v)
	}
	var parts []string
	for _, e := range list {
		if s := str(e); s != "" && len(parts) < 1000 {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, "\n\n")
}

// maxLDParts is how many answers, steps, comments or updates are read.
const maxLDParts = 500

// write adds what an object says to f.
func (l *linked) write(f *found, o map[string]any, depth int) {
	if depth > maxLDDepth || len(f.parts) > 4*maxLDParts {
		return
	}
	body := false
	for _, key := range []string{"articleBody", "text", "reviewBody", "transcript"} {
		if s := ldText(o[key]); likeWords(plainOf(s)) {
			f.add(proseHTML(s))
			f.sure, body = true, true
			break
		}
	}
	if !body && depth == 0 {
		if s := ldText(o["description"]); likeWords(plainOf(s)) {
			f.add(proseHTML(s))
			f.short = rank(o) == 5
		}
	}
	for _, t := range types(o) {
		switch t {
		case "Recipe":
			l.strings(f, "Ingredients", o["recipeIngredient"], "ul")
			l.steps(f, "Instructions", o["recipeInstructions"], depth)
		case "HowTo":
			l.steps(f, "Steps", o["step"], depth)
		case "JobPosting":
			for _, key := range []string{"responsibilities", "qualifications", "skills", "experienceRequirements", "educationRequirements", "jobBenefits"} {
				if s := ldText(o[key]); s != "" {
					f.add("<h2>" + html.EscapeString(spaced(key)) + "</h2>" + proseHTML(s))
				}
			}
		case "Question":
			l.each(o["acceptedAnswer"], func(a map[string]any) { l.said(f, "Answer", a, depth) })
			l.each(o["suggestedAnswer"], func(a map[string]any) { l.said(f, "Answer", a, depth) })
		case "QAPage", "FAQPage":
			l.each(o["mainEntity"], func(q map[string]any) {
				if name := ldText(q["name"]); name != "" {
					f.add("<h2>" + html.EscapeString(plainOf(name)) + "</h2>")
				}
				l.write(f, q, depth+1)
				f.sure = true
			})
		case "DiscussionForumPosting", "SocialMediaPosting":
			l.each(o["comment"], func(c map[string]any) { l.said(f, "Comment", c, depth) })
		case "LiveBlogPosting":
			l.each(o["liveBlogUpdate"], func(u map[string]any) {
				if h := str(u["headline"]); h != "" {
					f.add("<h2>" + html.EscapeString(plainOf(h)) + "</h2>")
				}
				l.write(f, u, depth+1)
			})
		case "Product", "ProductGroup":
			l.product(f, o)
		}
	}
}

// said adds an answer or a comment with the name of who wrote it.
func (l *linked) said(f *found, what string, o map[string]any, depth int) {
	s := ldText(o["text"])
	if s == "" {
		return
	}
	head := what
	if names := l.names(o["author"], 0); len(names) > 0 && author(names[0]) != "" {
		head += " by " + author(names[0])
	}
	f.add("<h3>" + html.EscapeString(head) + "</h3>" + proseHTML(s))
	l.each(o["comment"], func(c map[string]any) {
		if depth < maxLDDepth {
			l.said(f, "Comment", c, depth+1)
		}
	})
}

// product adds what a shop says of a thing beside its description.
func (l *linked) product(f *found, o map[string]any) {
	var rows strings.Builder
	row := func(name, value string) {
		if name != "" && value != "" {
			rows.WriteString("<tr><th>" + html.EscapeString(plainOf(name)) + "</th><td>" + html.EscapeString(plainOf(value)) + "</td></tr>")
		}
	}
	if names := l.names(o["brand"], 0); len(names) > 0 {
		row("Brand", names[0])
	}
	row("SKU", scalar(o["sku"]))
	n := 0
	l.each(o["offers"], func(of map[string]any) {
		if price := firstOf(scalar(of["price"]), scalar(of["lowPrice"])); price != "" && n < 20 {
			n++
			row("Price", strings.TrimSpace(price+" "+str(of["priceCurrency"])))
		}
	})
	l.each(o["additionalProperty"], func(p map[string]any) { row(str(p["name"]), scalar(p["value"])) })
	if rows.Len() > 0 {
		f.add("<table>" + rows.String() + "</table>")
	}
	l.each(o["review"], func(r map[string]any) {
		if s := ldText(r["reviewBody"]); s != "" {
			l.said(f, "Review", map[string]any{"text": s, "author": r["author"]}, maxLDDepth)
		}
	})
}

// scalar gives a string or number as text.
func scalar(v any) string {
	if n, ok := v.(float64); ok {
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	return str(v)
}

// spaced writes a key as words.
func spaced(key string) string {
	var b strings.Builder
	for i, c := range key {
		switch {
		case i == 0:
			c = unicode.ToUpper(c)
		case unicode.IsUpper(c):
			b.WriteByte(' ')
			c = unicode.ToLower(c)
		}
		b.WriteRune(c)
	}
	return b.String()
}

// each calls f for an object, or for the objects of a list; a reference is
// followed.
func (l *linked) each(v any, f func(map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		if id, ok := v["@id"].(string); ok && len(v) == 1 && l.byID[id] != nil {
			v = l.byID[id]
		}
		f(v)
	case []any:
		for i, e := range v {
			if i >= maxLDParts {
				return
			}
			if _, list := e.([]any); !list {
				l.each(e, f)
			}
		}
	}
}

func (l *linked) strings(f *found, title string, v any, tag string) {
	list, ok := v.([]any)
	if !ok {
		if s := str(v); s != "" {
			f.add("<h2>" + title + "</h2>" + proseHTML(s))
		}
		return
	}
	var b strings.Builder
	for i, e := range list {
		if s := str(e); s != "" && i < maxLDParts {
			b.WriteString("<li>" + html.EscapeString(plainOf(s)) + "</li>")
		}
	}
	if b.Len() > 0 {
		f.add("<h2>" + title + "</h2><" + tag + ">" + b.String() + "</" + tag + ">")
	}
}

// steps adds instructions: a text, a list of texts, or steps in sections.
func (l *linked) steps(f *found, title string, v any, depth int) {
	if depth > 3 {
		return
	}
	list, ok := v.([]any)
	if !ok {
		if o, is := v.(map[string]any); is {
			list = []any{o}
		} else {
			l.strings(f, title, v, "ol")
			f.sure = f.sure || str(v) != ""
			return
		}
	}
	var b strings.Builder
	flush := func() {
		if b.Len() > 0 {
			f.add("<ol>" + b.String() + "</ol>")
			b.Reset()
			f.sure = true
		}
	}
	if title != "" && len(list) > 0 {
		f.add("<h2>" + html.EscapeString(title) + "</h2>")
	}
	for i, e := range list {
		if i >= maxLDParts {
			break
		}
		o, is := e.(map[string]any)
		switch {
		case !is:
			if s := str(e); s != "" {
				b.WriteString("<li>" + html.EscapeString(plainOf(s)) + "</li>")
			}
		case o["itemListElement"] != nil && str(o["text"]) == "":
			flush()
			if name := str(o["name"]); name != "" {
				f.add("<h3>" + html.EscapeString(plainOf(name)) + "</h3>")
			}
			l.steps(f, "", o["itemListElement"], depth+1)
		default:
			if s := firstOf(str(o["text"]), str(o["description"]), str(o["name"])); s != "" {
				b.WriteString("<li>" + html.EscapeString(plainOf(s)) + "</li>")
			}
		}
	}
	flush()
}

// proseHTML writes a text that may be HTML already.
func proseHTML(s string) string {
	if !strings.Contains(s, "<") && strings.Contains(s, "&lt;") {
		s = html.UnescapeString(s)
	}
	if isHTML(s) {
		return s
	}
	return textHTML(html.UnescapeString(s))
}

const (
	// ownProse is how much text of its own makes an object that has the title or
	// address of the page what the page is about.
	ownProse = 300
	// otherPiece is how long one text has to be in an object of which nothing
	// says that it is the page's.
	otherPiece = 1000
)

// choose picks what the page is about out of all prose of its data, or gives
// nil: the object that has the page's title or address, else the one that most
// of the prose stands in. Wrong content is worse than none, so of the latter
// much is wanted.
func (r *reader) choose(meta *metadata, base *url.URL) *found {
	pieces := r.different()
	if len(pieces) == 0 {
		return nil
	}
	who := newIdentity(meta, base)
	own := make([]bool, len(r.frames)) // objects that are the page's
	strong := make([]int, len(r.frames))
	for i := range r.frames {
		own[i] = i > 0 && r.isOwn(int32(i), who)
	}
	thread := meta.about(base).thread
	for _, p := range pieces {
		weight := p.size
		switch {
		case p.trust == trustLow, p.reader && !thread:
		case p.trust == trustWeak:
			weight *= 2
		default:
			weight *= 6
		}
		if !p.named {
			weight /= 2
		}
		for i := p.frame; i >= 0; i = r.frames[i].up {
			r.frames[i].total += weight
			if p.trust > trustLow && (thread || !p.reader) {
				strong[i] += p.size
			}
		}
	}
	owner, most := int32(0), 0
	for i, is := range own {
		if is && strong[i] > most {
			owner, most = int32(i), strong[i]
		}
	}
	if most >= ownProse && (4*most >= strong[0] || most >= 5*ownProse) {
		// The innermost of those that are the page's which has most of it.
		for i := owner + 1; i < r.frames[owner].end; i++ {
			if own[i] && 4*strong[i] >= 3*most {
				owner = i
			}
		}
	} else {
		owner = r.owner()
		t := letters(r.frames[owner].title)
		biggest, sum, named, headed := 0, 0, false, t != ""
		for _, p := range pieces {
			if r.inside(p.frame, owner) && p.trust == trustStrong && (thread || !p.reader) {
				biggest, sum, named = max(biggest, p.size), sum+p.size, named || p.named
				headed = headed || strings.Contains(p.html, "<h1")
			}
		}
		switch {
		case own[owner] && sum >= leastProse:
		case !named:
			return nil
		case who.vague: // nothing to know it by
			if sum < leastProse || !headed && sum < 3*leastProse {
				return nil
			}
		case t != "", biggest < otherPiece, 5*biggest < sum:
			return nil // it has a title, and not this page's; or it is a heap of things
		}
	}
	f := &found{from: fromState, title: r.frames[owner].title}
	r.collect(f, owner, pieces, thread)
	r.describe(f, owner)
	for up := r.frames[owner].up; f.title == "" && up > 0; up = r.frames[up].up {
		if own[up] {
			f.title = r.frames[up].title
		}
	}
	if len(f.parts) == 0 {
		return nil
	}
	return f
}

// An identity is what tells the object of a page among others.
type identity struct {
	titles []string // of the page, letters only
	slug   string   // the last part of its address
	vague  bool     // the page has no title but that of its site
}

func newIdentity(meta *metadata, base *url.URL) identity {
	var id identity
	host := ""
	if base != nil {
		host = base.Hostname()
		slug := strings.ToLower(strings.Trim(base.Path, "/"))
		slug = slug[strings.LastIndexByte(slug, '/')+1:]
		id.slug, _, _ = strings.Cut(slug, ".")
	}
	id.vague = true
	site := firstOf(meta.first("og:site_name", "application-name"), meta.linked.site())
	main := meta.linked.main()
	for _, t := range []string{meta.title, meta.first("og:title"), meta.first("twitter:title"), str(main["headline"]), str(main["name"])} {
		t = oneLine(plainOf(t), maxTitle)
		if l := letters(t); len(l) >= 4 && !slices.Contains(id.titles, l) {
			id.titles = append(id.titles, l)
		}
		if t != "" && !isLoading(t) && !isSite(t, site, host) && len(strings.Fields(t)) > 2 {
			id.vague = false
		}
	}
	return id
}

// different gives the pieces that do not say what a larger one says, in their
// order: the same text stands in data as HTML, as plain text and shortened.
func (r *reader) different() []piece {
	order := make([]int, len(r.pieces))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		p, q := &r.pieces[a], &r.pieces[b]
		return cmp.Or(cmp.Compare(q.trust, p.trust), cmp.Compare(strings.Count(q.html[:min(len(q.html), 1<<16)], "<"), strings.Count(p.html[:min(len(p.html), 1<<16)], "<")), cmp.Compare(q.size, p.size))
	})
	seed := maphash.MakeSeed()
	said := map[uint64]struct{}{}
	keep := make([]bool, len(r.pieces))
	for _, i := range order {
		if !r.v.tick() {
			return nil
		}
		w := gramWriter{seed: seed}
		var hashes []uint64
		known := 0
		w.words(plainOf(r.pieces[i].html), func(h uint64) bool {
			if _, ok := said[h]; ok {
				known++
			}
			hashes = append(hashes, h)
			return len(hashes) < maxGrams
		})
		if len(hashes) == 0 || known*10 >= len(hashes)*6 {
			if len(hashes) > 0 {
				continue
			}
		}
		keep[i] = true
		if len(said) < 10*maxGrams {
			for _, h := range hashes {
				said[h] = struct{}{}
			}
		}
	}
	var out []piece
	for i, p := range r.pieces {
		if keep[i] {
			out = append(out, p)
		}
	}
	return out
}

// isOwn says whether a frame's object is the one that the page is about: by
// its title, or by the last part of the page's address.
func (r *reader) isOwn(i int32, who identity) bool {
	f := &r.frames[i]
	if f.value < 0 || r.v.list[f.value].kind != valueObject {
		return false
	}
	if t := letters(f.title); len(t) >= 4 {
		for _, title := range who.titles {
			if title == t || len(t) >= 12 && strings.Contains(title, t) || len(title) >= 12 && strings.Contains(t, title) {
				return true
			}
		}
	}
	if len(who.slug) < 4 {
		return false
	}
	at := r.v.get(f.value, "slug", "url", "path", "permalink", "canonicalUrl", "canonical_url", "uri", "href", "link", "id", "_id")
	if r.v.kind(at) == valueObject {
		at = r.v.get(at, "current", "slug", "url") // Sanity
	}
	s := strings.ToLower(strings.Trim(r.v.numberText(at), "/"))
	return s != "" && len(s) < 2048 && s[strings.LastIndexByte(s, '/')+1:] == who.slug
}

// owner finds the object that most of the prose stands in.
func (r *reader) owner() int32 {
	frames := r.frames
	i := int32(0)
	for {
		best := int32(-1)
		for j := i + 1; j < frames[i].end; j = frames[j].end {
			if best < 0 || frames[j].total > frames[best].total {
				best = j
			}
		}
		if best < 0 || frames[best].total*3 < frames[i].total*2 {
			break
		}
		i = best
	}
	// The object with a title around it, and where that is a part of a page the
	// page.
	for n := 0; n < 12 && i > 0; n++ {
		up := frames[i].up
		switch {
		case up <= 0:
			return i
		case frames[i].title == "" && r.titledAbove(i, 5):
			i = up
		case r.isPart(i) && r.titledAbove(i, 4):
			i = up
		default:
			return i
		}
	}
	return i
}

// titledAbove says whether an object with a title stands close above.
func (r *reader) titledAbove(i int32, levels int) bool {
	for range levels {
		if i = r.frames[i].up; i <= 0 {
			return false
		}
		if r.frames[i].title != "" {
			return true
		}
	}
	return false
}

// isPart says whether a frame is a member of a list whose members are parts of
// one thing.
func (r *reader) isPart(i int32) bool {
	f := &r.frames[i]
	return f.up > 0 && r.v.list[r.frames[f.up].value].kind == valueArray && blockKey(f.key)
}

// collect writes the pieces inside a frame in their order, those of a part
// with a title of its own under that.
func (r *reader) collect(f *found, owner int32, pieces []piece, thread bool) {
	strong, rest := false, 0
	for _, p := range pieces {
		if r.inside(p.frame, owner) {
			strong = strong || p.trust > trustLow
			if !p.reader {
				rest += p.size
			}
		}
	}
	// What readers wrote is no part of an article, as everywhere.
	readers := thread || rest < leastContent
	last := owner
	total := 0
	for _, p := range pieces {
		if !r.inside(p.frame, owner) || strong && p.trust == trustLow && p.frame != owner || p.reader && !readers {
			continue
		}
		at := r.titled(p.frame, owner)
		if at != last && at != owner {
			level := 2
			for up := r.titled(r.frames[at].up, owner); up != owner && level < 4; up = r.titled(r.frames[up].up, owner) {
				level++
			}
			if t := r.frames[at].title; t != "" && letters(t) != letters(f.title) && !strings.HasPrefix(letters(plainOf(p.html[:min(len(p.html), 1000)])), letters(t)) {
				tag := "h" + strconv.Itoa(level)
				f.add("<" + tag + ">" + html.EscapeString(t) + "</" + tag + ">")
			}
		}
		last = at
		f.add(p.html)
		f.size += p.size
		total += len(p.html)
		if total > maxEmbedded {
			f.cut = true
			break
		}
	}
}

func (r *reader) inside(i, top int32) bool { return i >= top && i < r.frames[top].end }

// titled gives the innermost frame with a title from i upwards, owner at most.
func (r *reader) titled(i, owner int32) int32 {
	for i > owner && r.frames[i].title == "" {
		i = r.frames[i].up
	}
	return max(i, owner)
}

// describe reads what the owner of the prose says of itself.
func (r *reader) describe(f *found, owner int32) {
	n := 0
	for i := owner; i > 0 && n < 4; i = r.frames[i].up {
		n++
		v := r.frames[i].value
		if r.v.list[v].kind != valueObject {
			continue
		}
		if len(f.author) == 0 {
			f.author = r.people(r.v.get(v, "author", "authors", "byline", "creator", "writer", "writers", "contributors", "postedBy", "user", "owner", "authorName", "author_name"), 0)
		}
		if f.date == "" {
			f.date = r.date(r.v.get(v, "datePublished", "publishedAt", "published_at", "firstPublishedAt", "first_published_at", "publishDate", "publish_date", "publicationDate", "publication_date", "published",
				"publishedDate", "published_date", "pubDate", "publishedOn", "date", "dateTime", "createdAt", "created_at", "created", "dateCreated", "_createdAt", "date_gmt", "display_date", "first_publish_date"))
		}
		if f.about == "" {
			if s := r.v.text(r.v.get(v, "metaDescription", "seoDescription", "description", "excerpt", "summary", "standfirst", "subtitle")); len(s) < 10*maxDescription {
				f.about = s
			}
		}
		if f.lang == "" {
			if s := r.v.text(r.v.get(v, "inLanguage", "language", "locale", "lang")); len(s) < 36 {
				f.lang = s
			}
		}
		if f.title != "" && len(f.author) > 0 && f.date != "" {
			return
		}
	}
}
