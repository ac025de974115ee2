package extract

import (
	"context"
	"errors"
	"hash/maphash"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/text/language"

	"sift.build/sift/internal/dom"
	"sift.build/sift/internal/normalize"
	"sift.build/sift/internal/sift"
)

// Bounds on the lists of a Context. What is over one is left out.
const (
	maxCrumbs       = 20
	maxFeeds        = 50
	maxTranslations = 250
	// maxOutboundHosts is how many hosts are listed, and maxOutboundLinks how
	// many links of each.
	maxOutboundHosts = 50
	maxOutboundLinks = 10
	// maxOutboundURLs is how many different URLs of a page are told apart; the
	// counts stop there.
	maxOutboundURLs = 50_000
	// maxLinkText is the longest text of a link, in characters.
	maxLinkText = 200
)

// Context says where a page sits, by what it tells of itself: canonical URL,
// breadcrumbs, authors, dates, licence, feeds, translations, the pages before
// and after it in a series, and what it links to. links is the response's Link
// header (RFC 8288), several of them joined by ", "; it may be empty. Outline
// is empty: it is of the rendered content.
//
// All URLs are http or https, and of a public page none is that of a private
// address. Lists are never nil. There are at most 20 breadcrumbs, 20 authors, 50
// feeds and 250 translations; outbound are the links that a reader sees, at most
// 50 hosts, counted up to 50,000 different URLs in all, with the first 10 links
// of each.
//
// A body that is no HTML page has what the Link header says. Errors are those of
// Extract, but that bytes which are no text are none.
func Context(ctx context.Context, in Input, links string) (*sift.Context, error) {
	c := &sift.Context{
		Breadcrumbs: []sift.Link{}, Authors: []string{}, Feeds: []sift.Feed{}, Translations: []sift.Translation{},
		Outline: []sift.Heading{}, Outbound: []sift.Outbound{}, Cut: []string{},
	}
	base, _ := url.Parse(in.URL)
	s := surroundings{c: c, base: base, feeds: map[string]bool{}, translations: map[sift.Translation]bool{}}
	s.page, _ = s.web(in.URL)
	s.page = withoutFragment(s.page)
	header := parseLinkHeader(links)
	if len(in.Body) == 0 {
		s.header(header)
		return c, nil
	}
	b, err := open(ctx, in)
	var failure *sift.Failure
	switch {
	case errors.As(err, &failure) && failure.Code == sift.CodeUnsupported, err == nil && b.kind != sift.KindHTML:
		s.header(header)
		return c, nil
	case err != nil:
		return nil, err
	}
	root, _, err := parse(ctx, b.text)
	if err != nil {
		return nil, ended(err)
	}
	meta := collect(root)
	meta.address = base
	s.href = baseHref(root)
	s.marked(root)
	s.header(header)
	if c.Canonical == "" {
		c.Canonical, _ = s.web(meta.first("og:url"))
	}
	s.linkedData(meta)
	c.Authors = meta.allAuthors()
	about := meta.linked.main()
	c.Published, c.Modified = meta.published(about), meta.modified(about)
	s.licence(meta)
	if err := alive(ctx); err != nil {
		return nil, err
	}
	page := normalize.Page(root, base)
	if err := alive(ctx); err != nil {
		return nil, err
	}
	s.visible(page.Body)
	return c, nil
}

// surroundings is one Context in the making.
type surroundings struct {
	c    *sift.Context
	base *url.URL // of the page
	href string   // of its <base>, as written
	page string   // its address, without fragment

	feeds        map[string]bool
	translations map[sift.Translation]bool
	licences     []string // of link elements, then of links
	items        []crumb  // breadcrumbs of microdata and RDFa
}

// cut notes that a list is not whole.
func (s *surroundings) cut(name string) {
	if !slices.Contains(s.c.Cut, name) {
		s.c.Cut = append(s.c.Cut, name)
	}
}

// A crumb is one breadcrumb as it was found.
type crumb struct {
	at   int // its position, or 0
	text string
	href string
}

// web resolves a reference as the normal form does. Only http and https will
// do, and from a public page no private address.
func (s *surroundings) web(ref string) (string, bool) { return resolveWeb(s.base, s.href, ref) }

