package extract

import (
	"context"
	"net/url"
	"strings"
	"unicode/utf8"

	"sift.build/sift/internal/normalize"
	"sift.build/sift/internal/sift"
)

// Success that isn't: a page that stands in the place of the one that was asked
// for. docs/extraction-signals.md says what is looked at and how to extend it.
//
// A page is judged by clues, each worth some points. No clue is enough by
// itself, and a page that says something of its own is never one of these, so
// that an article about captchas stays an article.

// A wall is what can stand in the place of a page.
type wall uint8

const (
	wallCheck   wall = iota // a bot check, or a refusal of what is taken for a bot
	wallConsent             // nothing before cookies are accepted
	wallLogin               // nothing before a login
	wallPaywall             // nothing before a subscription
	wallMissing             // there is no such page
	wallUpkeep              // the site is down
	wallShell               // nothing before a script has run
	wallCount
)

// enough is how many points a page needs to be taken for one.
const enough = 75

// Shares of text in letters, as a remark counts them.
const (
	tiny  = 200
	short = 600
	some  = 1200
	// longSentence is longer than what walls say to be polite.
	longSentence = 60
	// largeMenu is more than the menu and foot of a page that has nothing else.
	// What has as much may be a list of what a shop has, by another name.
	largeMenu = 3000
)

// A scene is all that is known of a page when it is judged.
type scene struct {
	*sight
	*remarks
	marks  *tally
	at     place
	status int

	title    cue // of all of the title
	titled   [wallCount]bool
	missing  int  // headings that say what is not found
	told404  bool // crawlers are told a status of 404
	nameless bool // there is no title
	robots   bool // search engines are asked to keep away

	label  cue            // what the buttons say
	says   [wallCount]int // sentences that say so, headings aside
	headed [wallCount]bool
	alien  [wallCount]int // letters outside of links that say something else
	aliens [wallCount]int // in how many sentences
	prose  [wallCount]int // of which are as long as those of running text
	kin    [wallCount]int // letters that fit
	banner int            // letters that speak of consent in an element of its own
	beside int            // letters that stand in none
	// sentences is how many stand outside of headings.
	sentences int
	incident,
	describes,
	noHits,
	asksScripts,
	asksAside,
	loading bool
}

// A clue is something seen in a page, and how much it speaks for a wall.
type clue struct {
	wall   wall
	points int
	what   string
	seen   func(s *scene) bool
}

