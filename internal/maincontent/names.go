package maincontent

import (
	"golang.org/x/net/html"
)

// kinds are what the names that an element carries (class, id, role, itemprop)
// say that it is there for, a bit for each.
type kinds uint32

const (
	kindNav kinds = 1 << iota
	kindFooter
	kindHeader
	kindSide
	kindShare
	kindRelated
	kindPromo
	kindDialog
	kindComment
	kindByline
	kindForm
	kindPost
	kindContent
	kindHero
	kindReview
	kindNote
	kindProduct
	kindCard
	kindTitle
	kindTrail // breadcrumbs
	kindWidget
	kindCaption
	kindFold // accordions, tabs, frequent questions
	kindUser
	kindTime
	kindTag
	kindButton
	kindSlide
	kindPrice
	kindDescription
	kindList
	kindMeta
	kindCount = 32
)

var kindNames = [kindCount]string{
	"nav", "footer", "header", "side", "share", "related", "promo", "dialog", "comment", "byline", "form", "post", "content", "hero",
	"review", "note", "product", "card", "title", "trail", "widget", "caption", "fold", "user", "time", "tag", "button", "slide", "price",
	"description", "list", "meta",
}

// nameWords gives the kinds that a word in a name stands for.
var nameWords = words(map[kinds]string{
	kindNav:         "nav navbar navigation navi menu menus submenu megamenu pagination pager paginator paging sitemap tabbar toc skiplink skiplinks sidenav topnav subnav dropdown flyout mega menubar links quicklinks",
	kindFooter:      "footer foot footnav colophon subfooter copyright imprint legal bottom contentinfo prefooter",
	kindHeader:      "header head masthead topbar toolbar hamburger offcanvas minicart navheader banner logo branding top",
	kindSide:        "sidebar sidebars aside rail sidecol complementary secondary",
	kindShare:       "share sharing shares social socials sharedaddy addthis addtoany followus sociable sharebar facebook twitter follow",
	kindRelated:     "related recommended recommendation recommendations recirc recirculation trending popular outbrain taboola zergnet morefrom upnext relatedposts yarpp mostread similar suggested upsell upsells crosssell crosssells also",
	kindPromo:       "ad ads advert adverts advertisement advertising adsense adunit adslot sponsor sponsored sponsors promo promos promotion promotions newsletter newsletters subscribe subscription signup optin mailchimp paywall cta banner marketing",
	kindDialog:      "cookie cookies consent gdpr ccpa onetrust modal modals popup popups popover lightbox cookiebanner cookiebar interstitial overlay dialog drawer tooltip toast alert notification",
	kindComment:     "comments comment commentlist disqus respond replies reply livefyre discussion",
	kindByline:      "byline author authors authorbox authorbio vcard contributor writer bio",
	kindForm:        "search searchform searchbox login signin filter filters facet facets sorting sort autocomplete form input field newsletter",
	kindPost:        "post message answer question msg posts topic thread hentry postcontainer",
	kindContent:     "article articlebody story content contents entry main prose markdown body postbody blog text richtext wysiwyg copy page rte",
	kindHero:        "hero jumbotron masthero intro lead lede headline dek standfirst",
	kindReview:      "review reviews testimonial testimonials rating ratings stars feedback",
	kindNote:        "note tip warning caution admonition callout important danger hint quote blockquote pullquote",
	kindProduct:     "product products pdp sku variant variants item buybox addtocart cart stock swatch swatches shop woocommerce",
	kindCard:        "card cards tile tiles teaser teasers grid item items listing result results thumb thumbnail cell col column",
	kindTitle:       "title heading titles headline subtitle heading name subheading caption",
	kindTrail:       "breadcrumb breadcrumbs crumbs crumb",
	kindWidget:      "widget widgets block module panel plugin component elementor section",
	kindCaption:     "caption captions figcaption figure gallery image credit media photo",
	kindFold:        "accordion accordions faq faqs tab tabs tabpanel tabcontent collapse collapsible toggle panel disclosure expandable",
	kindUser:        "user username avatar profile member poster account userinfo nickname",
	kindTime:        "time date timestamp datetime published posted updated",
	kindTag:         "tag tags tagcloud category categories label labels keywords topics cat badge",
	kindButton:      "button btn buttons cta actions action link more readmore",
	kindSlide:       "slider carousel slide slides slideshow swiper slick owl",
	kindPrice:       "price prices pricing amount cost money",
	kindDescription: "description desc summary excerpt details detail about overview abstract specs specification specifications features",
	kindList:        "list lists archive archives collection index feed directory loop",
	kindMeta:        "meta metadata postmeta info signature extras stats count counts userextras",
})

// words turns lists of words into a table.
func words[T ~uint32](lists map[T]string) map[uint32]T {
	table := map[uint32]T{}
	for k, list := range lists {
		h, n := fnvStart, 0
		for _, c := range list + " " {
			if c == ' ' {
				if n > 0 {
					table[h] |= k
				}
				h, n = fnvStart, 0
				continue
			}
			h = (h ^ uint32(c)) * fnvPrime
			n++
		}
	}
	return table
}

// maxName is how much of a class or id is read: enough for names that people
// give, not for lists that a tool writes.
const maxName = 400

// readNames gives the kinds of an element, and a hash of its tag and classes
// that elements of the same make share: digits in names do not count.
//
// Each word is handed to seen, when that is not nil.
func readNames(n *html.Node, seen func(word uint32)) (kinds, uint32) {
	var k kinds
	sig := fnvStart
	for i := range len(n.Data) {
		sig = (sig ^ uint32(n.Data[i])) * fnvPrime
	}
	for i := range n.Attr {
		switch a := &n.Attr[i]; a.Key {
		case "class":
			var s uint32
			s, k = readName(a.Val, k, seen)
			sig = sig*31 + s
		case "id", "itemprop", "role":
			_, k = readName(a.Val, k, seen)
		}
	}
	return k, sig
}

// readName reads the words of a name: those between signs, digits and where a
// capital letter follows a small one.
func readName(s string, k kinds, seen func(word uint32)) (uint32, kinds) {
	sig := fnvStart
	h, n := fnvStart, 0
	mute, lower := false, false
	end := func() {
		if n > 1 {
			if seen != nil {
				seen(h)
			}
			switch h {
			case wordHas, wordWith, wordNo, wordNot, wordWithout, wordIs:
				mute = true // the rest says only what the element has or has not
			default:
				if !mute {
					k |= nameWords[h]
				}
			}
		}
		h, n = fnvStart, 0
	}
	for i := 0; i < len(s) && i < maxName; i++ {
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
			lower = false
			if c <= ' ' {
				mute = false
			}
			continue
		}
		sig = (sig ^ uint32(c)) * fnvPrime
		h = (h ^ uint32(c)) * fnvPrime
		n++
	}
	end()
	return sig, k
}

var wordHas, wordWith, wordNo, wordNot, wordWithout, wordIs = hashOf("has"), hashOf("with"), hashOf("no"), hashOf("not"), hashOf("without"), hashOf("is")

func hashOf(s string) uint32 {
	h := fnvStart
	for _, c := range s {
		h = (h ^ uint32(c)) * fnvPrime
	}
	return h
}
