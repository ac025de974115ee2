package extract

import (
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"sift.build/sift/internal/dom"
	"sift.build/sift/internal/normalize"
)

// Bounds on what is kept of a page to judge it by. Pages that stand in the
// place of another are small.
const (
	maxScriptsSeen = 40
	maxNamesSeen   = 400
	maxNameSeen    = 300     // bytes of an address, id or class
	maxInlineSeen  = 8 << 10 // bytes of a script's text
	maxButtonsSeen = 20
	maxMountsSeen  = 40
	// maxTalk is how much text outside of links a page has at most to be
	// judged at all, in letters. What says more is a page.
	maxTalk = 4000
)

// A sight is what of a page's tree, as it was parsed, does not come through to
// the normal form. Texts in it are the tree's own, which stay as they are when
// the tree is rewritten.
type sight struct {
	scripts  []string // addresses
	inline   []string // texts of scripts that are no data
	names    []string // ids, classes, addresses of frames and forms
	buttons  []string
	noscript []string

	passwords int // where the page itself is
	fields    int // to fill in, those of a search and passwords aside
	textareas int
	choices   int
	pictures  int
	drawings  int
	captions  int // texts in drawings
	frames    int
	code      int
	columns   int // headings of tables

	known  bool // there is an element that is known to be filled by scripts, with nothing in it
	empty  bool // there is an element with an id and nothing in it
	parts  int  // elements of the body but those that a reader cannot see
	door   bool // a link of the content leads to a login
	gate   bool // a form goes to an address of a check
	data   bool // scripts hold what may be the page's text
	module bool // a script is a module
}

// observe looks at a page before it is brought into the normal form. It is one
// walk that looks at few attributes.
func observe(root *html.Node) *sight {
	s := &sight{}
	inBody := false
	mounts := 0
	for n := root; n != nil; n = dom.Next(n, root) {
		if n.Type != html.ElementNode {
			continue
		}
		if n.Namespace != "" {
			switch n.Data {
			case "svg":
				s.drawings++
			case "text":
				s.captions++
			}
			continue
		}
		switch n.DataAtom {
		case atom.Html:
			s.name(n)
			continue
		case atom.Body, atom.Frameset:
			inBody = true
			s.name(n)
			continue
		case atom.Script:
			s.script(n)
			continue
		case atom.Noscript:
			if c := n.FirstChild; c != nil && c.Type == html.TextNode && len(s.noscript) < maxButtonsSeen {
				s.noscript = append(s.noscript, c.Data)
			}
			continue
		case atom.Style, atom.Link, atom.Meta, atom.Template, atom.Title, atom.Base, atom.Head, atom.Br:
			continue
		}
		if !inBody {
			continue
		}
		s.parts++
		s.name(n)
		switch n.DataAtom {
		case atom.Input:
			s.input(n)
		case atom.Textarea:
			s.fields++
			s.textareas++
		case atom.Select:
			s.fields++
		case atom.Button:
			if len(s.buttons) < maxButtonsSeen {
				s.button(text(n))
			}
		case atom.A:
			if !s.door && !isBeside(n) {
				href := dom.Attr(n, "href")
				u, err := url.Parse(href[:min(len(href), maxNameSeen)])
				s.door = err == nil && addressKind(u)&isLogin != 0
			}
		case atom.Form:
			action := dom.Attr(n, "action")
			s.note(action)
			if u, err := url.Parse(action[:min(len(action), maxNameSeen)]); err == nil && addressKind(u)&isCheck != 0 {
				s.gate = true
			}
		case atom.Img, atom.Picture, atom.Video, atom.Audio, atom.Object, atom.Embed:
			if w := dom.Attr(n, "width"); w != "0" && w != "1" && !isBeside(n) {
				s.pictures++
			}
			if src := dom.Attr(n, "src"); strings.Contains(src, "captcha") || strings.Contains(src, "vcode") {
				s.note(src)
			}
		case atom.Iframe, atom.Frame:
			s.note(dom.Attr(n, "src"))
			if w := dom.Attr(n, "width"); w != "0" && w != "1" && !strings.Contains(dom.Attr(n, "style"), "none") {
				s.frames++
			}
		case atom.Canvas:
			s.drawings++
		case atom.Code:
			s.code++
		case atom.Th:
			s.columns++
		case atom.Div, atom.Main, atom.Section, atom.Article, 0:
			if m, ok := markOf(n.Data); ok && n.DataAtom == 0 && m.kind == markWidget {
				s.note(n.Data)
			}
			if mounts < maxMountsSeen && (n.DataAtom == 0 || dom.Attr(n, "id") != "" || isMarkedRoot(n)) {
				mounts++
				s.mount(n)
			}
		}
	}
	return s
}