// clues is the table. Its order does not matter.
var clues = [...]clue{
	{wallCheck, 60, "a name in scripts or ids that only bot checks have", func(s *scene) bool { return s.has(markCheck) }},
	{wallCheck, 25, "a name of a maker of bot checks, which real pages have too", func(s *scene) bool { return !s.has(markCheck) && s.has(markGuard) }},
	{wallCheck, 35, "such a name or a captcha, and nothing else at all", func(s *scene) bool {
		return !s.has(markCheck) && (s.has(markGuard) || s.has(markCaptcha) || s.has(markWidget) || s.marks.hint) && s.whole == 0 && s.menu == 0 && !s.known && !s.empty && s.pictures == 0
	}},
	{wallCheck, 25, "a captcha", func(s *scene) bool { return s.has(markCaptcha) || s.has(markWidget) || s.marks.hint }},
	{wallCheck, 25, "its place in the page, and nothing to fill in", func(s *scene) bool { return s.has(markWidget) && s.fields+s.passwords == 0 }},
	{wallCheck, 25, "that, and title, heading or a sentence to the reader speak of people, programs or captchas", func(s *scene) bool {
		return s.has(markWidget) && s.fields+s.passwords == 0 && s.says[wallCheck] == 0 && (s.titled[wallCheck] || s.headed[wallCheck] || s.talksOf(cueHuman|cueGuard|cueGoOn))
	}},
	{wallCheck, 25, "a captcha, at most 150 letters in three sentences, and nothing to fill in or choose", func(s *scene) bool {
		return s.has(markWidget) && s.fields+s.passwords+s.choices == 0 && s.loose <= 150 && s.sentences <= 3 && !s.isManual()
	}},
	{wallCheck, 20, "a script computes, and title or heading speak of a check, or a sentence that also asks to wait", func(s *scene) bool {
		return s.marks.works && (s.titled[wallCheck] || s.headed[wallCheck] || s.says[wallCheck] > 0 && s.kinOf(cueWait)) && s.fields+s.passwords == 0
	}},
	{wallCheck, 30, "the title speaks of a check", func(s *scene) bool { return s.titled[wallCheck] }},
	{wallCheck, 15, "a heading speaks of a check and the title does not", func(s *scene) bool { return s.headed[wallCheck] && !s.titled[wallCheck] }},
	{wallCheck, 40, "a sentence speaks of a check to its reader", func(s *scene) bool { return s.says[wallCheck] > 0 }},
	{wallCheck, 15, "more than one sentence does", func(s *scene) bool { return s.says[wallCheck] > 1 }},
	{wallCheck, 25, "title or heading say that access is denied", func(s *scene) bool { return (s.title|s.heading)&cueBlocked != 0 }},
	{wallCheck, 20, "a sentence says that access is denied", func(s *scene) bool { return s.blocked() }},
	{wallCheck, 30, "a number to quote to the administrator, beside one of the above", func(s *scene) bool {
		return s.incident && (s.says[wallCheck] > 0 || s.has(markCheck) || s.blocked() || (s.title|s.heading)&cueBlocked != 0)
	}},
	{wallCheck, 10, "the page asks to wait a moment", func(s *scene) bool {
		return s.title&cueWait != 0 || s.kinOf(cueWait) && (s.says[wallCheck] > 0 || s.headed[wallCheck] || s.has(markCheck))
	}},
	{wallCheck, -30, "over 200 letters say something else and none speak of a check; over 60 beside a field to fill in", func(s *scene) bool {
		return s.says[wallCheck] == 0 && !s.titled[wallCheck] && !s.headed[wallCheck] && !s.has(markCheck) && !s.blocked() && (s.title|s.heading)&cueBlocked == 0 &&
			(s.alien[wallCheck] > tiny || s.alien[wallCheck] > 60 && s.fields > 0)
	}},
	{wallCheck, 20, "the status is one that bot checks have", func(s *scene) bool {
		switch s.status {
		case 202, 403, 405, 406, 418, 429, 456, 503, 999:
			return true
		}
		return false
	}},
	{wallCheck, 35, "a redirect led to an address of a check", func(s *scene) bool { return s.at.redirected && s.at.toCheck && !s.at.own }},
	{wallCheck, 35, "a form goes to an address of a check, and there is nothing to fill in", func(s *scene) bool { return s.gate && s.fields+s.passwords == 0 }},
	{wallCheck, 25, "the request was accepted, and there is nothing to read but a script", func(s *scene) bool { return s.status == 202 && s.silent() && s.marks.paints > 0 }},
	{wallCheck, 30, "the title speaks of a check, and a script works on it while there is hardly anything else to read", func(s *scene) bool {
		return s.titled[wallCheck] && s.loading && s.marks.paints > 0 && s.alien[wallCheck] <= 60 && s.fields+s.passwords == 0
	}},
	{wallCheck, -40, "four sentences of over 60 letters or more say something else, and no name is of a check", func(s *scene) bool { return s.prose[wallCheck] >= 4 && !s.has(markCheck) }},
	{wallCheck, 20, "title or heading speak of a check, and all of over 60 letters fit", func(s *scene) bool {
		return (s.titled[wallCheck] || s.headed[wallCheck]) && s.alien[wallCheck] == 0 && s.kin[wallCheck] > 60
	}},
	{wallCheck, -40, "the page is documentation", (*scene).isManual},
	{wallCheck, 5, "search engines are to keep away", func(s *scene) bool { return s.robots }},
	{wallCheck, 15, "at most 200 letters say something else, of at most 600", func(s *scene) bool { return s.alien[wallCheck] <= tiny && s.loose <= short }},
	{wallCheck, -25, "over 60 letters say something else, and more than fit, but for those beside a captcha", func(s *scene) bool {
		return !s.has(markCheck) && !(s.has(markWidget) && s.fields+s.passwords+s.choices == 0 && s.loose <= 150) && s.alien[wallCheck] > 60 && s.alien[wallCheck] > s.kin[wallCheck]
	}},
	{wallCheck, -40, "over 600 letters say something else", func(s *scene) bool { return s.alien[wallCheck] > short }},
	{wallCheck, -100, "over 1200 letters say something else, or over 3000 stand in menus", func(s *scene) bool { return s.alien[wallCheck] > some || s.menu > largeMenu }},
	{wallCheck, -40, "there is a form to fill in", func(s *scene) bool { return s.fields > 1 || s.textareas > 0 || s.passwords > 0 }},
	{wallCheck, -60, "sentences speak of three kinds of such pages or more", (*scene).lists},
	{wallCheck, -60, "the title speaks about such pages, and no name is of a check", func(s *scene) bool { return s.teaches() && !s.has(markCheck) }},

	{wallConsent, 45, "a redirect led to an address of consent", func(s *scene) bool { return s.at.redirected && s.at.toConsent && !s.at.own }},
	{wallConsent, 25, "title or heading speak of consent", func(s *scene) bool { return s.titled[wallConsent] || s.headed[wallConsent] }},
	{wallConsent, 25, "a sentence asks for it", func(s *scene) bool { return s.says[wallConsent] > 0 }},
	{wallConsent, 15, "more than one sentence does", func(s *scene) bool { return s.says[wallConsent] > 1 }},
	{wallConsent, 25, "a button accepts or refuses", (*scene).canAgree},
	{wallConsent, 10, "a name of a manager of consent", func(s *scene) bool { return s.has(markManager) }},
	{wallConsent, 20, "there is nothing but a dialog that asks for it", func(s *scene) bool { return s.banner > 0 && s.beside == 0 && s.says[wallConsent] > 0 }},
	{wallConsent, 20, "nothing says something else", func(s *scene) bool { return s.alien[wallConsent] == 0 && s.says[wallConsent] > 0 }},
	{wallConsent, -60, "what it says of consent stands in a banner beside something else", func(s *scene) bool {
		return s.banner > 0 && s.beside > 0 && !(s.at.redirected && s.at.toConsent)
	}},
	{wallConsent, -40, "over 200 letters say something else; without a redirect over 60, where it is more than fit", func(s *scene) bool {
		return s.alien[wallConsent] > tiny || !s.at.redirected && s.alien[wallConsent] > 60 && s.alien[wallConsent] > s.kin[wallConsent]
	}},
	{wallConsent, -100, "over 600 letters say something else, or over 3000 stand in menus", func(s *scene) bool { return s.alien[wallConsent] > short || s.menu > largeMenu }},
	{wallConsent, -100, "there is no button that accepts or refuses, and no such redirect", func(s *scene) bool { return !s.canAgree() && !(s.at.redirected && s.at.toConsent) }},
	{wallConsent, -60, "there is a form to fill in", func(s *scene) bool { return s.fields+s.passwords > 0 && !s.at.redirected }},
	{wallConsent, -60, "the address asked for is of consent itself", func(s *scene) bool { return s.at.own && s.at.toConsent }},
	{wallConsent, -60, "the title speaks about such pages", (*scene).teaches},

	{wallLogin, 45, "a redirect led to an address of a login", func(s *scene) bool { return s.at.redirected && s.at.toLogin && !s.at.own }},
	{wallLogin, 45, "the address is of a login and names where to go on", func(s *scene) bool { return !s.at.known && s.at.toLogin && s.at.back }},
	{wallLogin, 10, "the address names where to go on", func(s *scene) bool { return s.at.redirected && s.at.toLogin && s.at.back }},
	{wallLogin, 40, "a password to type", func(s *scene) bool { return s.passwords > 0 }},
	{wallLogin, 15, "a name to type", func(s *scene) bool { return s.passwords == 0 && s.fields > 0 && s.fields <= 2 }},
	{wallLogin, 25, "a name and a password to type, a sentence to the reader that speaks of them, and at most 30 letters that say something else", func(s *scene) bool {
		return s.passwords == 1 && s.fields > 0 && s.says[wallLogin] == 0 && s.alien[wallLogin] <= 30 && s.talksOf(cueLogin|cueCredential)
	}},
	{wallLogin, 20, "the title speaks of a login", func(s *scene) bool { return s.titled[wallLogin] }},
	{wallLogin, 20, "a heading speaks of a login", func(s *scene) bool { return s.headed[wallLogin] }},
	{wallLogin, 30, "a sentence asks for it", func(s *scene) bool { return s.says[wallLogin] > 0 }},
	{wallLogin, 15, "more than one sentence does", func(s *scene) bool { return s.says[wallLogin] > 1 }},
	{wallLogin, 15, "a sentence or heading asks for it, and nothing says something else", func(s *scene) bool { return s.says[wallLogin] > 0 && s.alien[wallLogin] <= 15 }},
	{wallLogin, 20, "a sentence asks for it, and a link leads to a login", func(s *scene) bool { return s.says[wallLogin] > 0 && s.door && s.fields+s.passwords == 0 }},
	{wallLogin, 15, "the status asks for it", func(s *scene) bool { return s.status == 401 || s.status == 403 }},
	{wallLogin, 10, "at most 200 letters say something else", func(s *scene) bool { return s.alien[wallLogin] <= tiny }},
	{wallLogin, -50, "there is nothing to fill in, and over 60 letters say something else", func(s *scene) bool { return s.fields+s.passwords == 0 && s.alien[wallLogin] > 60 }},
	{wallLogin, -50, "over 600 letters say something else", func(s *scene) bool { return s.alien[wallLogin] > short }},
	{wallLogin, -100, "over 1200 letters say something else", func(s *scene) bool { return s.alien[wallLogin] > some }},
	{wallLogin, -40, "two passwords, or more to fill in than a login has", func(s *scene) bool { return s.passwords > 1 || s.fields > 4 || s.textareas > 0 }},
	{wallLogin, -40, "there is a table with headings, or four sentences of over 60 letters or more say something else", func(s *scene) bool { return s.columns > 0 || s.prose[wallLogin] >= 4 }},
	{wallLogin, -100, "the address asked for is of a login itself", func(s *scene) bool { return s.at.own && s.at.toLogin }},
	{wallLogin, -60, "sentences speak of three kinds of such pages or more", (*scene).lists},
	{wallLogin, -60, "the title speaks about such pages", (*scene).teaches},

	{wallPaywall, 45, "a sentence asks for a subscription", func(s *scene) bool { return s.says[wallPaywall] > 0 }},
	{wallPaywall, 20, "more than one sentence does", func(s *scene) bool { return s.says[wallPaywall] > 1 }},
	{wallPaywall, 15, "a sentence asks for it, and one praises it or offers a login", func(s *scene) bool { return s.says[wallPaywall] > 0 && s.kinOf(cueOffer|cueLogin) }},
	{wallPaywall, 20, "at most 120 letters say something else, and no more than fit", func(s *scene) bool { return s.alien[wallPaywall] <= 120 && s.kin[wallPaywall] >= s.alien[wallPaywall] }},
	{wallPaywall, -100, "over 240 letters say something else, or more than fit", func(s *scene) bool { return s.alien[wallPaywall] > 240 || s.alien[wallPaywall] > s.kin[wallPaywall] }},
	{wallPaywall, -60, "the title speaks about such pages", (*scene).teaches},

	{wallMissing, 35, "the title says that there is no page", func(s *scene) bool { return s.titled[wallMissing] }},
	{wallMissing, 35, "a heading says that there is no page", func(s *scene) bool { return s.headed[wallMissing] }},
	{wallMissing, 30, "a sentence or heading says what is missing", func(s *scene) bool { return s.says[wallMissing]+s.missing > 0 }},
	{wallMissing, 25, "title or heading say it, and all of over 30 letters fit", func(s *scene) bool {
		return (s.titled[wallMissing] || s.headed[wallMissing]) && s.alien[wallMissing] <= 20 && s.kin[wallMissing] > 30 && s.says[wallMissing] == 0 && s.missing == 0
	}},
	{wallMissing, 20, "a sentence says it, and at most 15 letters say something else", func(s *scene) bool { return s.says[wallMissing] > 0 && s.alien[wallMissing] <= 15 }},
	{wallMissing, 15, "a sentence says it, and there is neither title nor heading", func(s *scene) bool { return s.says[wallMissing] > 0 && s.heads == 0 && s.nameless }},
	{wallMissing, 15, "title or heading speak of an error", func(s *scene) bool { return (s.title|s.heading)&cueError != 0 }},
	{wallMissing, 45, "crawlers are told the status 404", func(s *scene) bool { return s.told404 }},
	{wallMissing, 25, "a class of such pages", func(s *scene) bool { return s.has(markMissing) }},
	{wallMissing, 35, "a redirect led to an address of such pages", func(s *scene) bool { return s.at.redirected && s.at.toMissing && !s.at.own }},
	{wallMissing, 15, "at most 200 letters say something else", func(s *scene) bool { return s.alien[wallMissing] <= tiny }},
	{wallMissing, -30, "over 600 letters say something else", func(s *scene) bool { return s.alien[wallMissing] > short }},
	{wallMissing, -100, "over 1200 letters say something else", func(s *scene) bool { return s.alien[wallMissing] > some }},
	{wallMissing, -35, "nothing says what is missing, and over 60 letters or three sentences say something else", func(s *scene) bool {
		return s.says[wallMissing]+s.missing == 0 && (s.alien[wallMissing] > 60 || s.aliens[wallMissing] > 2)
	}},
	{wallMissing, -45, "only a heading says what is missing, and over 100 letters say something else", func(s *scene) bool { return s.says[wallMissing] == 0 && s.alien[wallMissing] > 100 }},
	{wallMissing, -40, "a sentence describes such pages", func(s *scene) bool { return s.describes }},
	{wallMissing, -40, "the page is documentation", (*scene).isManual},
	{wallMissing, -60, "the page is the result of a search, and its title does not say 404", func(s *scene) bool {
		return s.noHits || s.at.search && (!s.titled[wallMissing] || s.title&cue404 == 0)
	}},
	{wallMissing, -60, "sentences speak of three kinds of such pages or more", (*scene).lists},
	{wallMissing, -60, "the title speaks about such pages", (*scene).teaches},

	{wallUpkeep, 35, "the title says that the site is down", func(s *scene) bool { return s.titled[wallUpkeep] }},
	{wallUpkeep, 35, "a heading says that the site is down", func(s *scene) bool { return s.headed[wallUpkeep] }},
	{wallUpkeep, 25, "a sentence says that the site is down", func(s *scene) bool { return s.says[wallUpkeep] > 0 }},
	{wallUpkeep, 15, "at most 120 letters say something else", func(s *scene) bool { return s.alien[wallUpkeep] <= 120 }},
	{wallUpkeep, -40, "no sentence says it, and over 30 letters say something else", func(s *scene) bool { return s.says[wallUpkeep] == 0 && s.alien[wallUpkeep] > 30 }},
	{wallUpkeep, -100, "over 240 letters say something else", func(s *scene) bool { return s.alien[wallUpkeep] > 240 }},
	{wallUpkeep, -60, "the title speaks about such pages", (*scene).teaches},

	{wallShell, 40, "there is no text but what goes with a shell", func(s *scene) bool { return s.silent() }},
	{wallShell, 5, "at most 40 letters say something else", func(s *scene) bool { return !s.silent() && s.alien[wallShell] <= 40 }},
	{wallShell, 35, "an element that scripts fill is empty", func(s *scene) bool { return s.known }},
	{wallShell, 20, "else an element with an id is empty, and there is no text", func(s *scene) bool { return !s.known && s.empty && s.silent() }},
	{wallShell, 20, "there are scripts that do more than count", func(s *scene) bool { return s.marks.paints > 0 }},
	{wallShell, 15, "one is a module, or called as those that build pages are", func(s *scene) bool { return s.module || s.marks.bundles > 0 }},
	{wallShell, 20, "the body has nothing but scripts", func(s *scene) bool {
		return s.parts <= 2 && s.pictures+s.frames == 0 && s.silent() && s.marks.paints > 0
	}},
	{wallShell, 25, "a script leads to another address, and there is no text", func(s *scene) bool { return s.marks.leads && s.silent() }},
	{wallShell, 30, "noscript asks for JavaScript", func(s *scene) bool { return s.asksAside }},
	{wallShell, 15, "the page asks for JavaScript", func(s *scene) bool { return s.asksScripts }},
	{wallShell, 25, "it does, and says nothing else", func(s *scene) bool { return s.asksScripts && s.silent() }},
	{wallShell, 25, "the page says that something is loading", func(s *scene) bool { return s.loading }},
	{wallShell, 15, "a class of what shows that something is loading, and there is no text", func(s *scene) bool { return s.has(markLoading) && s.silent() }},
	{wallShell, -30, "there are pictures or frames, and nothing that waits for scripts", func(s *scene) bool { return s.pictures+s.frames > 0 && !s.known && !s.asksAside }},
	{wallShell, -40, "there is text in drawings", func(s *scene) bool { return s.captions > 0 }},
	{wallShell, -40, "there is a form to fill in", func(s *scene) bool { return s.fields+s.passwords > 0 }},
	{wallShell, -25, "over 12 letters say something else", func(s *scene) bool { return s.alien[wallShell] > 12 }},
	{wallShell, -40, "over 40 letters say something else", func(s *scene) bool { return s.alien[wallShell] > 40 }},
	{wallShell, -100, "over 200 letters say something else, over 600 are in links, or over 3000 in menus", func(s *scene) bool { return s.alien[wallShell] > tiny || s.whole > short || s.menu > largeMenu }},
	{wallShell, -60, "the title speaks about such pages, and there is text", func(s *scene) bool { return s.teaches() && !s.silent() }},
}

