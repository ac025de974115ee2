package extract

import (
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/publicsuffix"
	"golang.org/x/text/language"

	"sift.build/sift/internal/dom"
	"sift.build/sift/internal/sift"
)

// Bounds on what a page says about itself, in characters.
const (
	maxTitle       = 500
	maxName        = 200
	maxDescription = 1000
	maxAuthors     = 20
	maxHeadings    = 20 // h1 elements that are compared with the title
)

// metadata is what stands in the page beside its content, as it was found.
type metadata struct {
	title  string
	meta   map[string][]string // name, property and itemprop of meta elements, lower case
	linked linked
	lang   string

	itemAuthors []string // microdata and rel=author
	bylines     []string // texts of elements whose class says that they name the author
	itemDates   []string // itemprop=datePublished
	times       []string // time elements with datetime
	markedTimes []string // time elements that say they are of publication
	changes     []string // itemprop=dateModified, and time elements that say they are of a change
	metaCount   int
	siteHeading string // the h1, where that is the name of the site
	thread      bool   // microdata says that this is a forum thread or a question

	lines   []line   // what readers see beside the running text
	address *url.URL // of the page, or nil
	last    string   // the last day on which a page can have been published
}

// maxMeta is how many meta elements are read.
const maxMeta = 500

// collect reads the tree as it was parsed, before the normal form drops what
// is in the head.
func collect(root *html.Node) *metadata {
	m := &metadata{meta: map[string][]string{}, lines: linesOf(root), last: time.Now().Add(48 * time.Hour).UTC().Format(time.DateOnly)}
	for n := root; n != nil; n = dom.Next(n, root) {
		if n.Type == html.ElementNode && n.Namespace == "" {
			m.element(n)
		}
	}
	return m
}

func (m *metadata) element(n *html.Node) {
	switch n.DataAtom {
	case atom.Html, atom.Body:
		if m.lang == "" {
			if m.lang = dom.Attr(n, "lang"); m.lang == "" {
				m.lang = dom.Attr(n, "xml:lang")
			}
		}
		return
	case atom.Title:
		if m.title == "" {
			m.title = text(n)
		}
		return
	case atom.Meta:
		m.metaElement(n)
		return
	case atom.Script:
		if t := dom.Attr(n, "type"); len(t) >= len(ldJSON) && strings.EqualFold(strings.TrimSpace(mediaType(t)), ldJSON) {
			m.linked.add(text(n))
		}
		return
	}
	if len(n.Attr) == 0 {
		return
	}
	if kind := dom.Attr(n, "itemtype"); strings.HasSuffix(kind, "/DiscussionForumPosting") || strings.HasSuffix(kind, "/QAPage") {
		m.thread = true
	}
	if prop := dom.Attr(n, "itemprop"); prop != "" {
		switch {
		case hasWord(prop, "datePublished"):
			if d := dom.Attr(n, "datetime"); d != "" {
				m.itemDates = add(m.itemDates, d)
			} else {
				m.itemDates = add(m.itemDates, dom.Attr(n, "content"))
			}
		case hasWord(prop, "dateModified"):
			m.changes = add(m.changes, firstOf(dom.Attr(n, "datetime"), dom.Attr(n, "content")))
		case hasWord(prop, "author"):
			m.itemAuthors = add(m.itemAuthors, itemName(n))
		}
	}
	if class := dom.Attr(n, "class"); len(m.bylines) == 0 && isByline(class) {
		if s := text(n); len(s) <= 2*maxByline {
			if s = author(s); s != "" && len(s) <= maxByline && !strings.ContainsAny(s, "0123456789:|/") {
				m.bylines = add(m.bylines, s)
			}
		}
	}
	switch n.DataAtom {
	case atom.A:
		if hasWord(dom.Attr(n, "rel"), "author") {
			m.itemAuthors = add(m.itemAuthors, text(n))
		}
	case atom.Time:
		d := dom.Attr(n, "datetime")
		if d == "" {
			return
		}
		class := dom.Attr(n, "class")
		if dom.HasAttr(n, "pubdate") || hasWord(class, "published") || hasWord(class, "entry-date") || hasWord(class, "dt-published") {
			m.markedTimes = add(m.markedTimes, d)
		}
		if hasWord(class, "updated") || hasWord(class, "dt-updated") || hasWord(class, "modified") {
			m.changes = add(m.changes, d)
		}
		m.times = add(m.times, d)
	}
}

