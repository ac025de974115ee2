package extract

import (
	"html"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark"
)

const (
	// maxFound is how many pieces of prose are kept of the data of a page.
	maxFound = 5000
	// maxFoundBytes is how much markup they may be together.
	maxFoundBytes = 4 << 20
	// leastPiece is the text of the shortest piece that is kept, where it
	// stands beside others.
	leastPiece = 20
	// leastProse is how much text of sentences shows by itself that it is meant
	// for reading.
	leastProse = 200
)

// trust says how likely a piece of prose is what the page is about.
type trust uint8

const (
	trustLow    trust = iota // a summary
	trustWeak                // short, or under a name that says nothing
	trustStrong              // the body of something
)

// A piece is prose that was found in data, as HTML that is not clean yet.
type piece struct {
	html   string
	size   int // of its text, as measure has it
	trust  trust
	frame  int32 // the innermost object or array around it
	named  bool  // of data that says that it is data
	reader bool  // what readers of the page wrote: a comment, a review
}

// A frame is an object or array on the way to pieces.
type frame struct {
	up     int32
	end    int32 // the first frame that is not inside
	value  int32
	key    string // normalised; of an array's member that of the array
	title  string
	total  int  // the weights of the pieces inside
	reader bool // it is, or is in, what readers wrote
}

// A reader walks the data of a page and picks out what reads like prose.
type reader struct {
	v      *values
	frames []frame
	pieces []piece
	seen   []bool // values that were walked already, which others may link to
	bytes  int
	named  bool
	nested int
	md     goldmark.Markdown
	marked int              // bytes of Markdown that were rendered
	refs   map[string]int32 // the objects of a normalised cache by their name
	ownKey string           // the key that the page's own part may have, by its address
}

// readProse walks all data of a page.
func readProse(d *pageData, base *url.URL) *reader {
	r := &reader{v: &d.values, frames: []frame{{up: -1, value: -1}}, ownKey: normalKey(slugOf(base))}
	for _, root := range d.roots {
		r.named = root.named
		r.refs = nil
		r.seen = append(r.seen, make([]bool, len(r.v.list)-len(r.seen))...)
		r.root(root.value)
	}
	r.frames[0].end = int32(len(r.frames))
	return r
}

// root walks one piece of data. In the cache of a GraphQL client every object
// stands by itself and is named by others; what the page asked for comes first.
func (r *reader) root(i int32) {
	r.apollo(i)
	r.walk(i, 0, "", 0)
}

// apollo resolves the references of a normalised cache: {"__ref":"Article:1"},
// or {"type":"id","id":"Article:1"} of older ones.
func (r *reader) apollo(i int32) {
	v := r.v
	type found struct{ value, first int32 }
	var caches []found
	budget := 10_000 // a link can lead to the same object many times
	var look func(i int32, depth int)
	look = func(i int32, depth int) {
		if i = v.at(i); i < 0 || v.list[i].kind != valueObject || depth > 6 || budget < 0 {
			return
		}
		n := 0
		for c := v.list[i].first; c >= 0 && n < maxMembers; c = v.list[c].next {
			n++
			if v.list[c].key == "ROOT_QUERY" {
				caches = append(caches, found{i, c})
				return
			}
		}
		n = 0
		for c := v.list[i].first; c >= 0 && n < maxMembers; c = v.list[c].next {
			n++
			budget--
			look(c, depth+1)
		}
	}
	look(i, 0)
	for _, cache := range caches {
		if r.refs == nil {
			r.refs = map[string]int32{}
		}
		for c := v.list[cache.value].first; c >= 0 && v.tick(); c = v.list[c].next {
			r.refs[v.list[c].key] = c
		}
		// What was asked for goes to the front.
		before := int32(-1)
		for c := v.list[cache.value].first; c >= 0; c = v.list[c].next {
			if c == cache.first {
				if before >= 0 {
					v.list[before].next = v.list[c].next
					v.list[c].next = v.list[cache.value].first
					v.list[cache.value].first = c
				}
				break
			}
			before = c
		}
	}
}

// follow gives the value that a value stands for.
func (r *reader) follow(i int32) int32 {
	for range 4 {
		if i = r.v.at(i); i < 0 || r.refs == nil || r.v.list[i].kind != valueObject {
			return i
		}
		ref := ""
		if c := r.v.list[i].first; c >= 0 && r.v.list[c].key == "__ref" {
			ref = r.v.text(c)
		} else if c >= 0 && r.v.list[c].key == "type" && r.v.text(c) == "id" {
			ref = r.v.text(r.v.get(i, "id"))
		}
		to, ok := r.refs[ref]
		if ref == "" || !ok {
			return i
		}
		i = to
	}
	return i
}

