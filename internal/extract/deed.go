package extract

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"sift.build/sift/internal/dom"
	"sift.build/sift/internal/normalize"
)

// Bounds on what is taken for a row of buttons.
const (
	longestDeed = 48  // bytes of one label
	longestRow  = 300 // of a row of them
	longestPlea = 200 // of a sentence that asks to sign in
)

// isDeeds says that a cell holds what a reader can do, and nothing to read: a
// row of links like reply, quote and report under a post, the tools of a wiki's
// page, a line that asks to sign in before one can answer.
func (ix *index) isDeeds(c *cell) bool {
	if !normalize.IsBlock(c.node) || c.text > longestRow {
		return false
	}
	switch c.node.DataAtom {
	case atom.Td, atom.Th, atom.Tr, atom.Tbody, atom.Body, atom.Main, atom.Article, atom.Dt, atom.Blockquote:
		return false
	}
	if c.deeds >= c.text/10*7 {
		return true
	}
	if c.text > longestPlea || c.link > c.deeds || c.node.Parent != nil && c.node.Parent.DataAtom == atom.Ol {
		return false
	}
	return asksToJoin(text(c.node))
}

// buttons marks links that do something where they are all that their block
// says itself: a button to answer beside the box with the pages of a thread.
func (ix *index) buttons() {
	for _, i := range ix.todo {
		b := &ix.cells[ix.block(i)]
		switch b.node.DataAtom {
		case atom.P, atom.Td, atom.Th, atom.Dt, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Summary:
		default:
			if b.ownDo >= b.own/10*7 {
				ix.cells[i].role |= roleDeed
			}
		}
	}
}

// tidy takes rows of buttons and lists of other pages out of a main content that
// was chosen block by block.
func tidy(main *html.Node) {
	ix := makeIndex(main)
	ix.prune(0, roleDeed|roleOther, about{})
	if m := ix.main; m > 0 && ix.onlyArticle(m) > 0 && ix.landmark(m) { // one article, and teasers
		for i := ix.cells[m].end; i < int32(len(ix.cells)); i = ix.cells[i].end {
			ix.cells[i].drop = true
		}
	}
	for i := int32(1); i < int32(len(ix.cells)); i++ {
		if c := &ix.cells[i]; c.drop {
			c.node.Parent.RemoveChild(c.node)
			i = c.end - 1
		}
	}
}

// asksToJoin knows a sentence that wants its reader to have an account.
func asksToJoin(s string) bool {
	s = strings.ToLower(s)
	//nolint:misspell // most of it is not English
	for _, phrase := range [...]string{
		"to join this", "to join the", "to comment", "to reply", "to post", "to answer", "to vote", "to participate", "to take part", "to react", "must be signed in", "must be logged in",
		"need to be logged in", "have an account", "um zu antworten", "um zu kommentieren", "kommentieren zu können", "antworten zu können", "pour répondre", "pour commenter", "pour participer", "para responder",
		"para comentar", "para participar", "per rispondere", "per commentare", "om te reageren", "чтобы ответить", "чтобы оставить", "чтобы комментировать", "aby odpowiedzieć", "aby skomentować",
		"för att svara", "för att kommentera", "ログインし", "登录后", "登入後",
	} {
		if strings.Contains(s, phrase) {
			return true
		}
	}
	return false
}

