package extract

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// roleOf reads the roles of an element.
func roleOf(n *html.Node) role {
	var r role
	switch n.DataAtom {
	case atom.Nav:
		r = roleNav
	case atom.Footer:
		r = roleFooter
	case atom.Header:
		r = roleHeader
	case atom.Aside:
		r = roleSide
	case atom.Article:
		r = rolePost
	case atom.Main:
		r = roleContent
	}
	for i := range n.Attr {
		switch a := &n.Attr[i]; a.Key {
		case "class", "id":
			r |= rolesIn(a.Val)
			if strings.Contains(a.Val, "rint") && n.DataAtom != atom.P && printClass(a.Val) {
				r |= roleDeed
			}
		case "role":
			switch a.Val {
			case "navigation", "menu", "menubar", "tablist", "toolbar":
				r |= roleNav
			case "banner":
				r |= roleHeader
			case "contentinfo":
				r |= roleFooter
			case "complementary":
				r |= roleSide
			case "search":
				r |= roleForm
			case "dialog", "alertdialog", "alert":
				r |= roleDialog
			case "form": // one for a password or a comment: see normalize
				r |= roleDeed
			case "doc-footnote", "doc-endnote", "doc-endnotes":
				r |= roleNote
			case "main", "article":
				r |= roleContent
			}
		case "itemprop":
			switch a.Val {
			case "articleBody", "text", "reviewBody":
				r |= roleContent
			case "comment":
				r |= roleComments
			}
		}
	}
	return r
}

// maxClass is how much of a class or id is read: enough for names that people
// give, not for lists that a tool writes.
const maxClass = 400

// rolesIn reads the words of a class or id: those between signs, digits and
// where a capital letter follows a small one.
func rolesIn(s string) role {
	r := nameRole(s)
	var word [24]byte
	n := 0
	var before [24]byte
	nb := 0
	mute := false // the name only says what the element has or has not
	before0 := r  // the roles of the names before this one
	end := func() {
		if n > 1 {
			switch string(word[:n]) {
			case "has", "with", "no", "without", "is":
				mute = mute || nb == 0
			case "not":
				mute, r = true, before0
			}
		}
		if n > 1 && !mute {
			r |= wordRole(string(word[:n]))
			if nb > 0 {
				r |= pairRole(string(before[:nb]), string(word[:n]))
			}
		}
		if n > 0 {
			nb = copy(before[:], word[:n])
		}
		n = 0
	}
	lower := false
	for i := 0; i < len(s) && i < maxClass; i++ {
		c := s[i]
		switch {
		case c >= 'A' && c <= 'Z':
			if lower {
				end()
			}
			lower = false
			c += 'a' - 'A'
		case c >= 'a' && c <= 'z':
			lower = true
		default:
			end()
			if c == ' ' {
				nb, mute, before0 = 0, false, r
			}
			lower = false
			continue
		}
		if n < len(word) {
			word[n] = c
			n++
		}
	}
	end()
	return r
}

// nameRole is what a class or id means that is one word and no more.
func nameRole(s string) role {
	switch s {
	case "side":
		return roleSide
	case "signature":
		return roleMeta
	}
	return 0
}

// printClass knows the names of what is on the screen or on paper only. What
// is not worth printing is not worth reading, and what is only printed is not
// seen.
func printClass(s string) bool {
	for t := range strings.FieldsSeq(s[:min(len(s), maxClass)]) {
		switch t {
		case "noprint", "no-print", "no_print", "nopr", "d-print-none", "hidden-print", "print-hidden", "print:hidden", "dont-print", "hide-print", "hide-on-print",
			"print-only", "printonly", "visible-print", "visible-print-block", "only-print", "printfooter":
			return true
		}
	}
	return false
}