// normalKey writes a key in lower case with letters only, without what a
// GraphQL client adds in parentheses.
func normalKey(key string) string {
	key, _, _ = strings.Cut(key, "(")
	if len(key) > 64 {
		return ""
	}
	plain := true
	for i := range len(key) {
		if c := key[i]; c < 'a' || c > 'z' {
			plain = false
			break
		}
	}
	if plain {
		return key
	}
	return strings.Map(func(c rune) rune {
		switch {
		case c >= 'A' && c <= 'Z':
			return c + 'a' - 'A'
		case c >= 'a' && c <= 'z':
			return c
		}
		return -1
	}, key)
}

// skipKey says whether what stands under a key is never the content of a page:
// what the interface says, settings, other pages.
func skipKey(key string, kind valueKind) bool {
	switch key {
	case "i", "in", "intl", "translation", "translations", "locale", "locales", "localization", "dictionary", "dictionaries", "strings", "labels", "label",
		"copydeck", "phrases", "vocabulary", "uistrings", "microcopy", "lang", "languages", "resources", "resourcestrings", "localestrings", "inlocale",
		"config", "configuration", "settings", "sitesettings", "siteconfig", "sitesetting", "appconfig", "env", "environment", "runtimeconfig", "publicruntimeconfig", "theme", "themes", "styles", "style", "css",
		"stylesheet", "stylesheets", "analytics", "tracking", "datalayer", "gtm", "ads", "advertising", "adconfig", "adslots", "advertisements", "cookie", "cookies",
		"cookiebanner", "consent", "cookieconsent", "gdpr", "privacy", "onetrust", "featureflags", "features", "flags", "toggles", "experiments", "abtests",
		"navigation", "nav", "navbar", "navigations", "menu", "menus", "mainmenu", "header", "footer", "sitefooter", "siteheader", "sidebar", "breadcrumb", "breadcrumbs", "sitemap",
		"related", "relatedarticles", "relatedposts", "relatedcontent", "relatedstories", "relateditems", "relatedproducts", "relatedlinks", "recommended", "recommendations", "recommendedarticles", "recirculation", "suggested", "suggestions",
		"trending", "popular", "mostread", "mostpopular", "latest", "latestnews", "latestposts", "latestarticles", "recentposts", "recentarticles", "morefrom", "morestories", "morelikethis", "readnext", "upnext", "nextarticle", "previousarticle",
		"nextpost", "previouspost", "prevpost", "prev", "next", "previous", "similar", "similaritems", "similarproducts", "newsletter", "newsletters", "signup", "subscribe", "subscription", "paywall", "promo", "promos", "promotions",
		"author", "authors", "authorbio", "user", "users", "currentuser", "viewer", "account", "creator", "byline", "bylines", "contributors", "publisher", "templates",
		"seo", "meta", "metatags", "metadata", "head", "opengraph", "og", "twitter", "jsonld", "schema", "structureddata", "schemamarkup", "ldjson", "yoasthead", "yoastheadjson", "seometa", "seometadata",
		"error", "errors", "errormessage", "errormessages", "query", "gssp", "gsp", "buildid", "buildmanifest", "scripts", "script", "headscripts", "javascript", "js", "bundle", "chunks", "modules", "webpack", "sourcemap", "svg", "icon", "icons",
		"disclaimer", "disclaimers", "legal", "termsandconditions", "copyright", "license", "notfound", "placeholder", "tooltip", "tooltips", "arialabel", "alt", "alttext", "caption", "credit", "poster", "thumbnail", "image", "images", "media", "logo",
		"tags", "categories", "category", "topics", "permissions", "roles", "form", "forms", "validation", "url", "href", "src", "link", "links", "slug", "id", "uuid", "hash", "token", "key", "typename", "classname", "class":
		switch key {
		case "media", "image", "images", "category", "topics", "modules", "header", "features", "resources", "link", "links":
			// Objects under these may hold the content of a page built of parts.
			return kind != valueObject && kind != valueArray
		}
		return true
	case "messages":
		return kind == valueObject // a table of translations; a thread is a list
	}
	for _, word := range []string{
		"related", "recommend", "seo", "meta", "tracking", "cookie", "consent", "gdpr", "settings", "config", "locale", "translation", "disclaimer", "fineprint", "footer",
		"navigation", "newsletter", "sponsor", "advert", "policy", "merchant", "withdrawal", "shipping", "popup", "modal", "toast", "trending", "legal", "termsand", "termsof",
		"messagelocale", "errormessage", "validation", "allergen", "giftcard", "signin", "login", "paywall", "promo", "carousel", "reward",
	} {
		if strings.Contains(key, word) {
			return true
		}
	}
	return false
}