// maxByline is longer than the line that names who wrote a page.
const maxByline = 60

// isByline says whether a class is that of the author's name.
func isByline(class string) bool {
	for c := range strings.FieldsSeq(class) {
		switch strings.ToLower(c) {
		case "author", "byline", "author-name", "authorname", "author__name", "author_name", "byline-name", "byline__name", "post-author",
			"post-author-name", "entry-author", "article-author", "article__author", "article-author-name", "p-author", "vcard", "authors":
			return true
		}
	}
	return false
}

func (m *metadata) metaElement(n *html.Node) {
	content := strings.TrimSpace(dom.Attr(n, "content"))
	if content == "" || m.metaCount >= maxMeta {
		return
	}
	m.metaCount++
	for _, a := range n.Attr {
		switch a.Key {
		case "name", "property", "itemprop", "http-equiv":
			key := strings.ToLower(strings.TrimSpace(a.Val))
			m.meta[key] = add(m.meta[key], content)
		}
	}
}

// add appends a value to a short list.
func add(list []string, s string) []string {
	if s = strings.TrimSpace(s); s == "" || len(list) > maxAuthors {
		return list
	}
	return append(list, s)
}

// first gives the first value of the first of the names that has one.
func (m *metadata) first(names ...string) string {
	for _, name := range names {
		if v := m.meta[name]; len(v) > 0 {
			return v[0]
		}
	}
	return ""
}

// fill writes the metadata to the document. body is the page in its normal
// form, for the headings that a reader sees.
func (m *metadata) fill(doc *sift.Document, body *html.Node, address *url.URL, contentLanguage string) {
	m.address = address
	about := m.linked.main()
	host := ""
	if address != nil {
		host = address.Hostname()
	}
	doc.Site = oneLine(firstOf(m.first("og:site_name", "application-name", "citation_journal_title"), m.linked.site()), maxName)
	h1, others := headings(body)
	if own := ownTitle(oneLine(m.title, maxTitle), h1, others); own != "" {
		doc.Title, m.siteHeading = own, h1[0]
	} else {
		doc.Title = m.pageTitle(about, h1, doc.Site, host)
	}
	doc.Author = m.authors(about)
	doc.Published = m.published(about)
	doc.Language = m.language(contentLanguage)
	doc.Description = oneLine(firstOf(m.first("og:description", "description", "twitter:description", "dc.description", "dcterms.abstract"), str(about["description"])), maxDescription)
}

func firstOf(values ...string) string {
	for _, v := range values {
		if strings.TrimSpace(v) != "" {
			return v
		}
	}
	return ""
}

// headings gives the texts of the first h1 elements, and of what may be the title
// where the h1 is the name of the site: lower headings and links of some length.
func headings(body *html.Node) (h1, others []string) {
	for n := body; n != nil && len(h1) < maxHeadings; n = dom.Next(n, body) {
		if n.Type != html.ElementNode {
			continue
		}
		switch n.DataAtom {
		case atom.H1:
			if s := oneLine(text(n), maxTitle); s != "" {
				h1 = append(h1, s)
			}
		case atom.H2, atom.H3, atom.A:
			if len(others) < 10*maxHeadings {
				if s := oneLine(text(n), maxTitle); s != "" {
					others = append(others, s)
				}
			}
		}
	}
	return h1, others
}

// ownTitle gives the title of a page whose only h1 is the name of the site, as on
// boards that put their own name above every thread: the page's title is in front
// of that name, and stands in the page as a heading or a link.
func ownTitle(title string, h1, others []string) string {
	if len(h1) != 1 {
		return ""
	}
	rest, ok := strings.CutSuffix(title, h1[0])
	if !ok || len(h1[0]) < 4 || !endsInSeparator(strings.TrimRight(rest, " ")) {
		return ""
	}
	own := strings.TrimRight(rest, " "+separators)
	if own == "" || !slices.Contains(others, own) {
		return ""
	}
	return own
}