// resolveWeb puts the reference into a page of its own, so that there is one
// way in which links are resolved.
func resolveWeb(base *url.URL, baseHref, ref string) (string, bool) {
	if strings.TrimSpace(ref) == "" {
		return "", false
	}
	root := &html.Node{Type: html.DocumentNode}
	top, body, a := dom.Element(atom.Html), dom.Element(atom.Body), dom.Element(atom.A)
	root.AppendChild(top)
	if baseHref != "" {
		b := dom.Element(atom.Base)
		b.Attr = []html.Attribute{{Key: "href", Val: baseHref}}
		top.AppendChild(b)
	}
	top.AppendChild(body)
	a.Attr = []html.Attribute{{Key: "href", Val: ref}}
	a.AppendChild(&html.Node{Type: html.TextNode, Data: "x"})
	body.AppendChild(a)
	n := normalize.Page(root, base).Body.FirstChild
	if n == nil || dom.HasAttr(n, "data-private") {
		return "", false
	}
	abs := dom.Attr(n, "href")
	if !strings.HasPrefix(abs, "http://") && !strings.HasPrefix(abs, "https://") {
		return "", false
	}
	return abs, true
}

func withoutFragment(u string) string {
	u, _, _ = strings.Cut(u, "#")
	return u
}

// marked reads what elements say by their rel, itemprop or property.
func (s *surroundings) marked(root *html.Node) {
	refs := 0
	for n := root; n != nil; n = dom.Next(n, root) {
		if n.Type != html.ElementNode || n.Namespace != "" || len(n.Attr) == 0 {
			continue
		}
		switch n.DataAtom {
		case atom.Link, atom.A, atom.Area:
			rel := strings.ToLower(dom.Attr(n, "rel"))
			if rel == "" || refs >= maxMarkedLinks {
				break
			}
			refs++
			s.relation(n, rel)
		}
		if len(s.items) < maxCrumbs && isCrumbList(n) {
			s.crumbItems(n)
		}
	}
	s.useCrumbs()
}

// maxMarkedLinks is how many links with a rel are looked at. Some sites put one
// on every link, with nofollow in it.
const maxMarkedLinks = 20_000

// relation reads a link with a rel.
func (s *surroundings) relation(n *html.Node, rel string) {
	c, href := s.c, dom.Attr(n, "href")
	inHead := n.DataAtom == atom.Link
	for word := range strings.FieldsSeq(rel) {
		switch word {
		case "canonical":
			if inHead && c.Canonical == "" {
				c.Canonical, _ = s.web(href)
			}
		case "alternate", "feed":
			if inHead || word == "feed" {
				s.alternate(href, dom.Attr(n, "type"), dom.Attr(n, "hreflang"), dom.Attr(n, "title"), word == "feed")
			}
		case "next":
			s.neighbour(&c.Next, href)
		case "prev", "previous":
			s.neighbour(&c.Previous, href)
		case "license", "licence", "cc:license", "dct:license", "dcterms:license":
			if u, ok := s.web(href); ok && len(s.licences) < 20 {
				if inHead {
					s.licences = append([]string{u}, s.licences...)
				} else {
					s.licences = append(s.licences, u)
				}
			}
		}
	}
}

// neighbour sets the page before or after this one, where none is known yet.
func (s *surroundings) neighbour(to *string, href string) {
	if *to != "" {
		return
	}
	if u, ok := s.web(href); ok && withoutFragment(u) != s.page {
		*to = u
	}
}