// isDeed says that a link does something with the page or its post instead of
// leading to something to read, by its word or its address.
func isDeed(n *html.Node) bool {
	s := strings.Trim(strings.ToLower(oneLine(text(n), longestDeed)), " []()|·•–-+.…↑▲")
	switch s {
	case "reply", "quote", "report", "share", "permalink", "embed", "save", "hide", "flag", "upvote", "downvote", "follow", "like", "unlike", "bookmark", "reply with quote", "post reply", "post a reply", "quick reply", "multi-quote",
		"add a comment", "add comment", "write a comment", "leave a comment", "report post", "report abuse", "give award", "crosspost", "copy link", "print", "print view", "print this page", "email this page", "log in", "login", "sign in",
		"sign up", "register", "join", "join now", "create account", "create an account", "ask question", "ask a question", "improve this question", "improve this answer", "edit", "edit this page", "view source", "show source",
		"view page source", "show pagesource", "edit source", "page source", "view history", "page history", "old revisions", "backlinks", "what links here", "recent changes", "watch this page", "top", "back to top", "return to top",
		"to top", "go to top", "jump to recipe", "select all", "click to expand", "show parent", "mark as read", "reset to default", "favorite", "favourite", "collapse", "expand all", "collapse all",
		"antworten", "zitieren", "zitat", "melden", "beitrag melden", "teilen", "merken", "anmelden", "einloggen", "registrieren", "drucken", "nach oben", "bearbeiten", "quelltext anzeigen", "seite bearbeiten", "versionsgeschichte", "versionen/autoren",
		"répondre", "citer", "signaler", "partager", "se connecter", "connexion", "s'inscrire", "inscription", "imprimer", "haut de page", "modifier", "voir le texte source", "historique", "anciennes révisions", "liens de retour",
		"responder", "citar", "reportar", "denunciar", "compartir", "iniciar sesión", "registrarse", "imprimir", "arriba", "rispondi", "cita", "segnala", "condividi", "accedi", "registrati", "stampa",
		"beantwoorden", "citeren", "rapporteren", "delen", "inloggen", "registreren", "afdrukken", "ответить", "цитировать", "пожаловаться", "поделиться", "войти", "регистрация", "печать", "наверх",
		"odpowiedz", "cytuj", "zgłoś", "udostępnij", "zaloguj się", "zarejestruj się", "drukuj", "svara", "citera", "rapportera", "dela", "logga in", "返信", "引用", "ログイン", "共有", "回复", "回復", "举报", "登录", "登入", "注册", "分享", "답글", "로그인", "공유":
		return true
	}
	if n.DataAtom != atom.A {
		return false
	}
	return deedAddress(dom.Attr(n, "href"))
}

// deedAddress knows the addresses of forms and editors, and those that hand
// the page on to another service.
func deedAddress(href string) bool {
	href = strings.ToLower(href[:min(len(href), 300)])
	if strings.HasPrefix(href, "mailto:?") {
		return true
	}
	rest, query, _ := strings.Cut(href, "?")
	for part := range strings.FieldsFuncSeq(query, func(r rune) bool { return r == '&' || r == ';' }) {
		key, value, _ := strings.Cut(part, "=")
		switch key {
		case "do": // DokuWiki
			switch value {
			case "login", "register", "edit", "revisions", "backlink", "recent", "index", "media", "diff", "source", "export_pdf", "resendpwd", "subscribe":
				return true
			}
		case "action": // MediaWiki, MoinMoin, SMF
			switch value {
			case "edit", "history", "raw", "info", "diff", "login", "login2", "register", "post", "reporttm", "printpage", "sendtopic", "attachfile", "subscribe", "print":
				return true
			}
		case "mode": // phpBB
			switch value {
			case "reply", "quote", "report", "login", "register", "edit", "post", "email":
				return true
			}
		}
	}
	_, path, ok := strings.Cut(rest, "://")
	if !ok {
		path = rest
	}
	host, path, _ := strings.Cut(path, "/")
	for part := range strings.SplitSeq(path, "/") {
		switch strings.TrimSuffix(strings.TrimSuffix(part, ".php"), ".action") {
		case "login", "signin", "sign-in", "sign_in", "log-in", "join", "signup", "sign-up", "sign_up", "register":
			return true
		case "sharer", "intent", "sharearticle", "share-offsite", "newreply", "sharing":
			return true
		}
	}
	host = strings.TrimPrefix(host, "www.")
	return host == "pinterest.com" && strings.HasPrefix(path, "pin/create") || host == "reddit.com" && strings.HasPrefix(path, "submit") ||
		(host == "t.me" || host == "telegram.me") && strings.HasPrefix(path, "share") || (host == "wa.me" || host == "api.whatsapp.com") && strings.Contains(query, "text=")
}

