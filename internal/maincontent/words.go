package maincontent

import (
	"net/url"
	"strings"
	"unicode"

	"golang.org/x/net/html"
)

// Categories of words that say what a short text is there for.
const (
	lexCommon = iota // words that sentences are made of
	lexShare
	lexSubscribe
	lexAccount
	lexShop
	lexLegal
	lexMenu
	lexRelated
	lexByline
	lexReply
	lexReview
	lexTime
	lexContact
	lexCall // calls to act
	lexSpec // what a thing is made of
	lexPerson
	lexCount
)

var lexNames = [lexCount]string{
	"common", "share", "subscribe", "account", "shop", "legal", "menu", "related", "byline", "reply", "review", "time", "contact", "call", "spec", "person",
}

type category uint32

var lexicon = words(map[category]string{
	1 << lexCommon: "the of and to in is that for it with as was on are be this by at from or an not have has were which their they but can will would its been more than when there also into about if so may these other some such only " +
		"der die das und ist ein eine nicht mit von für auf dem den sich auch werden bei sind als wird im zu zum zur oder aber nach wie " +
		"le la les des est une un dans pour que qui sur pas avec sont par plus au aux ce cette ou mais " +
		"el los las una que con por para es no se del como más lo su al pero " +
		"il di che della non per del si con sono gli nel anche alla dei " +
		"het een van dat niet met voor zijn op aan ook er maar " +
		"og det som på en af ikke har til å att och inte är av i w nie na jest się do że и в не на что с по это как для",
	1 << lexShare:     "share shares sharing facebook twitter instagram linkedin pinterest whatsapp youtube tiktok reddit telegram tweet pin email print copy follow teilen partager compartir condividi rss",
	1 << lexSubscribe: "subscribe subscribers subscription newsletter newsletters inbox signup unsubscribe updates delivered join membership abonnieren abonner suscribirse",
	1 << lexAccount:   "login log sign signin register account password username forgot remember logout anmelden konto connexion compte member guest",
	1 << lexShop:      "cart checkout wishlist buy price shipping order stock qty quantity sku add bag sale discount off returns warehouse delivery compare warenkorb panier favourites basket pickup",
	1 << lexLegal:     "copyright rights reserved privacy terms cookies cookie policy disclaimer conditions trademark trademarks registered impressum datenschutz inc llc ltd gmbh mentions accessibility preferences consent affiliate commission",
	1 << lexMenu:      "home menu search skip previous next back top close open toggle view all show main navigation browse categories category archive archives page pages site sitemap loading results sort filter filters suche accueil inicio expand collapse",
	1 << lexRelated:   "related recommended popular similar trending latest recent featured also like more read stories articles posts news you might editor picks topics tags tagged",
	1 << lexByline:    "by author posted published updated written edited reviewed min minute minutes read contributor reporter editor staff von par modified last",
	1 << lexReply:     "comment comments reply replies replied leave respond discussion like likes liked quote report upvote downvote vote votes points reputation joined thread topic post posts views solved answer answers answered asked kudos",
	1 << lexReview:    "review reviews rating ratings rated stars star verified helpful customers customer testimonials recommend purchaser out",
	1 << lexTime: "january february march april june july august september october november december jan feb mar apr jun jul aug sep sept oct nov dec monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun " +
		"ago am pm today yesterday hours hour days day weeks week months month years year uhr januar februar märz mai juni juli oktober dezember janvier février avril juin juillet août",
	1 << lexContact: "phone email address hours contact tel fax call street suite floor directions location locations map office ave road directory",
	1 << lexCall:    "learn get start started try free demo download book now request quote explore discover schedule apply watch listen see click here talk sales",
	1 << lexSpec:    "size weight dimensions material materials color colour model brand specifications features description details type warranty capacity length width height ingredients cm mm kg lb lbs oz inch inches cotton polyester",
	1 << lexPerson:  "i we you my our your me us he she his her",
})

// Hints are what a page says of itself outside of its text.
type Hints struct {
	Title       string
	Description string
	Types       []string // names of schema.org types of the page's main object
	OpenGraph   string   // og:type
	Generator   string
	Text        string // the page's text as structured data has it: articleBody, description, text
	Address     *url.URL
	Thread      bool    // readers write what the page is about
	Product     bool    // one thing on sale
	Rules       Reading // what rules chose
}