// bodyKey says whether a key is one that the text of something stands under.
func bodyKey(key string) bool {
	switch key {
	case "body", "bodyhtml", "htmlbody", "bodytext", "bodyrichtext", "articlebody", "postbody", "pagebody", "storybody", "content", "contents", "contenthtml", "htmlcontent", "contentmarkdown",
		"contentraw", "contentrendered", "pagecontent", "articlecontent", "postcontent", "maincontent", "html", "innerhtml", "text", "texthtml", "fulltext", "fullcontent", "plaintext", "markdown", "md", "mdx",
		"rawmarkdown", "rawmarkdownbody", "rawbody", "rendered", "story", "richtext", "wysiwyg", "paragraph", "paragraphs", "cooked", "message", "messagehtml", "selftext", "selftexthtml",
		"longdescription", "fulldescription", "descriptionhtml", "htmldescription", "details", "instructions", "method", "answer", "answers", "answertext", "transcript", "lyrics", "value", "copy", "article", "textcontent", "dangerouslysetinnerhtml",
		"renderedhtml", "block", "blocks", "sections", "chapter", "comment", "comments", "data", "document", "source", "code", "response", "question", "questiontext", "readme", "readmehtml", "notes", "releasenotes", "changelog", "reviewtext", "review", "steps":
		return true
	}
	return strings.HasSuffix(key, "html") || strings.HasSuffix(key, "body") || strings.HasSuffix(key, "markdown") || strings.HasSuffix(key, "richtext")
}

// summaryKey says whether a key is one that something shorter than the text
// stands under.
func summaryKey(key string) bool {
	switch key {
	case "excerpt", "summary", "teaser", "abstract", "description", "shortdescription", "snippet", "preview", "previewtext", "blurb", "bio", "biography", "tagline", "headline", "title", "name",
		"promotext", "socialdescription", "ogdescription", "subtitle", "subheadline", "dek", "deck", "standfirst", "lead", "lede", "intro", "introduction", "introtext", "leadtext", "descriptiontext":
		return true
	}
	return strings.HasSuffix(key, "description") || strings.HasSuffix(key, "excerpt") || strings.HasSuffix(key, "summary")
}

// readerKey says whether a key is one that readers' words stand under.
func readerKey(key string) bool {
	return strings.Contains(key, "comment") || strings.Contains(key, "review") || strings.Contains(key, "testimonial") || strings.Contains(key, "feedback")
}

// blockKey says whether the members of a list under a key are parts of one
// thing, not things of their own.
func blockKey(key string) bool {
	switch key {
	case "blocks", "block", "sections", "section", "content", "contents", "contentblocks", "components", "body", "bodyblocks", "slices", "slice", "modules", "elements", "contentelements", "parts", "zones", "rows",
		"columns", "paragraphs", "chapters", "steps", "children", "innerblocks", "layout", "flexiblecontent", "pagebuilder", "widgets", "regions", "main", "article", "faq", "faqs", "questions", "accordion", "tabs",
		"posts", "comments", "replies", "answers", "messages", "dynamiczone", "areas", "fields", "acf", "attributes", "data":
		return true
	}
	return false
}

func (r *reader) full() bool {
	return len(r.pieces) >= maxFound || r.bytes >= maxFoundBytes || len(r.frames) >= maxValues || !r.v.tick()
}