// pageTitle chooses the title. A heading that the page's own title repeats is
// the surest; else the title less the name of the site. Colons and dashes that
// belong to a title stay in it.
func (m *metadata) pageTitle(about map[string]any, h1 []string, site, host string) string {
	titles := make([]string, 0, 4)
	for _, t := range []string{m.first("og:title"), m.title, m.first("twitter:title", "citation_title", "dc.title", "dcterms.title"), str(about["headline"])} {
		if t = oneLine(t, maxTitle); t != "" {
			titles = append(titles, t)
		}
	}
	if len(titles) == 0 {
		if name := oneLine(str(about["name"]), maxTitle); name != "" {
			return name
		}
		if len(h1) > 0 {
			return h1[0]
		}
		return ""
	}
	for _, h := range h1 {
		if isSite(h, site, host) {
			continue
		}
		for _, t := range titles {
			if isSegment(t, h) {
				return h
			}
		}
	}
	if len(h1) > 0 && !isSite(h1[0], site, host) && same(h1) {
		for _, t := range titles {
			if isSegment(h1[0], t) { // the heading says what it is: "Title: …"
				return t
			}
		}
		if likeOne(h1[0], titles) {
			return h1[0]
		}
	}
	best := withoutSite(titles[0], site, host)
	for _, t := range titles[1:] {
		// Another title that is the same without its tail shows what the tail is.
		if isSegment(best, t) && !isSite(t, site, host) {
			best = t
		}
	}
	return best
}

// same says whether all headings are one.
func same(h1 []string) bool {
	for _, h := range h1[1:] {
		if h != h1[0] {
			return false
		}
	}
	return true
}