// isManual says that a page is of a documentation or encyclopedia.
func (s *scene) isManual() bool { return s.code > 0 || s.title&cueManual != 0 }

func (s *scene) has(k markKind) bool { return s.marks.kinds[k] > 0 }

// teaches says that title or heading are of a page about such pages.
func (s *scene) teaches() bool { return (s.title|s.heading)&cueTeach != 0 }

// silent says that there is no text but what goes with a shell, in links or
// outside.
func (s *scene) silent() bool { return s.alien[wallShell] == 0 && s.whole-s.kin[wallShell] <= 8 }

// lists says that a page speaks of walls of all kinds, as no wall does: a list of
// messages, a log of changes.
func (s *scene) lists() bool {
	kinds := 0
	for _, said := range [...]bool{s.says[wallCheck] > 0 || s.blocked(), s.says[wallLogin] > 0, s.says[wallMissing]+s.missing > 0, s.says[wallUpkeep] > 0} {
		if said {
			kinds++
		}
	}
	return kinds >= 3
}

// canAgree says that a button accepts or refuses, or goes on where there is
// a manager of consent.
func (s *scene) canAgree() bool {
	return s.label&cueAgree != 0 || s.label&cueGoOn != 0 && s.has(markManager)
}

// talksOf says whether a sentence has a cue and speaks to its reader.
func (s *scene) talksOf(c cue) bool {
	for i := range s.list {
		if s.list[i].cues&c != 0 && s.list[i].cues&cuePerson != 0 {
			return true
		}
	}
	return false
}