// alternate reads another form of the page: a feed, or a translation.
func (s *surroundings) alternate(href, kind, lang, title string, feed bool) {
	kind = mediaType(kind)
	switch kind {
	case "application/rss+xml", "application/atom+xml", "application/feed+json", "application/rdf+xml", "application/x.atom+xml", "application/x-atom+xml":
		feed = true
	case "application/json":
		// Feeds have been announced so, and so have the data of a page.
		feed = feed || strings.Contains(strings.ToLower(title+href), "feed")
	case "", "text/html", "application/xhtml+xml":
	case "text/xml", "application/xml":
		feed = feed || strings.Contains(strings.ToLower(title+href), "rss") || strings.Contains(strings.ToLower(title+href), "feed")
	default:
		return
	}
	switch {
	case feed:
		u, ok := s.web(href)
		if ok && len(s.c.Feeds) == maxFeeds && !s.feeds[u] {
			s.cut("feeds")
		} else if ok && !s.feeds[u] {
			s.feeds[u] = true
			s.c.Feeds = append(s.c.Feeds, sift.Feed{Title: oneLine(title, maxTitle), URL: u, Type: kind})
		}
	case lang != "":
		tag := languageTag(lang)
		u, ok := s.web(href)
		t := sift.Translation{Language: tag, URL: u}
		if ok && tag != "" && len(s.c.Translations) == maxTranslations && !s.translations[t] {
			s.cut("translations")
		} else if ok && tag != "" && !s.translations[t] {
			s.translations[t] = true
			s.c.Translations = append(s.c.Translations, t)
		}
	}
}

// languageTag gives a language as BCP 47 writes it, x-default, or "".
func languageTag(s string) string {
	s = strings.TrimSpace(s)
	if len(s) < 2 || len(s) > 35 {
		return ""
	}
	if strings.EqualFold(s, "x-default") {
		return "x-default"
	}
	tag, err := language.Raw.Parse(s)
	var unknown language.ValueError
	switch {
	case err == nil && tag != language.Und:
		return tag.String()
	case errors.As(err, &unknown): // en-UK is well formed, though no such place is known
		return strings.ReplaceAll(s, "_", "-")
	}
	return ""
}

// header reads the Link header, whose references are resolved against the
// page's address, not its <base>.
func (s *surroundings) header(links []headerLink) {
	href := s.href
	s.href = ""
	defer func() { s.href = href }()
	c := s.c
	for _, l := range links {
		for rel := range strings.FieldsSeq(strings.ToLower(l.params["rel"])) {
			switch rel {
			case "canonical":
				if c.Canonical == "" {
					c.Canonical, _ = s.web(l.target)
				}
			case "alternate":
				s.alternate(l.target, l.params["type"], l.params["hreflang"], l.params["title"], false)
			case "next":
				s.neighbour(&c.Next, l.target)
			case "prev", "previous":
				s.neighbour(&c.Previous, l.target)
			case "license":
				if u, ok := s.web(l.target); ok && c.Licence == "" {
					c.Licence = u
				}
			}
		}
	}
}

// linkedData reads breadcrumbs from schema.org data.
func (s *surroundings) linkedData(m *metadata) {
	var best []sift.Link
	look := func(o map[string]any) {
		if !slices.Contains(types(o), "BreadcrumbList") {
			return
		}
		if crumbs := s.ordered(s.ldCrumbs(&m.linked, o)); len(crumbs) > len(best) {
			best = crumbs
		}
	}
	for _, o := range m.linked.objects {
		look(o)
		m.linked.each(o["breadcrumb"], look)
	}
	if len(best) > 0 {
		s.c.Breadcrumbs = best
	}
}

func (s *surroundings) ldCrumbs(l *linked, list map[string]any) []crumb {
	var out []crumb
	l.each(list["itemListElement"], func(e map[string]any) {
		if len(out) >= maxCrumbs {
			return
		}
		var c crumb
		c.at, _ = strconv.Atoi(scalar(e["position"]))
		c.text = str(e["name"])
		switch item := e["item"].(type) {
		case string:
			c.href = item
		case map[string]any:
			c.href = firstOf(str(item["@id"]), str(item["url"]))
			if id, ok := item["@id"].(string); ok && len(item) == 1 && l.byID[id] != nil {
				item = l.byID[id]
			}
			c.text = firstOf(c.text, str(item["name"]))
		default:
			c.href = firstOf(str(e["url"]), str(e["@id"]))
		}
		out = append(out, c)
	})
	return out
}

// ordered gives crumbs by position, resolved.
func (s *surroundings) ordered(crumbs []crumb) []sift.Link {
	slices.SortStableFunc(crumbs, func(a, b crumb) int {
		if a.at == 0 || b.at == 0 {
			return 0
		}
		return a.at - b.at
	})
	var out []sift.Link
	for _, c := range crumbs {
		text := oneLine(plainOf(c.text), maxLinkText)
		if text == "" || len(out) >= maxCrumbs {
			continue
		}
		u, _ := s.web(c.href)
		out = append(out, sift.Link{Text: text, URL: u})
	}
	return out
}