// name keeps an element's id and class.
func (s *sight) name(n *html.Node) {
	if len(s.names) >= maxNamesSeen || dom.Attr(n, "data-size") == "invisible" {
		return // what nobody sees is nothing to solve
	}
	for i := range n.Attr {
		switch a := &n.Attr[i]; a.Key {
		case "id", "class", "data-ddg-origin":
			s.note(a.Val)
		case "name":
			if strings.Contains(a.Val, "captcha") {
				s.note(a.Val)
			}
		}
	}
}

func (s *sight) note(v string) {
	if v != "" && len(s.names) < maxNamesSeen {
		s.names = append(s.names, v[:min(len(v), maxNameSeen)])
	}
}

func (s *sight) button(label string) {
	if label = strings.TrimSpace(label); label != "" && len(label) <= 120 && len(s.buttons) < maxButtonsSeen {
		s.buttons = append(s.buttons, label)
	}
}

func (s *sight) script(n *html.Node) {
	kind := strings.ToLower(dom.Attr(n, "type"))
	src := dom.Attr(n, "src")
	switch {
	case strings.Contains(kind, "json"):
		s.note(dom.Attr(n, "id"))
		s.data = s.data || len(text(n)) > 2*leastArticleBody
		return
	case kind == "module":
		s.module = true
	}
	switch {
	case src != "":
		if len(s.scripts) < maxScriptsSeen {
			s.scripts = append(s.scripts, src[:min(len(src), maxNameSeen)])
		}
	case n.FirstChild != nil:
		body := text(n)
		s.data = s.data || len(body) > 2000 && strings.Contains(body[:200], "__")
		if len(s.inline) < maxScriptsSeen {
			s.inline = append(s.inline, body[:min(len(body), maxInlineSeen)])
		}
	}
}

func (s *sight) input(n *html.Node) {
	if isBeside(n) {
		return
	}
	name := strings.ToLower(dom.Attr(n, "name"))
	switch strings.ToLower(dom.Attr(n, "type")) {
	case "password":
		s.passwords++
	case "checkbox", "radio":
		s.choices++
	case "hidden", "image", "reset", "range", "color", "file", "search":
	case "submit", "button":
		s.button(dom.Attr(n, "value"))
	default:
		if name != "q" && name != "s" && name != "query" && !strings.Contains(name, "search") && !strings.Contains(name, "captcha") {
			s.fields++
		}
	}
}

// isBeside says whether an element stands in a part of the page that is not
// its content.
func isBeside(n *html.Node) bool {
	for p, depth := n.Parent, 0; p != nil && depth < 20; p, depth = p.Parent, depth+1 {
		switch p.DataAtom {
		case atom.Aside, atom.Nav, atom.Header, atom.Footer:
			return true
		}
	}
	return false
}

// isMarkedRoot says that an element has an attribute by which a framework finds
// where to render to.
func isMarkedRoot(n *html.Node) bool {
	for i := range n.Attr {
		if k := n.Attr[i].Key; strings.HasPrefix(k, "data-react") || strings.HasPrefix(k, "data-vue") || k == "ng-app" || k == "data-ng-app" || k == "ng-view" || k == "ui-view" {
			return true
		}
	}
	return false
}