func (s *scene) blocked() bool { return s.kinOf(cueBlocked) }

// kinOf says whether a sentence has a cue.
func (s *scene) kinOf(c cue) bool {
	for i := range s.list {
		if s.list[i].in&inHeading == 0 && s.list[i].cues&c != 0 {
			return true
		}
	}
	return false
}

// speaksOf gives the walls of which a sentence speaks.
func speaksOf(c cue, size int) (is [wallCount]bool) {
	is[wallCheck] = c&cueBot != 0 || c&cueRate != 0 && (c&(cuePerson|cueIncident|cueWait|cueAdvice) != 0 || size <= 40) ||
		(c&(cueCheck|cueChecking) != 0 && c&cueHuman != 0 || c&cueChecking != 0 && c&cueMachine != 0 || c&cueWork != 0 && c&cueMachine != 0 && c&cuePerson != 0 || c&cueTask != 0 && c&cueDo != 0 && c&(cuePerson|cueGoOn) != 0) && size <= 160
	is[wallConsent] = (c&cueCookies != 0 && c&(cueAgree|cuePrivacy|cueAds|cueGoOn|cuePerson) != 0 || c&cuePrivacy != 0 && c&cueAgree != 0) && (c&(cuePerson|cueGoOn) != 0 || size <= 40)
	is[wallLogin] = c&cueMustLogin != 0 || (c&cueMust != 0 && c&cueLogin != 0 && c&(cuePerson|cueThing|cueGoOn) != 0 || c&cueMember != 0 && c&cueOnly != 0 && c&cueThing != 0) && size <= 160
	is[wallPaywall] = c&cuePaywall != 0
	is[wallMissing] = c&cueThing != 0 && (c&(cueNotFound|cueGone) != 0 && size <= 200 || c&cueNoMore != 0 && size <= 80) && c&(cueDescribes|cueNoHits) == 0
	is[wallUpkeep] = c&cueUpkeep != 0 && c&(cuePerson|cueSite|cueThing) != 0 && size <= 200
	is[wallShell] = c&cueScripts != 0 && c&cueTurnOn != 0
	return is
}