// isCrumbList says whether an element is marked as a list of breadcrumbs, or
// in the older vocabulary as one of them.
func isCrumbList(n *html.Node) bool {
	for _, a := range n.Attr {
		switch a.Key {
		case "itemtype", "typeof":
			if strings.HasSuffix(a.Val, "BreadcrumbList") || strings.HasSuffix(a.Val, "/Breadcrumb") || strings.HasSuffix(a.Val, "v:Breadcrumb") {
				return true
			}
		}
	}
	return false
}

// crumbItems reads the crumbs in microdata or RDFa.
func (s *surroundings) crumbItems(list *html.Node) {
	prop := func(n *html.Node, name string) bool {
		return hasWord(dom.Attr(n, "itemprop"), name) || hasWord(dom.Attr(n, "property"), name) || hasWord(dom.Attr(n, "property"), "v:"+name) || hasWord(dom.Attr(n, "property"), "schema:"+name)
	}
	var c *crumb
	single := !strings.HasSuffix(firstOf(dom.Attr(list, "itemtype"), dom.Attr(list, "typeof")), "List")
	if single {
		s.items = append(s.items, crumb{})
		c = &s.items[len(s.items)-1]
	}
	steps := 0
	for n := list; n != nil && steps < maxCrumbNodes; n = dom.Next(n, list) {
		steps++
		if n.Type != html.ElementNode || len(n.Attr) == 0 {
			continue
		}
		if !single && prop(n, "itemListElement") {
			if len(s.items) >= maxCrumbs {
				return
			}
			s.items = append(s.items, crumb{})
			c = &s.items[len(s.items)-1]
		}
		if c == nil {
			continue
		}
		if prop(n, "position") {
			c.at, _ = strconv.Atoi(strings.TrimSpace(firstOf(dom.Attr(n, "content"), text(n))))
		}
		if c.text == "" && (prop(n, "name") || prop(n, "title")) {
			c.text = firstOf(dom.Attr(n, "content"), text(n))
		}
		if c.href == "" {
			if href := firstOf(dom.Attr(n, "href"), dom.Attr(n, "content")); prop(n, "item") || prop(n, "url") || n.DataAtom == atom.A {
				c.href = firstOf(href, dom.Attr(n, "itemid"), dom.Attr(n, "resource"))
			}
		}
		if c.text == "" && prop(n, "item") && n.DataAtom == atom.A && !hasNamed(n, prop) {
			c.text = text(n)
		}
	}
}

// maxCrumbNodes is how much of the tree is looked at for breadcrumbs in one
// place.
const maxCrumbNodes = 2000

// hasNamed says whether an element close below says that it is the name.
func hasNamed(n *html.Node, prop func(*html.Node, string) bool) bool {
	steps := 0
	for c := n; c != nil && steps < 20; c = dom.Next(c, n) {
		steps++
		if c.Type == html.ElementNode && (prop(c, "name") || prop(c, "title")) {
			return true
		}
	}
	return false
}

func (s *surroundings) useCrumbs() {
	if crumbs := s.ordered(s.items); len(crumbs) > 0 {
		s.c.Breadcrumbs = crumbs
	}
}

// licence chooses what the page says about its licence: a URL before a name.
func (s *surroundings) licence(m *metadata) {
	c := s.c
	var names []string
	consider := func(v string) {
		v = strings.TrimSpace(v)
		if u, ok := s.web(v); ok && (strings.Contains(v, "://") || strings.HasPrefix(v, "/")) {
			if c.Licence == "" {
				c.Licence = u
			}
		} else if v = oneLine(plainOf(v), maxName); v != "" {
			names = append(names, v)
		}
	}
	fromHeader := c.Licence
	c.Licence = ""
	for _, u := range s.licences {
		if c.Licence == "" {
			c.Licence = u
		}
	}
	var linked func(v any)
	linked = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if u := firstOf(str(v["url"]), str(v["@id"])); u != "" {
				consider(u)
			}
			consider(str(v["name"]))
		case []any:
			for i, e := range v {
				if _, list := e.([]any); !list && i < 10 {
					linked(e)
				}
			}
		default:
			consider(str(v))
		}
	}
	if about := m.linked.main(); about != nil {
		linked(about["license"])
	}
	for _, o := range m.linked.objects {
		if rank(o) > 0 && c.Licence == "" {
			linked(o["license"])
		}
	}
	for _, name := range []string{"cc:license", "dct:license", "dcterms.license", "dcterms:license", "dc.license", "license", "licence", "dc.rights.license", "dc.rights", "dcterms.rights", "dcterms.accessrights", "rights"} {
		for _, v := range m.meta[name] {
			consider(v)
		}
	}
	if c.Licence == "" {
		c.Licence = fromHeader
	}
	if c.Licence == "" && len(names) > 0 {
		c.Licence = names[0]
	}
}