// mount judges whether an element waits for a script to fill it.
func (s *sight) mount(n *html.Node) {
	known := n.DataAtom == 0 && (strings.Contains(n.Data, "-") || n.Data == "app" || n.Data == "root") || isMount(dom.Attr(n, "id")) || isMarkedRoot(n)
	if n.DataAtom == 0 && !known {
		return
	}
	if !isBare(n) {
		return
	}
	if known {
		s.known = true
	} else {
		s.empty = true
	}
}

// isMount says whether an id is one that frameworks give to the element that
// they fill.
func isMount(id string) bool {
	switch strings.ToLower(id) {
	case "root", "app", "__next", "__nuxt", "___gatsby", "__layout", "q-app", "svelte", "react-root", "react-app", "reactroot", "app-root", "approot", "app-container", "app-mount", "root-container",
		"mount", "application", "main-app", "mainapp", "vue-app", "vueapp", "ember-app", "elm", "spa", "spa-root", "wrapper-app", "js-app", "jsapp", "webapp", "web-app", "page-root", "storybook-root", "blazor-app", "unity-container", "flutter_target":
		return true
	}
	lower := strings.ToLower(id)
	return strings.HasSuffix(lower, "-root") || strings.HasSuffix(lower, "_root") || strings.HasSuffix(lower, "-app") || strings.HasSuffix(lower, "_app") || strings.HasPrefix(lower, "app-") || strings.HasPrefix(lower, "root-")
}

// isBare says whether an element has no more in it than the sign that
// something is being loaded.
func isBare(n *html.Node) bool {
	const most = 60 // nodes: no skeleton has many
	var f folder
	count := 0
	for c := n.FirstChild; c != nil; {
		if count++; count > most {
			return false
		}
		switch {
		case c.Type == html.TextNode:
			f.gap = true
			f.write(c.Data[:min(len(c.Data), 4096)])
			if f.size > maxLoading {
				return false
			}
		case c.Type != html.ElementNode:
		case c.Namespace != "", c.DataAtom == atom.Style, c.DataAtom == atom.Script, c.DataAtom == atom.Noscript, c.DataAtom == atom.Template:
			c = after(c, n) // an ornament, or nothing to see
			continue
		case c.DataAtom == atom.A, c.DataAtom == atom.Form, c.DataAtom == atom.Input, c.DataAtom == atom.Iframe, c.DataAtom == atom.Table, c.DataAtom == atom.Textarea,
			c.DataAtom == atom.Video, c.DataAtom == atom.Button:
			return false
		}
		c = dom.Next(c, n)
	}
	if f.size == 0 {
		return true
	}
	cues := cuesIn(f.b)
	return isLoad(cues, f.b) || cues&cueScripts != 0 && cues&cueTurnOn != 0
}

// isLoad says whether a text says that something is being loaded, and hardly
// anything else.
func isLoad(c cue, folded []byte) bool {
	if c&(cueLoading|cueWait) == 0 {
		return false
	}
	_, covered := cuesOf(folded, cueLoading|cueWait|cueThing|cueSite|cueAdvice|cuePerson)
	return 2*covered >= len(folded)
}

// maxLoading is how much text there is at most where something is loaded, in
// letters: a line, or a call for JavaScript.
const maxLoading = 160

// What stands around a sentence.
const (
	inHeading uint16 = 1 << iota
	inDialog
	inNoscript
	inHeader
	inNav
	inFoot
	asLead     // the first of a page without headings
	isHeadline // the first heading of the first order
	inContent  // an element that is called the page's content
)

// A remark is one sentence of a page, or what stands alone like one.
type remark struct {
	cues  cue
	is    [wallCount]bool // the walls that it speaks of when it stands as a heading
	loads bool            // it says that something is being loaded, and nothing else
	size  int             // letters and digits outside of links
	whole int             // all of them
	in    uint16
}

// remarks is what a page says, menus and the foot of the page left out.
type remarks struct {
	list    []remark
	heading cue  // what the first headings say
	heads   int  // how many there are
	loose   int  // letters outside of links
	whole   int  // all letters
	framed  bool // something is said in what is called the content
	over    bool
	menu    int // letters in menus and feet
	nav     int // of those in menus, what stands outside of links
	foot    int // and of those in feet

	f     folder
	size  int // of f, outside of links
	quote rune
	from  int // where the quotation in f begins
	lead  int // where one that f begins with ends
	in    uint16
}