// fits gives the walls on which a sentence would not surprise.
func fits(c cue, size int) (is [wallCount]bool) {
	is = speaksOf(c, size)
	is[wallCheck] = is[wallCheck] || c&(cueBlocked|cueIncident|cueWait|cueAdvice|cueHuman|cueMachine|cueWork) != 0 || c&cueGoOn != 0 && size <= 120 || c&(cueScripts|cueCookies) != 0 && c&cueTurnOn != 0
	is[wallConsent] = is[wallConsent] || c&(cueCookies|cueAgree|cuePrivacy|cueGoOn) != 0 && size <= 60 || c&(cueAds|cuePaywall|cueOffer|cueLogin) != 0 && size <= 120
	is[wallLogin] = is[wallLogin] || c&(cueLogin|cueCredential) != 0
	is[wallPaywall] = is[wallPaywall] || c&(cueLogin|cueCredential) != 0 || c&cueOffer != 0 && size <= 120
	is[wallMissing] = is[wallMissing] || c&(cueThing|cueAdvice|cuePerson) != 0 && c&(cueNotFound|cueGone|cue404|cueError) != 0 || c&cueAdvice != 0 || c&(cueNotFound|cueGone|cue404|cueError) != 0 && size <= longSentence
	is[wallUpkeep] = is[wallUpkeep] || c&(cueAdvice|cueError|cueWait) != 0
	is[wallShell] = is[wallShell] || c&cueError != 0 && size <= 60 || c&cueMachine != 0 && c&cueTurnOn != 0 && size <= 120
	return is
}