// visible reads the page in its normal form: breadcrumbs and the pages before
// and after by their names, and all links.
func (s *surroundings) visible(body *html.Node) {
	out := outbound{byHost: map[string]int{}, seen: map[uint64]struct{}{}}
	out.own = hostOf(s.page)
	steps := 0
	var parts numbers
	for n := body; n != nil; n = dom.Next(n, body) {
		if n.Type != html.ElementNode {
			if n.Type == html.TextNode && len(n.Data) < 8 {
				parts.plain(n)
			}
			continue
		}
		if len(s.c.Breadcrumbs) == 0 && isCrumbTrail(n) && steps < 20 {
			steps++
			s.trail(n)
		}
		if n.DataAtom != atom.A {
			continue
		}
		href := dom.Attr(n, "href")
		if href == "" || dom.HasAttr(n, "data-private") || !strings.HasPrefix(href, "http") {
			continue
		}
		s.series(n, href, &parts)
		out.add(n, href, s.page)
	}
	if s.c.Outbound = out.list(); out.more || len(out.hosts) > maxOutboundHosts {
		s.cut("outbound")
	}
	before, after := parts.around()
	s.c.Previous, s.c.Next = firstOf(s.c.Previous, before), firstOf(s.c.Next, after)
}

// isCrumbTrail says whether an element calls itself a trail of breadcrumbs.
func isCrumbTrail(n *html.Node) bool {
	for i := range n.Attr {
		switch a := &n.Attr[i]; a.Key {
		case "aria-label":
			if crumbLabel(a.Val) {
				return true
			}
		case "class", "id":
			if len(a.Val) <= maxClass && crumbClass(a.Val) {
				return true
			}
		case "role":
			if a.Val == "breadcrumb" || a.Val == "doc-breadcrumb" {
				return true
			}
		}
	}
	return false
}

func crumbClass(s string) bool {
	s = strings.ToLower(s)
	for word := range strings.FieldsSeq(s) {
		word = strings.NewReplacer("-", "", "_", "").Replace(word)
		if strings.Contains(word, "breadcrumb") || word == "crumbs" || word == "crumbtrail" {
			return true
		}
	}
	return false
}

func crumbLabel(s string) bool {
	if len(s) > 100 {
		return false
	}
	s = strings.ToLower(s)
	for _, label := range []string{
		"breadcrumb", "you are here", "brotkrümel", "brotkrumen", "sie befinden sich", "fil d'ariane", "fil d’ariane", "vous êtes ici", "migas de pan", "ruta de navegación", "miga de pan",
		"briciole", "percorso di navigazione", "kruimelpad", "broodkruimel", "trilha de navegação", "brödsmul", "brødsmule", "murupolku", "okruszki", "ścieżka nawigac", "хлебные крошки",
		"パンくず", "面包屑", "麵包屑", "이동 경로", "drobečkov", "içerik haritası", "ekmek kırıntı",
	} {
		if strings.Contains(s, label) {
			return true
		}
	}
	return false
}