// maxNav and maxFoot are how much a page says at most in what is called menu
// or foot, in letters outside of links. Where it is more, the names mean
// something else.
const (
	maxNav  = 400
	maxFoot = 1500
)

// listen reads the text of a page in its normal form, sentence by sentence, up
// to the bound.
func listen(body *html.Node) *remarks {
	r := &remarks{}
	type place struct {
		n    *html.Node
		in   uint16
		link bool
	}
	var open []place
	link := false
	n := body
	for n != nil && !r.over {
		into := n.FirstChild != nil
		switch n.Type {
		case html.TextNode:
			switch {
			case r.in&(inNav|inFoot) != 0:
				size, _ := measure(n.Data)
				r.menu += int(size)
				switch {
				case link:
				case r.in&inFoot != 0:
					r.foot += int(size)
				default:
					r.nav += int(size)
				}
				r.over = r.over || r.nav > maxNav || r.foot > maxFoot
			case link && r.in&inHeader != 0: // the site's name, its menu
				size, _ := measure(n.Data)
				r.menu += int(size)
			default:
				r.write(n.Data, link)
			}
		case html.ElementNode:
			block := normalize.IsBlock(n)
			if block || n.DataAtom == atom.Br {
				r.end()
			}
			was := place{n, r.in, link}
			switch n.DataAtom {
			case atom.A:
				link = true
			case atom.H1:
				r.in = r.in&(inDialog|inContent) | inHeading | isHeadline // wherever it stands
			case atom.H2, atom.H3:
				r.in |= inHeading
			case atom.Article, atom.Main:
				r.in |= inContent
			case atom.Nav:
				r.in |= inNav
			case atom.Footer:
				r.in |= inFoot
			case atom.Header:
				r.in |= inHeader
			default:
				if !block {
					break
				}
				role := roleOf(n)
				if role&roleDialog != 0 {
					r.in |= inDialog
				}
				switch {
				case n == body || role&roleContent != 0:
				case role&roleFooter != 0:
					r.in |= inFoot
				case role&roleNav != 0:
					r.in |= inNav
				}
			}
			if into && (block || link != was.link) {
				open = append(open, was)
			} else if !into {
				r.in, link = was.in, was.link
			}
		}
		if into {
			n = n.FirstChild
			continue
		}
		for n != body && n.NextSibling == nil {
			n = n.Parent
			if k := len(open) - 1; k >= 0 && open[k].n == n {
				if normalize.IsBlock(n) {
					r.end()
				}
				r.in, link = open[k].in, open[k].link
				open = open[:k]
			}
		}
		if n == body {
			break
		}
		n = n.NextSibling
	}
	r.end()
	if r.heads == 0 {
		for i := range r.list {
			if m := &r.list[i]; m.size > 0 {
				if m.whole <= 90 {
					m.in |= asLead
					r.heading = m.cues
				}
				break
			}
		}
	}
	return r
}

// maxAside is how many sentences of noscript elements are read, and maxRaw how
// many bytes of one.
const (
	maxAside = 40
	maxRaw   = 4096
)

// aside reads what stands in a noscript element, until there are most remarks
// in all. Tags in it divide.
func (r *remarks) aside(raw string, most int) {
	r.in = inNoscript
	for raw = raw[:min(len(raw), maxRaw)]; raw != "" && len(r.list) < most; {
		i := strings.IndexByte(raw, '<')
		if i < 0 {
			r.write(raw, false)
			break
		}
		r.write(raw[:i], false)
		j := strings.IndexByte(raw[i:], '>')
		if j < 0 {
			break
		}
		raw = raw[i+j+1:]
		r.f.gap = len(r.f.b) > 0
	}
	r.end()
	r.in = 0
}