// longHeading is more than a title: a heading that is the message itself.
const longHeading = 40

// longestTitle is how long a title or heading is at most that says no more than
// that there is no page, in letters.
const longestTitle = 90

// titleSays gives the walls of which a title or a heading speaks: more is asked
// of it than of a sentence.
func titleSays(folded []byte, size int) (is [wallCount]bool) {
	const (
		missing = cueThing | cueNotFound | cueGone | cue404 | cueError | cueAdvice | cuePerson
		upkeep  = cueUpkeep | cueSite | cueThing | cueError | cueAdvice | cuePerson
	)
	c, covered := cuesOf(folded, missing)
	if c&cueTeach != 0 || size > longestTitle {
		return is
	}
	is = speaksOf(c, size)
	if c&cueGuard != 0 {
		_, guarding := cuesOf(folded, cueGuard|cueAdvice|cueWait|cueMust|cueMachine|cueChecking|cuePerson)
		is[wallCheck] = is[wallCheck] || 5*guarding >= 4*len(folded)
	}
	is[wallConsent] = is[wallConsent] || c&(cueAgree|cueGoOn) != 0 || c&cuePrivacy != 0 && (c&cuePerson != 0 || size <= 24) || c&cueCookies != 0 && size <= 24
	is[wallLogin] = is[wallLogin] || c&cueLogin != 0 && size <= 50
	// What it says of the page is most of what it says.
	most := 2*covered >= len(folded)
	is[wallMissing] = is[wallMissing] && most || c&cueNotFound != 0 && size <= 24 && most || c&cue404 != 0 && (size == len("404") || c&(cueThing|cueNotFound|cueError) != 0 && most)
	is[wallMissing] = is[wallMissing] && c&cueWhen == 0
	if is[wallUpkeep] || c&cueUpkeep != 0 {
		_, covered = cuesOf(folded, upkeep)
		is[wallUpkeep] = 3*covered >= 2*len(folded)
	}
	return is
}

// maxJudged is how much text a page shows at most, menus included, to be looked
// at more closely, in characters.
const maxJudged = 60_000