// trail reads a trail of breadcrumbs: links, and behind them the page itself.
func (s *surroundings) trail(top *html.Node) {
	var crumbs []sift.Link
	var loose strings.Builder
	flush := func() {
		text := strings.Trim(oneLine(loose.String(), maxLinkText), " /\\>›»→·|•:-–—▸▶❯⟩")
		loose.Reset()
		if strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) && !crumbLabel(text) && len(crumbs) > 0 {
			crumbs = append(crumbs, sift.Link{Text: text})
		}
	}
	links, steps := 0, 0
	n := top
	for n != nil && steps < maxCrumbNodes && len(crumbs) < maxCrumbs {
		steps++
		switch {
		case n.DataAtom == atom.A && dom.Attr(n, "href") != "":
			flush()
			text := strings.Trim(oneLine(linkText(n), maxLinkText), " /›»>")
			if href := dom.Attr(n, "href"); text != "" && strings.HasPrefix(href, "http") && !dom.HasAttr(n, "data-private") {
				links++
				crumbs = append(crumbs, sift.Link{Text: text, URL: href})
			}
			n = after(n, top)
			continue
		case n.Type == html.TextNode:
			loose.WriteString(n.Data)
		case normalize.IsBlock(n):
			flush()
		}
		n = dom.Next(n, top)
	}
	flush()
	// A trail of no links, or of a whole menu, is none.
	if links > 0 && steps < maxCrumbNodes && len(crumbs) <= maxCrumbs {
		s.c.Breadcrumbs = crumbs
	}
}

// after gives the node behind n and what is in it, inside top.
func after(n, top *html.Node) *html.Node {
	for ; n != top; n = n.Parent {
		if n.NextSibling != nil {
			return n.NextSibling
		}
	}
	return nil
}

// linkText gives what a link shows: its text, else that of its image, label or
// title.
func linkText(n *html.Node) string {
	if s := oneLine(text(n), maxLinkText); s != "" {
		return s
	}
	for c := n; c != nil; c = dom.Next(c, n) {
		if c.DataAtom == atom.Img {
			if alt := oneLine(dom.Attr(c, "alt"), maxLinkText); alt != "" {
				return alt
			}
		}
	}
	return oneLine(firstOf(dom.Attr(n, "aria-label"), dom.Attr(n, "title")), maxLinkText)
}

// series takes a link that can only lead to the page before or after.
func (s *surroundings) series(n *html.Node, href string, parts *numbers) {
	c := s.c
	if c.Next != "" && c.Previous != "" || hostOf(href) != hostOf(s.page) || withoutFragment(href) == s.page {
		return
	}
	t := dom.Attr(n, "aria-label")
	if t == "" || len(t) > 60 {
		t = text(n)
	}
	if len(t) > 100 {
		return
	}
	parts.link(n, t, href, s.page)
	t = strings.Trim(strings.ToLower(oneLine(t, 60)), " .…>»›→←‹«<⟩⟨❯❮▶◀▸◂")
	where := neighbourOf(t)
	if where == 0 {
		if where = shortNeighbourOf(t); where == 0 || !inPager(n) && !likeAddress(href, s.page) {
			return
		}
	}
	switch {
	case where > 0 && c.Next == "":
		c.Next = href
	case where < 0 && c.Previous == "":
		c.Previous = href
	}
}

// neighbourOf knows links to the next page (1) or the one before (-1) that say
// so in full.
func neighbourOf(s string) int {
	switch s {
	case "next page", "go to next page", "next page of results", "nächste seite", "zur nächsten seite", "page suivante", "aller à la page suivante", "página siguiente", "siguiente página", "pagina successiva",
		"volgende pagina", "próxima página", "página seguinte", "pàgina següent", "следующая страница", "наступна сторінка", "następna strona", "další stránka", "ďalšia stránka", "następna", "nästa sida", "næste side",
		"neste side", "seuraava sivu", "sonraki sayfa", "következő oldal", "pagina următoare", "επόμενη σελίδα", "下一页", "下一頁", "下页", "次のページ", "次ページ", "次のページへ", "다음 페이지", "الصفحة التالية", "العمود التالي",
		"trang sau", "trang tiếp", "halaman berikutnya", "हाला अगला पृष्ठ", "अगला पृष्ठ", "หน้าถัดไป", "העמוד הבא", "صفحه بعد":
		return 1
	case "previous page", "prev page", "go to previous page", "previous page of results", "vorherige seite", "vorige seite", "zur vorherigen seite", "page précédente", "aller à la page précédente", "página anterior", "pagina precedente",
		"vorige pagina", "pàgina anterior", "предыдущая страница", "попередня сторінка", "poprzednia strona", "předchozí stránka", "predchádzajúca stránka", "föregående sida", "forrige side", "edellinen sivu", "önceki sayfa",
		"előző oldal", "pagina anterioară", "προηγούμενη σελίδα", "上一页", "上一頁", "上页", "前のページ", "前ページ", "前のページへ", "이전 페이지", "الصفحة السابقة", "trang trước", "halaman sebelumnya", "पिछला पृष्ठ", "หน้าก่อน", "העמוד הקודם", "صفحه قبل":
		return -1
	}
	return 0
}