// A Reading is what rules make of a page. The model learns when to believe it.
type Reading struct {
	Root    *html.Node          // what the content is inside of; all of the page when nil
	Lead    *html.Node          // what leads to it from outside, or nil
	Dropped map[*html.Node]bool // elements that are left out with all that is in them
}

// hints are the same, ready to be compared with.
type hints struct {
	title map[uint32]bool
	about map[uint32]bool // pairs of words
	told  map[uint32]bool
}

// Bounds on what is compared with, in words.
const (
	maxTitleWords = 40
	maxAboutWords = 200
	maxToldWords  = 20000
)

func (h *hints) read(from *Hints) {
	h.title = map[uint32]bool{}
	eachWord(from.Title, maxTitleWords, func(w, _ uint32) {
		if lexicon[w]&(1<<lexCommon) == 0 {
			h.title[w] = true
		}
	})
	h.about = pairs(from.Description, maxAboutWords)
	h.told = pairs(from.Text, maxToldWords)
}

func pairs(s string, limit int) map[uint32]bool {
	if s == "" {
		return nil
	}
	m := map[uint32]bool{}
	eachWord(s, limit, func(w, before uint32) {
		if before != 0 {
			m[before*31+w] = true
		}
	})
	return m
}

// eachWord calls f with the hash of each word and of the one before.
func eachWord(s string, limit int, f func(w, before uint32)) {
	h, n, before := fnvStart, 0, uint32(0)
	for _, c := range s + " " {
		if c == '_' || unicode.IsLetter(c) || unicode.IsNumber(c) {
			h = (h ^ uint32(unicode.ToLower(c))) * fnvPrime
			n++
			continue
		}
		if n > 0 {
			f(h, before)
			before = h
			if limit--; limit == 0 {
				return
			}
		}
		h, n = fnvStart, 0
	}
}

// word counts one word of a block.
func (h *hints) word(b *Block, w uint32) {
	if c := lexicon[w]; c != 0 {
		for k := range b.lex {
			if c>>k&1 != 0 && b.lex[k] < 65535 {
				b.lex[k]++
			}
		}
	}
	b.same = (b.same ^ uint64(w)) * 1099511628211
	if h.title[w] {
		b.title++
	}
	if b.prior != 0 {
		b.pairs++
		pair := b.prior*31 + w
		if h.about != nil && h.about[pair] {
			b.about++
		}
		if h.told != nil && h.told[pair] {
			b.told++
		}
	}
	b.prior = w
}

// typeNames are the groups of schema.org types that are told apart.
var typeNames = []string{"type article", "type thread", "type product", "type list", "type event", "type recipe", "type business", "type page", "type video"}

func typeGroup(t string) int {
	switch {
	case strings.HasSuffix(t, "Article") || strings.HasSuffix(t, "BlogPosting") || t == "Report":
		return 0
	case t == "DiscussionForumPosting" || t == "QAPage" || t == "Question" || t == "SocialMediaPosting":
		return 1
	case t == "Product" || t == "ProductGroup" || t == "SoftwareApplication":
		return 2
	case t == "ItemList" || t == "CollectionPage" || t == "OfferCatalog" || t == "SearchResultsPage":
		return 3
	case strings.HasSuffix(t, "Event"):
		return 4
	case t == "Recipe" || t == "HowTo" || t == "FAQPage":
		return 5
	case strings.HasSuffix(t, "Business") || t == "Service" || t == "Organization" || t == "Corporation" || t == "Restaurant" || t == "Hotel":
		return 6
	case strings.HasSuffix(t, "Page") || t == "WebSite":
		return 7
	case t == "VideoObject" || t == "Movie" || t == "PodcastEpisode":
		return 8
	}
	return -1
}

// pathNames are the groups of words in an address that are told apart.
var pathNames = []string{"address of a forum", "address of a shop", "address of a list", "address of a blog", "address of documentation", "address of a company"}

type pathGroup uint32

var pathWords = words(map[pathGroup]string{
	1 << 0: "forum forums thread threads topic viewtopic showthread question questions discussion discussions board boards community t f",
	1 << 1: "product products shop store item dp p collections buy sku cart prod",
	1 << 2: "category categories tag tags collection collections search browse catalog list listing archive page c s",
	1 << 3: "blog blogs news article articles post posts story stories magazine",
	1 << 4: "docs doc documentation guide guides reference api manual wiki help support learn tutorial tutorials",
	1 << 5: "about services service contact company careers solutions pricing features team",
})