// newScene puts together what is known of a page; nil when it says so much
// that it is a page.
func newScene(seen *sight, meta *metadata, page *normalize.Result, in Input) *scene {
	if page.VisibleChars > maxJudged {
		return nil
	}
	s := &scene{sight: seen, remarks: listen(page.Body), at: locate(in.Asked, in.URL), status: in.Status}
	if s.over {
		return nil
	}
	said := len(s.list)
	for _, raw := range seen.noscript {
		s.aside(raw, said+maxAside)
	}
	s.readTitle(meta.title)
	s.nameless = strings.TrimSpace(meta.title) == ""
	for _, v := range meta.meta["prerender-status-code"] {
		s.told404 = s.told404 || v == "404" || v == "410"
	}
	for _, v := range meta.meta["refresh"] {
		seen.note(v)
	}
	s.marks = seen.read()
	for _, v := range meta.meta["robots"] {
		s.robots = s.robots || strings.Contains(strings.ToLower(v), "noindex")
	}
	for _, b := range seen.buttons {
		s.f.reset()
		s.f.write(b)
		s.label |= cuesIn(s.f.b)
	}
	s.weigh(said)
	return s
}

// readTitle reads the title, as a whole and by the parts that signs divide.
func (s *scene) readTitle(title string) {
	title = title[:min(len(title), 1024)]
	part := func(t string) {
		s.f.reset()
		s.f.write(unquoted(t))
		if s.f.size == 0 {
			return
		}
		s.title |= cuesIn(s.f.b)
		for w, is := range titleSays(s.f.b, s.f.size) {
			s.titled[w] = s.titled[w] || is
		}
	}
	from := 0
	for i, r := range title {
		switch r {
		case '|', '–', '—', '·', '»', '«', '•':
		case '-':
			if i == 0 || title[i-1] != ' ' {
				continue // inside of a word
			}
		default:
			continue
		}
		part(title[from:i])
		from = i + utf8.RuneLen(r)
	}
	part(title[from:])
	for w := range s.titled {
		s.titled[w] = s.titled[w] && s.title&cueTeach == 0
	}
}

// unquoted takes what a title cites out of it, as quotes does of a sentence. A
// title that is nothing but a quotation stays.
func unquoted(t string) string {
	for _, signs := range [...]string{`""`, "“”", "„“", "„”", "«»", "「」", "『』"} {
		first, size := utf8.DecodeRuneInString(signs)
		last, _ := utf8.DecodeLastRuneInString(signs)
		from := strings.IndexRune(t, first)
		if from < 0 {
			continue
		}
		n := strings.IndexRune(t[from+size:], last)
		if n < 0 {
			continue
		}
		to := from + size + n + utf8.RuneLen(last)
		if rest := t[:from] + " " + t[to:]; strings.TrimSpace(rest) != "" {
			return rest
		}
	}
	return t
}

// weigh adds up what is said of each wall, and what of anything else. The
// remarks behind the first said ones are of noscript elements.
func (s *scene) weigh(said int) {
	for i := range s.list[:said] {
		m := &s.list[i]
		s.asksScripts = s.asksScripts || speaksOf(m.cues, m.whole)[wallShell]
	}
	for i := range s.list {
		m := &s.list[i]
		is := speaksOf(m.cues, m.whole)
		s.incident = s.incident || m.cues&cueIncident != 0
		if i >= said {
			s.asksAside = s.asksAside || m.cues&cueScripts != 0
			if is[wallCheck] {
				s.says[wallCheck]++
			}
			continue
		}
		heading := m.in&inHeading != 0
		if m.size > 0 && !heading {
			s.sentences++
		}
		if heading || m.in&asLead != 0 {
			for w, is := range m.is {
				s.headed[w] = s.headed[w] || is
			}
		}
		if heading && is[wallMissing] {
			s.missing++
		}
		if heading && is[wallCheck] && m.whole > longHeading {
			s.says[wallCheck]++
		}
		if !heading {
			for w := range is {
				if is[w] {
					s.says[w]++
				}
			}
		}
		s.loading = s.loading || m.loads && m.whole <= 60
		s.describes = s.describes || m.cues&cueDescribes != 0
		s.noHits = s.noHits || m.cues&cueNoHits != 0
		switch {
		case m.in&inDialog == 0 && !(s.framed && m.in&inContent == 0):
			s.beside += m.size
		case is[wallConsent]:
			s.banner += m.size
		}
		quoted := s.fromNoscript(m, said)
		for w, ok := range fits(m.cues, m.whole) {
			switch {
			case ok || quoted, wall(w) == wallPaywall && m.in&isHeadline != 0, wall(w) == wallShell && (m.loads || s.asksScripts && m.cues&(cueTurnOn|cueAdvice) != 0 && m.whole <= 60):
				s.kin[w] += m.whole
			default:
				s.alien[w] += m.size
				s.aliens[w]++
				if m.size > longSentence && m.in&inHeading == 0 {
					s.prose[w]++
				}
			}
		}
	}
}

// fromNoscript says whether a remark of the page stands in a noscript element
// that asks for JavaScript.
func (s *scene) fromNoscript(m *remark, said int) bool {
	for i := said; i < len(s.list); i++ {
		n := &s.list[i]
		if n.cues == m.cues && n.whole == m.whole && n.cues&cueScripts != 0 {
			return true
		}
	}
	return false
}

// A verdict is what a page is taken for.
type verdict struct {
	code    sift.WarningCode
	message string
	hint    sift.Hint
}