// othersLabel knows headings over lists of other pages.
func othersLabel(s string) bool {
	s = strings.ToLower(strings.TrimSpace(s))
	//nolint:misspell // most of it is not English
	for _, p := range [...]string{
		"related topic", "related thread", "related article", "related post", "related question", "related discussion", "related stor", "related product", "related news", "related content", "related video", "related event", "related item",
		"similar topic", "similar thread", "similar question", "similar discussion", "similar article", "similar post", "similar product", "similar item", "suggested topic", "suggested article", "recommended for you", "recommended article",
		"recommended stor", "recommended read", "recommended product", "you may also", "you might also", "you may like", "customers also", "people also", "read next", "up next", "more like this", "more events", "who is online", "who's online",
		"users browsing this", "posting rules", "hot network questions", "recent posts", "recently viewed", "latest posts", "ähnliche themen", "ähnliche artikel", "ähnliche beiträge", "ähnliche produkte", "ähnliche fragen", "verwandte themen",
		"verwandte artikel", "das könnte", "mehr zum thema", "auch interessant", "wer ist online", "articles similaires", "articles connexes", "articles liés", "sujets similaires", "sujets liés", "à lire aussi", "lire aussi", "vous aimerez aussi",
		"produits similaires", "artículos relacionados", "temas similares", "temas relacionados", "también te puede", "te puede interesar", "productos relacionados", "articoli correlati", "discussioni simili", "potrebbe interessarti", "leggi anche",
		"gerelateerde", "vergelijkbare", "lees ook", "artigos relacionados", "leia também", "tópicos semelhantes", "podobne", "czytaj także", "zobacz też", "похожие темы", "похожие статьи", "похожие вопросы", "читайте также", "liknande", "läs också",
		"関連記事", "関連トピック", "おすすめ記事", "相关文章", "相关阅读", "相关推荐", "相關文章", "관련 글", "관련 기사",
	} {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

// maxHeads is how many headings over other pages are looked at.
const maxHeads = 50

// others marks the parts of the page that headings over other pages open: for
// each the largest element that begins with it and has no running text.
func (ix *index) others() {
	for _, h := range ix.heads {
		best := int32(-1)
		for child, i := h, ix.cells[h].parent; i > 0 && opens(ix.cells[child].node); child, i = i, ix.cells[i].parent {
			c := &ix.cells[i]
			if c.prose > 0 || c.node.DataAtom == atom.Main || c.node.DataAtom == atom.Article {
				break
			}
			if c.isContainer() && c.text > ix.cells[h].text {
				best = i
			}
		}
		if best > 0 {
			ix.cells[best].role |= roleOther
		}
	}
}

// opens says that there is no text in front of n in its parent.
func opens(n *html.Node) bool {
	steps := 0
	for s := n.PrevSibling; s != nil; s = s.PrevSibling {
		for c := s; c != nil; c = dom.Next(c, s) {
			if steps++; steps > 50 || c.Type == html.TextNode && strings.TrimSpace(c.Data) != "" {
				return false
			}
		}
	}
	return true
}

const (
	stripLinks = 4  // links of a bar of links
	stripLabel = 14 // bytes of one of them, on average
)

// strips drops bars of links at the very top and the very bottom of a page that
// names none of its parts, as tables and bare boxes make them.
func (ix *index) strips(root int32) {
	kept := ix.kept(root)
	if kept.link > kept.text/10*6 {
		return // a list of links is what the page is about
	}
	isStrip := func(c *cell) bool {
		return c.links >= stripLinks && c.prose == 0 && c.link*10 >= c.text*7 && c.text < stripLabel*c.links && c.text < kept.text/5
	}
	for i := root + 1; i < ix.cells[root].end; {
		c := &ix.cells[i]
		switch {
		case c.drop || c.text == 0:
			i = c.end
		case isStrip(c) && normalize.IsBlock(c.node) && !ix.hasTitle(i):
			c.drop = true
			i = c.end
		case c.own > 0 || !normalize.IsBlock(c.node):
			i = ix.cells[root].end // the first text that is none
		default:
			i++
		}
	}
	at := root
	for range 100 {
		last := int32(-1)
		for i := at + 1; i < ix.cells[at].end; i = ix.cells[i].end {
			c := &ix.cells[i]
			if c.text > 0 && !c.drop && normalize.IsBlock(c.node) {
				last = i
			}
		}
		if last < 0 {
			return
		}
		if c := &ix.cells[last]; isStrip(c) && !ix.hasTitle(last) {
			c.drop = true
			continue
		} else if c.own > 0 {
			return
		}
		at = last
	}
}