// wordRole is what one word of a class means.
func wordRole(w string) role {
	switch w {
	case "nav", "navbar", "navigation", "navi", "menu", "menus", "submenu", "megamenu", "breadcrumb", "breadcrumbs", "crumbs",
		"pagination", "pager", "paginator", "paging", "sitemap", "tabbar", "toc", "skiplink", "skiplinks", "sidenav", "topnav", "subnav", "dropdown", "flyout", "mega":
		return roleNav
	case "footer", "foot", "footnav", "colophon", "subfooter", "copyright", "imprint", "legal":
		return roleFooter
	case "masthead", "topbar", "toolbar", "hamburger", "offcanvas", "minicart", "navheader":
		return roleHeader
	case "sidebar", "sidebars", "sidepanel", "aside", "rail", "sidecol", "complementary":
		return roleSide
	case "share", "sharing", "shares", "social", "socials", "sharedaddy", "addthis", "addtoany", "followus", "sociable", "sharebar":
		return roleShare
	case "related", "recommended", "recommendation", "recommendations", "recirc", "recirculation", "trending", "popular", "outbrain", "taboola",
		"zergnet", "morefrom", "readmore", "upnext", "relatedposts", "yarpp", "mostread":
		return roleRelated
	case "ad", "ads", "advert", "adverts", "advertisement", "advertising", "adsense", "adunit", "adslot", "sponsor", "sponsored", "sponsors",
		"promo", "promos", "promotion", "newsletter", "newsletters", "subscribe", "subscription", "signup", "optin", "mailchimp", "paywall", "upsell", "crosssell":
		return rolePromo
	case "cookie", "cookies", "consent", "gdpr", "ccpa", "onetrust", "modal", "modals", "popup", "popups", "lightbox",
		"cookiebanner", "cookiebar", "interstitial":
		return roleDialog
	case "comments", "comment", "commentlist", "disqus", "respond", "replies", "livefyre", "discussion":
		return roleComments
	case "tags", "tagcloud", "byline", "postmeta", "metadata", "authorbox", "authorbio", "userextras", "catlinks":
		return roleMeta
	case "search", "searchform", "searchbox", "login", "signin", "filter", "filters", "facet", "facets", "sorting", "autocomplete":
		return roleForm
	case "review", "reviews", "testimonials", "ratings":
		return roleReviews
	case "note", "tip", "warning", "caution", "admonition", "callout", "important", "danger", "hint", "footnote", "footnotes", "endnotes", "hatnote":
		return roleNote
	case "post", "message", "answer", "question", "msg", "posts", "topic", "thread":
		return rolePost
	case "article", "articlebody", "story", "content", "contents", "entry", "main", "prose", "markdown", "body", "postbody", "blog":
		return roleContent
	case "hero", "jumbotron", "masthero", "intro":
		return roleHero
	}
	return 0
}

// pairRole is what two words in a row mean that mean nothing alone.
func pairRole(a, b string) role {
	switch b {
	case "bar":
		if a == "side" {
			return roleSide
		}
	case "signature":
		if a == "message" || a == "user" || a == "forum" {
			return roleMeta
		}
	case "feedback", "helpful":
		switch a {
		case "page", "doc", "docs", "md", "article", "was", "is":
			return roleDeed
		}
	case "box", "bio", "info", "card", "profile":
		if a == "author" {
			return roleMeta
		}
	case "author":
		if a == "about" {
			return roleMeta
		}
	case "header":
		if a == "site" || a == "page" || a == "global" || a == "main" || a == "top" {
			return roleHeader
		}
	case "contents":
		if a == "of" {
			return roleNav
		}
	case "next", "more":
		if a == "read" || a == "up" || a == "whats" {
			return roleRelated
		}
	case "extras", "stats":
		if a == "user" || a == "author" || a == "profile" || a == "poster" {
			return roleMeta
		}
	case "list":
		if a == "topic" || a == "thread" {
			return roleRelated
		}
	case "posts", "articles", "stories", "news", "products", "content", "items", "reading", "topics", "threads", "questions", "discussions":
		switch a {
		case "more", "similar", "other", "latest", "recent", "suggested", "also", "previous", "next":
			return roleRelated
		}
	case "us":
		if a == "follow" {
			return roleShare
		}
	case "switcher", "selector", "picker":
		return roleNav
	case "link", "links", "to":
		if a == "skip" {
			return roleNav
		}
	}
	return 0
}