// likeOne says whether a heading of some length says in other words what one
// of the titles says: it shares half of its words with it. Titles in the head
// are often written for search engines, the heading for readers.
func likeOne(h string, titles []string) bool {
	words := strings.FieldsFunc(strings.ToLower(h), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if len(words) < 3 {
		return false
	}
	for _, t := range titles {
		in := map[string]bool{}
		for _, w := range strings.FieldsFunc(strings.ToLower(t), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			in[w] = true
		}
		shared := 0
		for _, w := range words {
			if in[w] {
				shared++
			}
		}
		if 2*shared >= len(words) {
			return true
		}
	}
	return false
}

// separators stand between a title and the name of the site.
const separators = "|-–—·•»«:/\\>‹›―~"

// isSegment says whether part is the whole of title or all of it on one side
// of a separator that has white space around it.
func isSegment(title, part string) bool {
	if title == part {
		return true
	}
	if len(part) < 4 {
		return false
	}
	if rest, ok := strings.CutPrefix(title, part); ok {
		r := strings.TrimLeft(rest, " ")
		return len(r) < len(rest) && strings.ContainsAny(r[:min(len(r), 3)], separators) && strings.IndexAny(r, separators) == 0
	}
	if rest, ok := strings.CutSuffix(title, part); ok {
		r := strings.TrimRight(rest, " ")
		return len(r) < len(rest) && strings.LastIndexAny(r, separators) >= len(r)-3 && endsInSeparator(r)
	}
	return false
}

func endsInSeparator(s string) bool {
	for _, sep := range separators {
		if strings.HasSuffix(s, string(sep)) {
			return true
		}
	}
	return false
}

// withoutSite takes the name of the site off the end or the beginning of a
// title, and whatever a bar divides off the end.
func withoutSite(title, site, host string) string {
	for range 3 {
		at, width := lastSeparator(title)
		if at < 0 {
			break
		}
		left, right := strings.TrimSpace(title[:at]), strings.TrimSpace(title[at+width:])
		bar := title[at:at+width] == "|"
		switch {
		case left == "" || right == "":
			return title
		case isSite(right, site, host), bar && len(strings.Fields(left)) >= 2 && len(strings.Fields(right)) <= 5:
			title = left
			continue
		}
		break
	}
	for i, r := range title {
		if strings.ContainsRune(separators, r) && i > 0 && i+len(string(r)) < len(title) && title[i+len(string(r))] == ' ' {
			if right := strings.TrimSpace(title[i+len(string(r)):]); right != "" && isSite(strings.TrimSpace(title[:i]), site, host) {
				return right
			}
			break
		}
	}
	return title
}

// lastSeparator finds the last separator with white space on both sides.
func lastSeparator(title string) (at, width int) {
	at = -1
	for i, r := range title {
		n := len(string(r))
		if i > 0 && i+n < len(title) && title[i-1] == ' ' && title[i+n] == ' ' && strings.ContainsRune(separators, r) {
			at, width = i, n
		}
	}
	return at, width
}

// isSite says whether a part of a title is the name of the site.
func isSite(part, site, host string) bool {
	p := letters(part)
	if p == "" {
		return false
	}
	if s := letters(site); s != "" && (p == s || len(s) >= 4 && strings.Contains(p, s) && len(p) <= 2*len(s)) {
		return true
	}
	h := strings.TrimPrefix(host, "www.")
	if p == letters(h) {
		return true
	}
	if domain, err := publicsuffix.EffectiveTLDPlusOne(h); err == nil {
		label, _, _ := strings.Cut(domain, ".")
		if l := letters(label); len(l) >= 3 && (p == l || len(l) >= 5 && strings.Contains(p, l) && len(p) <= 2*len(l)) {
			return true
		}
	}
	return false
}

// letters keeps letters and digits only, in lower case.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

// authorSources gives the names of who wrote the page as each source has them,
// the surest first.
func (m *metadata) authorSources(about map[string]any) [][]string {
	return [][]string{
		m.linked.names(about["author"], 0),
		m.meta["citation_author"], m.meta["author"], m.meta["article:author"], m.meta["parsely-author"], m.meta["sailthru.author"],
		m.meta["dc.creator"], m.meta["dcterms.creator"], m.meta["dc.contributor"],
		m.linked.names(about["creator"], 0),
		m.itemAuthors, m.bylines, m.seenAuthors(),
	}
}

// authors gives the names of who wrote the page, in the order of the page.
func (m *metadata) authors(about map[string]any) string {
	sources := m.authorSources(about)
	thread := m.isThread(m.address)
	if thread {
		sources = slices.Insert(sources, 1, m.asked())
	}
	for _, names := range sources {
		var out []string
		if thread && len(names) > 1 {
			names = names[:1] // the others answer
		}
		seen := map[string]bool{}
		for _, n := range names {
			n = author(n)
			if key := letters(n); key != "" && !seen[key] && len(out) < maxAuthors {
				seen[key] = true
				out = append(out, n)
			}
		}
		if len(out) > 0 {
			return strings.Join(out, ", ")
		}
	}
	return ""
}

// asked gives who wrote the question or the first post, as the data of a page
// of questions has it inside.
func (m *metadata) asked() []string {
	for _, o := range m.linked.objects {
		for _, t := range types(o) {
			if t == "Question" || t == "DiscussionForumPosting" {
				if names := m.linked.names(o["author"], 0); len(names) > 0 {
					return names
				}
			}
		}
	}
	return nil
}

// author cleans one name, or gives "" for what is none.
func author(s string) string {
	s = oneLine(s, maxName)
	for _, by := range []string{"by ", "By ", "BY ", "Written by ", "Posted by ", "Written By ", "Author: ", "von ", "Von ", "par ", "Par "} {
		s = strings.TrimPrefix(s, by)
	}
	s = strings.Trim(s, " ,;|·-–—")
	low := strings.ToLower(s)
	switch {
	case strings.Contains(s, "://"), strings.HasPrefix(low, "www."), strings.HasPrefix(s, "@"), strings.HasPrefix(s, "/"),
		low == "admin", low == "administrator", low == "author", low == "unknown", low == "anonymous", low == "null", low == "undefined", low == "none",
		low == "written by", low == "posted by", low == "by", low == "the author", low == "authors",
		!strings.ContainsFunc(s, unicode.IsLetter):
		return ""
	}
	return s
}

// published gives when the page was published, as RFC 3339.
func (m *metadata) published(about map[string]any) string {
	var dates []string
	dates = append(dates, str(about["datePublished"]))
	for _, name := range []string{
		"article:published_time", "og:published_time", "article:published", "og:article:published_time", "datepublished",
		"citation_publication_date", "citation_date", "citation_online_date", "parsely-pub-date", "sailthru.date",
		"dc.date.issued", "dcterms.issued", "dc.date", "dcterms.date", "dcterms.created", "dc.date.created",
		"pubdate", "publishdate", "publish-date", "publish_date", "publication_date", "published", "published-date", "published_date", "publisheddate", "date-pub",
		"date", "article.published",
	} {
		dates = append(dates, m.meta[name]...)
	}
	dates = append(dates, str(about["uploadDate"]), str(about["dateCreated"]))
	dates = append(dates, m.itemDates...)
	dates = append(dates, m.markedTimes...)
	if d := m.plausible(dates); d != "" {
		return d
	}
	see := m.shownDates()
	dates = append(see.published, addressDate(m.address))
	dates = append(dates, see.beside...)
	dates = append(dates, see.elsewhere...)
	// One time on the page is its own; of several, nobody knows.
	if len(m.times) > 0 {
		one := rfc3339(m.times[0])
		for _, t := range m.times[1:] {
			if rfc3339(t) != one {
				one = ""
			}
		}
		dates = append(dates, one)
	}
	dates = append(dates, see.changed...)
	return m.plausible(dates)
}

// plausible gives the first date on which a page can have been published.
func (m *metadata) plausible(dates []string) string {
	for _, d := range dates {
		if out := rfc3339(d); out != "" && (m.last == "" || out[:len(time.DateOnly)] <= m.last) {
			return out
		}
	}
	return ""
}

// allAuthors gives everybody whom any source names as an author. A name that is
// written another way around, or that holds several of the others, is not one
// more. What only looks like a byline counts where there is nothing else.
func (m *metadata) allAuthors() []string {
	var names []string
	seen := map[string]bool{}
	sources := m.authorSources(m.linked.main())
	for i, list := range sources {
		if i >= len(sources)-2 && len(names) > 0 {
			break
		}
		for _, n := range list {
			n = author(n)
			words := strings.FieldsFunc(strings.ToLower(n), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
			slices.Sort(words)
			if key := strings.Join(words, " "); key != "" && !seen[key] && len(names) < maxAuthors {
				seen[key] = true
				names = append(names, n)
			}
		}
	}
	out := []string{}
	for i, n := range names {
		inside := 0
		for j, other := range names {
			if i != j && len(letters(other)) >= 4 && strings.Contains(letters(n), letters(other)) {
				inside++
			}
		}
		if inside < 2 {
			out = append(out, n)
		}
	}
	return out
}

// modified gives when the page was last changed, as RFC 3339.
func (m *metadata) modified(about map[string]any) string {
	dates := []string{str(about["dateModified"])}
	for _, name := range []string{
		"article:modified_time", "og:updated_time", "og:article:modified_time", "article:modified", "datemodified", "dcterms.modified", "dc.date.modified",
		"last-modified", "last_modified", "lastmod", "modified", "revised", "parsely-modified-date", "citation_last_modified",
	} {
		dates = append(dates, m.meta[name]...)
	}
	return firstDate(append(dates, m.changes...)...)
}

// language gives the language of the page as a BCP 47 tag.
func (m *metadata) language(header string) string {
	for _, l := range []string{m.lang, m.first("content-language", "og:locale", "dc.language", "dcterms.language", "language"), header} {
		l = strings.TrimSpace(l)
		if strings.ContainsAny(l, ",;") {
			continue // for readers of several languages
		}
		if len(l) < 2 || len(l) > 35 {
			continue
		}
		if tag, err := language.Parse(l); err == nil && tag != language.Und {
			return tag.String()
		}
	}
	return ""
}

// itemName gives the name of a microdata person: the element marked as name
// inside it, else its text, which for a byline is the name.
func itemName(n *html.Node) string {
	if c := dom.Attr(n, "content"); c != "" {
		return c
	}
	for c := n; c != nil; c = dom.Next(c, n) {
		if c.Type == html.ElementNode && c != n && hasWord(dom.Attr(c, "itemprop"), "name") {
			if v := dom.Attr(c, "content"); v != "" {
				return v
			}
			return text(c)
		}
	}
	if s := text(n); len(s) <= maxName {
		return s
	}
	return ""
}