// write adds text to the sentence, and ends it where it ends.
func (r *remarks) write(s string, link bool) {
	for i, c := range s {
		if r.quotes(c) {
			continue
		}
		switch c {
		case '.', '!', '?', '…':
			if rest := s[i+1:]; r.quote == 0 && (c == '…' || rest == "" || rest[0] <= ' ' || rest[0] == '"') {
				r.end()
				continue
			}
		case '。', '！', '？', '।':
			if r.quote == 0 {
				r.end()
				continue
			}
		}
		before := r.f.size
		r.f.rune(c)
		if !link {
			r.size += r.f.size - before
		}
	}
	r.f.gap = r.f.gap || s != "" && s[len(s)-1] <= ' '
	if r.loose+r.size > maxTalk || r.whole+r.f.size > 8*maxTalk {
		r.over = true
	}
}

// longestQuote is how much stands between the signs of a quotation at most, in
// bytes. Two signs further apart are not of one.
const longestQuote = 200

// quotes takes what a page cites out of what it says: who writes that a site
// answers with “Just a moment” is not that site. A sentence that is nothing but
// a quotation stays. It says whether c is a sign that ended one.
func (r *remarks) quotes(c rune) bool {
	open := r.quote
	if open != 0 && len(r.f.b)-r.from > longestQuote {
		r.quote, open = 0, 0
	}
	switch {
	case open == 0 && (c == '“' || c == '„' || c == '«' || c == '"' || c == '「' || c == '『'):
		r.quote, r.from = c, len(r.f.b)
		return false
	case open == '“' && c == '”', open == '„' && (c == '“' || c == '”'), open == '«' && c == '»', open == '"' && c == '"', open == '「' && c == '」', open == '『' && c == '』':
	default:
		return false
	}
	r.quote = 0
	if r.from == 0 {
		r.lead = len(r.f.b)
	} else {
		r.f.b = r.f.b[:r.from]
	}
	r.f.gap = len(r.f.b) > 0
	return true
}

// end closes the sentence.
func (r *remarks) end() {
	said := r.f.b
	if r.lead > 0 && r.lead < len(said) {
		said = said[r.lead:]
	}
	r.quote, r.lead = 0, 0
	if r.f.size == 0 {
		r.f.reset()
		r.size = 0
		return
	}
	m := remark{cues: cuesIn(said), size: r.size, whole: r.f.size, in: r.in}
	if m.whole <= longestTitle {
		m.is = titleSays(said, m.whole)
		m.loads = isLoad(m.cues, said)
	}
	if m.in&inNoscript == 0 {
		r.loose += m.size
		r.whole += m.whole
		r.framed = r.framed || m.in&inContent != 0 && m.size > 0
		if m.in&inHeading != 0 {
			if r.heads > 0 {
				m.in &^= isHeadline
			}
			if r.heads < 2 {
				r.heading |= m.cues
			}
			r.heads++
		}
	}
	r.list = append(r.list, m)
	r.f.reset()
	r.size = 0
}

// A place is what the address of an answer says, beside the one asked for.
type place struct {
	known      bool // it is known which was asked for
	redirected bool
	toLogin    bool // what the address is of
	toConsent  bool
	toCheck    bool
	toMissing  bool
	own        bool // the address asked for is of that kind itself
	back       bool // it names an address to go back to
	search     bool // what was asked for is a search
	root       bool // what was asked for is the start page
}