// judge gives the verdict on a page.
func (s *scene) judge() (v verdict, ok bool) {
	points := s.points()
	best := wallCount
	for w, n := range points {
		// What is a shell and something else is the something else.
		if n >= enough && (best == wallCount || n > points[best] && wall(w) != wallShell) {
			best = wall(w)
		}
	}
	switch best {
	case wallCheck:
		by := ""
		if s.marks.maker != "" {
			by = " (" + s.marks.maker + ")"
		}
		v = verdict{sift.WarnChallenge, "this is a bot check (captcha or block page)" + by + ", not the page: the site answers automated readers with a challenge", sift.HintBrowser}
		if s.kinOf(cueRate) && !s.kinOf(cueBot) && !s.has(markCheck) && !s.has(markCaptcha) && !s.has(markWidget) {
			v = verdict{sift.WarnChallenge, "this is not the page: the site says that it gets too many requests", sift.HintRetry}
		}
	case wallConsent:
		v = verdict{sift.WarnConsent, "this is a consent wall, not the page: the site shows it only after cookies are accepted or refused", sift.HintBrowser}
	case wallLogin:
		v = verdict{sift.WarnLogin, "this is a login page, not the page: the site wants its readers to sign in", sift.HintAuth}
		if s.at.redirected {
			v.message = "the address asked for led to a login page: the site wants its readers to sign in"
		}
	case wallPaywall:
		v = verdict{sift.WarnLogin, "this is a paywall with nothing of the article: the site wants its readers to subscribe or sign in (login)", sift.HintAuth}
	case wallMissing:
		v = verdict{sift.WarnSoft404, "this page only says that what was asked for was not found (404), though the server reported success", sift.HintRecover}
	case wallUpkeep:
		v = verdict{sift.WarnSoft404, "this page only says that the site is down or in maintenance, though the server reported success", sift.HintRetry}
	case wallShell:
		v = verdict{sift.WarnJSShell, "this page is an empty shell that JavaScript would fill; it needs a browser, unless recover finds its text elsewhere", sift.HintBrowser}
		if s.data {
			v.message = "this page is an empty shell that JavaScript would fill; recover may find its text in the data that it carries"
			v.hint = sift.HintRecover
		}
	default:
		return verdict{}, false
	}
	return v, true
}

// points adds the clues up.
func (s *scene) points() (points [wallCount]int) {
	for i := range clues {
		if c := &clues[i]; c.seen(s) {
			points[c.wall] += c.points
		}
	}
	return points
}

// suspect says of a document whether it is a page that stands in the place of
// the one that was asked for.
func suspect(doc *sift.Document, seen *sight, meta *metadata, page *normalize.Result, in Input) {
	s := newScene(seen, meta, page, in)
	if s == nil {
		return
	}
	v, ok := s.judge()
	switch {
	case in.Partial && (!ok || v.code == sift.WarnJSShell):
		return // what is not there may have been cut off
	case !ok:
		if s.isEmpty(page) {
			empty(doc)
		}
		return
	}
	warn(doc, v.code, v.message)
	if doc.Hint == "" {
		doc.Hint = v.hint
	}
}

// isEmpty says that there is nothing in a page for anybody to see, or for a
// script to show.
func (s *scene) isEmpty(page *normalize.Result) bool {
	return page.VisibleChars+page.HiddenText+page.Assistive == 0 && s.marks.paints == 0 && len(s.buttons) == 0 &&
		s.pictures+s.drawings+s.frames+s.fields+s.passwords == 0
}

// wallBytes is how much of the body of an error is judged.
const wallBytes = 64 << 10

// Wall says what stands in the body of an error answer: a bot check, a consent
// wall or a login page, told as Extract tells them. Of a longer body the first
// 64 KiB are looked at. ok is false where it is none of these, or no page.
func Wall(in Input) (code sift.WarningCode, message string, hint sift.Hint, ok bool) {
	if len(in.Body) == 0 {
		return "", "", "", false
	}
	if len(in.Body) > wallBytes {
		in.Body, in.Partial = in.Body[:wallBytes], true
	}
	ctx := context.Background() // what is done is bounded
	b, err := open(ctx, in)
	if err != nil || b.kind != sift.KindHTML {
		return "", "", "", false
	}
	s := sceneOf(ctx, b.text, in)
	if s == nil {
		return "", "", "", false
	}
	v, ok := s.judge()
	switch v.code {
	case sift.WarnChallenge, sift.WarnConsent, sift.WarnLogin:
		return v.code, v.message, v.hint, ok
	default:
		return "", "", "", false
	}
}

// sceneOf reads a page for its verdict alone.
func sceneOf(ctx context.Context, text []byte, in Input) *scene {
	root, _, err := parse(ctx, text)
	if err != nil {
		return nil
	}
	seen, meta := observe(root), collect(root)
	base, _ := url.Parse(in.URL)
	page := normalize.Page(root, base)
	return newScene(seen, meta, &page, in)
}