// shortNeighbourOf knows the short forms, which mean a page only in a pager.
func shortNeighbourOf(s string) int {
	switch s {
	case "next", "weiter", "nächste", "vor", "suivant", "suivante", "siguiente", "próximo", "próxima", "seguinte", "successivo", "successiva", //nolint:misspell // Italian
		"avanti", "volgende", "далее", "вперёд", "вперед", "следующая", "dalej", "następny",
		"další", "nästa", "næste", "neste", "seuraava", "sonraki", "ileri", "次へ", "次", "다음", "التالي":
		return 1
	case "previous", "prev", "zurück", "vorherige", "précédent", "précédente", "anterior", "precedente", "indietro", "vorige", "назад", "предыдущая", "wstecz", "poprzedni", "poprzednia", "předchozí", "föregående", "forrige", "edellinen",
		"önceki", "geri", "前へ", "前", "이전", "السابق":
		return -1
	}
	return 0
}

// inPager says whether an element close above calls itself a pager.
func inPager(n *html.Node) bool {
	for i := 0; n != nil && i < 6; i, n = i+1, n.Parent {
		for _, a := range n.Attr {
			if len(a.Val) > maxClass {
				continue
			}
			switch a.Key {
			case "class", "id", "aria-label":
				s := strings.ToLower(a.Val)
				for _, word := range []string{"pagination", "paginat", "pager", "paging", "page-nav", "pagenav", "page-numbers", "pagenumbers", "page-links", "pagelinks", "post-pages", "multipage", "seitennavigation", "seitennummer"} {
					if strings.Contains(s, word) {
						return true
					}
				}
			}
		}
	}
	return false
}

// outbound gathers links by host.
type outbound struct {
	own    string
	hosts  []sift.Outbound
	byHost map[string]int
	seen   map[uint64]struct{}
	seed   maphash.Seed
	more   bool // there are more than were counted
}

// add counts a link, if its URL is a new one.
func (o *outbound) add(n *html.Node, href, page string) {
	u := withoutFragment(href)
	if u == page {
		return
	}
	if len(o.seen) >= maxOutboundURLs {
		o.more = true
		return
	}
	if len(o.seen) == 0 {
		o.seed = maphash.MakeSeed()
	}
	h := maphash.String(o.seed, u)
	if _, ok := o.seen[h]; ok {
		return
	}
	o.seen[h] = struct{}{}
	host := hostOf(u)
	i, ok := o.byHost[host]
	if !ok {
		i = len(o.hosts)
		if host == "" {
			return
		}
		if i > maxOutboundHosts && host != o.own { // one more, for the page's own
			o.more = true
			return
		}
		o.byHost[host] = i
		o.hosts = append(o.hosts, sift.Outbound{Host: host, Links: []sift.Link{}})
	}
	to := &o.hosts[i]
	to.Count++
	if len(to.Links) < maxOutboundLinks {
		text := linkText(n)
		if text == "" {
			text = u
		}
		to.Links = append(to.Links, sift.Link{Text: text, URL: href})
	}
}

// list gives the hosts, the page's own first.
func (o *outbound) list() []sift.Outbound {
	if i, ok := o.byHost[o.own]; ok && i > 0 {
		own := o.hosts[i]
		copy(o.hosts[1:i+1], o.hosts[:i])
		o.hosts[0] = own
	}
	if len(o.hosts) == 0 {
		return []sift.Outbound{}
	}
	return o.hosts[:min(len(o.hosts), maxOutboundHosts)]
}

// hostOf gives host and port of a URL in the normal form.
func hostOf(u string) string {
	_, rest, _ := strings.Cut(u, "://")
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		rest = rest[i+1:]
	}
	return rest
}