// walk looks at one value under a key. Links can make it deeper than the data
// is.
func (r *reader) walk(i, up int32, key string, depth int) {
	if i = r.follow(i); i < 0 || depth > 2*maxValueDepth || r.full() {
		return
	}
	n := r.v.list[i]
	switch n.kind {
	case valueString, valueEscaped:
		if len(n.str) >= leastPiece {
			r.string(r.v.text(i), up, key, depth)
		}
		return
	case valueArray, valueObject:
	default:
		return
	}
	if int(i) >= len(r.seen) || r.seen[i] {
		return
	}
	r.seen[i] = true
	if n.kind == valueObject && (r.unseen(i) || r.isLinkedData(i)) {
		return
	}
	if r.rich(i, up, key, depth) || n.kind == valueArray && r.lines(i, up, key) {
		return
	}
	self := int32(len(r.frames))
	f := frame{up: up, value: i, key: key, reader: r.frames[up].reader || readerKey(key)}
	if n.kind == valueObject {
		f.title = r.title(i)
	}
	r.frames = append(r.frames, f)
	for c := n.first; c >= 0; c = r.v.list[c].next {
		inner := key
		if n.kind == valueObject {
			inner = normalKey(r.v.list[c].key)
			if skipKey(inner, r.v.kind(c)) && (inner != r.ownKey || inner == "") {
				continue
			}
		}
		r.walk(c, self, inner, depth+1)
	}
	r.frames[self].end = int32(len(r.frames))
}

// isLinkedData says whether an object is schema.org data, which has a reader of
// its own: here it is on its way into the head of the page.
func (r *reader) isLinkedData(i int32) bool {
	c := r.v.list[i].first
	return c >= 0 && (r.v.list[c].key == "@context" || r.v.list[c].key == "@type" || r.v.list[c].key == "@graph")
}

// hasPlaceholder says whether a text waits for something to be filled in, as
// what an interface says does.
func hasPlaceholder(s string) bool {
	for i := 0; i+1 < len(s); i++ {
		switch s[i] {
		case '%':
			if c := s[i+1]; c == 's' || c == 'd' || c == '{' || c == '(' || c == '@' || c == '1' && byteAt(s, i+2) == '$' {
				return true
			}
		case '{':
			j := i + 1
			for j < len(s) && j-i < 40 && (isNameOrDigit(s[j]) || s[j] == '-' || s[j] == '.' || s[j] == '{' || s[j] == ' ') {
				j++
			}
			if j > i+1 && byteAt(s, j) == '}' {
				return true
			}
		}
	}
	return false
}

// unseen says whether an object says that it is not shown.
func (r *reader) unseen(i int32) bool {
	n := 0
	for c := r.v.list[i].first; c >= 0 && n < maxMembers; c = r.v.list[c].next {
		n++
		switch m := &r.v.list[c]; m.key {
		case "hidden", "isHidden", "is_hidden", "isDeleted", "deleted", "draft", "isDraft", "unpublished", "archived":
			if r.v.kind(c) == valueTrue {
				return true
			}
		case "visible", "isVisible", "is_visible", "isPublished":
			if r.v.kind(c) == valueFalse {
				return true
			}
		}
	}
	return false
}

// title gives the title that an object has.
func (r *reader) title(i int32) string {
	t := r.v.get(i, "title", "headline", "heading", "name", "subject", "pageTitle", "page_title", "h1", "displayTitle", "fancy_title", "question", "Title", "Headline")
	switch r.v.kind(t) {
	case valueObject:
		t = r.v.get(t, "rendered", "text", "value", "html", "plain", "full", "main", "default")
	case valueArray: // Prismic: [{"type":"heading1","text":"…"}]
		t = r.v.get(r.v.at(r.v.list[t].first), "text")
	}
	s := r.v.text(t)
	if len(s) < 2 || len(s) > 4*maxTitle {
		return ""
	}
	s = oneLine(plainOf(s), maxTitle)
	if !strings.ContainsFunc(s, unicode.IsLetter) || utf8.RuneCountInString(s) > 300 {
		return ""
	}
	return s
}

// plainOf gives the text of a string that may be HTML.
func plainOf(s string) string {
	if strings.Contains(s, "<") {
		s = withoutTags(s)
	}
	return html.UnescapeString(s)
}

// withoutTags drops tags, and what stands in scripts and styles.
func withoutTags(s string) string {
	var b strings.Builder
	l := lexer{b: []byte(s)}
	for {
		kind := l.next()
		b.Write(l.b[l.textFrom:l.textTo])
		switch kind {
		case lexEnd:
			return b.String()
		case lexStart:
			switch name := strings.ToLower(string(l.name)); name {
			case "script", "style", "textarea", "iframe", "noembed", "svg":
				l.pos = rawEnd(l.b, l.pos, name)
			case "p", "br", "div", "li", "td", "th", "h1", "h2", "h3", "h4", "h5", "h6", "tr":
				b.WriteByte(' ')
			}
		default:
		}
	}
}