// locate compares the address that answered with the one that was asked for.
func locate(asked, final string) place {
	var p place
	to, err := url.Parse(final)
	if err != nil {
		return p
	}
	from := to
	if asked != "" {
		if u, err := url.Parse(asked); err == nil {
			from, p.known = u, true
		}
	}
	p.redirected = p.known && (bareHost(from) != bareHost(to) || strings.Trim(from.Path, "/") != strings.Trim(to.Path, "/"))
	end, start := addressKind(to), addressKind(from)
	p.toLogin, p.toConsent, p.toCheck, p.toMissing = end&isLogin != 0, end&isConsent != 0, end&isCheck != 0, end&isMissing != 0
	p.own = p.known && start&end != 0
	p.root = strings.Trim(from.Path, "/") == ""
	for key := range from.Query() {
		switch strings.ToLower(key) {
		case "q", "query", "search", "keyword", "keywords", "s", "term", "searchterm", "k", "text":
			p.search = true
		}
	}
	p.search = p.search || slices.ContainsFunc(strings.Split(strings.ToLower(from.Path), "/"), func(s string) bool { return s == "search" || s == "suche" || s == "recherche" })
	for key := range to.Query() {
		switch strings.ToLower(key) {
		case "next", "return", "returnto", "return_to", "returnurl", "return_url", "redirect", "redirectto", "redirecturl", "redirect_uri", "redirect_to", "redirect_url", "redir", "continue", "goto", "dest", "destination", "service",
			"back", "backurl", "back_url", "back_to", "rd", "ref_url", "callback", "callbackurl", "callback_url", "relaystate", "samlrequest", "client_id", "target", "from", "retpath", "origin", "url":
			p.back = true
		}
	}
	return p
}

func bareHost(u *url.URL) string { return strings.TrimPrefix(strings.ToLower(u.Host), "www.") }

// What an address is of, by the words in its path and the first of its host.
const (
	isLogin = 1 << iota
	isConsent
	isCheck
	isMissing
)

func addressKind(u *url.URL) (kind int) {
	host, _, _ := strings.Cut(bareHost(u), ".")
	switch host {
	case "login", "signin", "accounts", "account", "auth", "sso", "idp", "adfs", "cas", "id", "identity", "passport", "secure-login", "authn", "oauth":
		kind |= isLogin
	}
	if strings.HasPrefix(host, "login-") || strings.HasPrefix(host, "auth-") || strings.HasPrefix(host, "sso-") {
		kind |= isLogin
	}
	if strings.HasPrefix(host, "consent") || host == "cmp" || host == "privacy-gate" || host == "cookiewall" {
		kind |= isConsent
	}
	path := strings.ToLower(u.Path)
	for seg := range strings.SplitSeq(path[:min(len(path), 2048)], "/") {
		seg, _, _ = strings.Cut(seg, ";")
		plain := strings.Map(func(r rune) rune {
			if r == '-' || r == '_' || r == '.' {
				return -1
			}
			return r
		}, seg)
		switch plain {
		case "":
			continue
		case "sso", "auth", "authorize", "authorise", "saml", "saml2", "idp", "adfs", "cas", "session", "sessions", "anmelden", "anmeldung", "connexion", "iniciarsesion", "acceso", "accedi", "loggain", "kirjaudu", "inloggen", "zaloguj", "giris",
			"entrar", "oauth", "oauth2", "authwall", "authenticate", "authentication", "uas", "signup", "register", "join", "registration":
			kind |= isLogin
		case "404", "404html", "404htm", "404php", "404aspx", "notfound", "notfoundhtml", "pagenotfound", "pagenotfoundhtml", "error404", "error404html", "errorpage", "404notfound", "notfoundaspx", "notfoundphp":
			kind |= isMissing
		case "sorry", "blocked", "showcaptcha", "challenge", "botcheck", "humanverification", "areyouhuman", "distil", "validatecaptcha", "cdncgi":
			kind |= isCheck
		case "privacygate", "cookiewall", "gdpr", "cookies", "cookie", "privacy", "cookiepolicy", "privacypolicy", "datenschutz", "cookieconsent", "privacysettings",
			"zustimmung", "einwilligung", "consentement", "consentimiento", "consentimento", "consenso", "zgoda", "zgody", "toestemming", "samtykke", "samtycke", "souhlas", "suostumus":
			kind |= isConsent
		}
		switch {
		case strings.Contains(plain, "login"), strings.Contains(plain, "signin"), strings.Contains(plain, "logon"):
			kind |= isLogin
		case strings.Contains(plain, "consent"), strings.Contains(plain, "cookie"), strings.Contains(plain, "privacy"):
			kind |= isConsent
		case strings.Contains(plain, "captcha"):
			kind |= isCheck
		}
	}
	return kind
}