// lines joins a list of strings that are paragraphs of one text.
func (r *reader) lines(i, up int32, key string) bool {
	var parts []string
	total := 0
	for c := r.v.list[i].first; c >= 0 && r.v.tick(); c = r.v.list[c].next {
		if k := r.v.kind(c); k != valueString && k != valueEscaped {
			return false
		}
		s := r.v.text(c)
		parts = append(parts, s)
		total += len(s)
	}
	if len(parts) == 0 || total < leastProse || total/len(parts) < 40 {
		return len(parts) > 0 && total/len(parts) < 40 // a list of names
	}
	var b strings.Builder
	size, stops := int32(0), int32(0)
	for _, s := range parts {
		n, m := measure(plainOf(s))
		size, stops = size+n, stops+m
		if isHTML(s) {
			b.WriteString(s)
		} else {
			b.WriteString(textHTML(s))
		}
	}
	if int(stops) < max(2, len(parts)/2) || !likeWords(strings.Join(parts, " ")) {
		return true
	}
	r.add(b.String(), int(size), up, r.trust(key, int(size), stops, true))
	return true
}

// trust says what to think of a text under a key.
func (r *reader) trust(key string, size int, stops int32, marked bool) trust {
	switch {
	case summaryKey(key):
		return trustLow
	case bodyKey(key) && size >= 60 && stops > 0, marked && size >= leastProse && stops > 1:
		return trustStrong
	}
	return trustWeak
}

func (r *reader) add(markup string, size int, up int32, t trust) {
	if size < leastPiece || r.bytes+len(markup) > maxFoundBytes {
		return
	}
	r.bytes += len(markup)
	r.pieces = append(r.pieces, piece{html: markup, size: size, trust: t, frame: up, named: r.named, reader: r.frames[up].reader})
}

// string looks at one string.
func (r *reader) string(s string, up int32, key string, depth int) {
	if looksLikeJSON(s) && len(s) >= 60 && r.nested < maxNested {
		before := len(r.v.list)
		if inner, ok := r.v.json(s); ok {
			r.nested++
			r.seen = append(r.seen, make([]bool, len(r.v.list)-len(r.seen))...)
			r.walk(inner, up, key, depth+1)
			r.nested--
			return
		}
		r.v.list = r.v.list[:before]
	}
	if strings.Contains(s, "&lt;") && !strings.Contains(s, "<") {
		if t := html.UnescapeString(s); isHTML(t) {
			s = t // HTML written as if it were text
		}
	}
	if len(s) < 2000 && hasPlaceholder(s) || strings.HasPrefix(s, "<#") || strings.HasPrefix(s, "<%") {
		return
	}
	if isHTML(s) && !moreMarkdown(s) {
		size, stops := measure(plainOf(s))
		if size < leastPiece || stops == 0 && !bodyKey(key) {
			return
		}
		if !r.named && (!bodyKey(key) || size < leastProse) {
			return // a template in a bundle
		}
		r.add(s, int(size), up, r.trust(key, int(size), stops, true))
		return
	}
	size, stops := measure(s)
	if !likeWords(s) {
		if !isMarkdown(s) {
			return
		}
	}
	body := bodyKey(key)
	switch {
	case body && isMarkdown(s):
		r.add(r.markdown(s), int(size), up, r.trust(key, int(size), stops, true))
	case body && (stops > 0 || size >= 60):
		if !r.named && size < leastProse {
			return
		}
		r.add(textHTML(html.UnescapeString(s)), int(size), up, r.trust(key, int(size), stops, false))
	case size >= leastProse && stops >= 2 && r.named:
		r.add(textHTML(html.UnescapeString(s)), int(size), up, r.trust(key, int(size), stops, false))
	case size >= 40 && stops > 0 && summaryKey(key) && r.named:
		r.add(textHTML(html.UnescapeString(s)), int(size), up, trustLow)
	}
}

// isHTML says whether a string is markup with blocks or links, not a text that
// speaks of a tag.
func isHTML(s string) bool {
	if !strings.Contains(s, "<") || !strings.Contains(s, "</") && !strings.Contains(s, "<br") && !strings.Contains(s, "/>") {
		return false
	}
	l := lexer{b: []byte(s)}
	for n := range 200 {
		switch l.next() {
		case lexEnd:
			return false
		case lexStart:
			switch strings.ToLower(string(l.name)) {
			case "p", "div", "br", "ul", "ol", "li", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "table", "pre", "section", "article", "figure", "span", "a",
				"strong", "em", "b", "i", "img", "dl", "hr", "main", "header", "body", "html", "u", "sub", "sup", "code":
				return true
			case "svg", "script", "style", "path", "link", "meta":
				if n == 0 {
					return false
				}
			}
		default:
		}
	}
	return false
}

// likeWords says whether a text is made of words rather than of signs: no code,
// no style sheet, no base64, no list of identifiers.
func likeWords(s string) bool {
	if strings.HasPrefix(s, "data:") || strings.HasPrefix(s, "http://") && !strings.Contains(s, " ") || strings.HasPrefix(s, "https://") && !strings.Contains(s, " ") {
		return false
	}
	letters, signs, spaces, wide, run, longest := 0, 0, 0, 0, 0, 0
	for _, c := range s[:min(len(s), 64<<10)] {
		run++
		switch {
		case c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\u00a0':
			spaces++
			longest, run = max(longest, run), 0
		case c >= 0x2e80:
			wide++
			run = 0
		case c == '{' || c == '}' || c == ';' || c == '=' || c == '<' || c == '>' || c == '|' || c == '\\' || c == '_' || c == '$' || c == '~' || c == '^' || c == '[' || c == ']' || c == '@':
			signs++
		case unicode.IsLetter(c):
			letters++
		}
	}
	longest = max(longest, run)
	total := letters + signs + spaces + wide
	if total == 0 || signs*20 > total {
		return false
	}
	if wide*4 > total || thai(s) {
		return true
	}
	return spaces > 0 && letters/spaces <= 14 && longest <= 400 && letters*10 >= len(s[:min(len(s), 64<<10)])*4
}

// thai says whether a text is of a script that writes no spaces between words.
func thai(s string) bool {
	n := 0
	for _, c := range s[:min(len(s), 1000)] {
		if c >= 0x0e00 && c <= 0x0eff || c >= 0x1000 && c <= 0x109f || c >= 0x1780 && c <= 0x17ff {
			n++
		}
	}
	return n > 40
}

// textHTML writes a text as paragraphs.
func textHTML(s string) string {
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	var b strings.Builder
	sep := "\n\n"
	if !strings.Contains(s, sep) {
		if lines := strings.Count(s, "\n") + 1; len(s)/lines > 60 {
			sep = "\n" // every line is a paragraph
		}
	}
	for part := range strings.SplitSeq(s, sep) {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		b.WriteString("<p>")
		b.WriteString(strings.ReplaceAll(html.EscapeString(part), "\n", "<br>\n"))
		b.WriteString("</p>\n")
	}
	return b.String()
}

// date gives a date from data, which may be a number of seconds or
// milliseconds.
func (r *reader) date(i int32) string {
	switch r.v.kind(i) {
	case valueString, valueEscaped:
		return rfc3339(r.v.text(i))
	case valueNumber:
		n, err := strconv.ParseInt(r.v.list[r.v.at(i)].str, 10, 64)
		switch {
		case err != nil:
		case n > 1e8 && n < 4e9:
			return time.Unix(n, 0).UTC().Format(time.RFC3339)
		case n > 1e11 && n < 4e12:
			return time.UnixMilli(n).UTC().Format(time.RFC3339)
		}
	}
	return ""
}

// people gives the names in a value: a string, an object with a name, a list
// of these.
func (r *reader) people(i int32, depth int) []string {
	if i = r.follow(i); i < 0 || depth > 4 {
		return nil
	}
	switch r.v.kind(i) {
	case valueString, valueEscaped:
		if s := r.v.text(i); len(s) <= 4*maxName {
			return []string{plainOf(s)}
		}
	case valueArray:
		var out []string
		for c := r.v.list[i].first; c >= 0 && len(out) < maxAuthors; c = r.v.list[c].next {
			out = append(out, r.people(c, depth+1)...)
		}
		return out
	case valueObject:
		if s := r.v.text(r.v.get(i, "name", "displayName", "display_name", "fullName", "full_name", "username", "title", "screenName", "screen_name")); s != "" {
			return []string{plainOf(s)}
		}
		first, last := r.v.text(r.v.get(i, "firstName", "first_name", "givenName")), r.v.text(r.v.get(i, "lastName", "last_name", "familyName"))
		if first != "" && last != "" {
			return []string{first + " " + last}
		}
		if inner := r.v.get(i, "node", "attributes", "data", "fields"); inner >= 0 {
			return r.people(inner, depth+1)
		}
	default:
	}
	return nil
}
