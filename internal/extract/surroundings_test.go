package extract

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"sift.build/sift/internal/cputime"
	"sift.build/sift/internal/sift"
)

const here = "https://www.shop.example/lamps/desk?ref=1"

func around(t *testing.T, page, links string) *sift.Context {
	t.Helper()
	c, err := Context(context.Background(), Input{Body: []byte(page), URL: here, ContentType: "text/html; charset=utf-8"}, links)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestAPageTellsWhereItSits(t *testing.T) {
	got := around(t, `<!doctype html><html lang=en><head><title>Desk lamps - Shop</title>
<link rel="canonical" href="/lamps/desk"><link rel="alternate" type="application/rss+xml" title="New lamps" href="/feed.xml">
<link rel="alternate" hreflang="de-at" href="https://www.shop.example/de/lampen"><link rel="alternate" hreflang="x-default" href="/lamps/desk">
<link rel="next" href="?page=2"><link rel="license" href="https://creativecommons.org/licenses/by/4.0/">
<meta name="author" content="Ann Weir"><meta name="citation_author" content="Lock, Sam"><meta name="dc.creator" content="Sam Lock">
<meta property="article:published_time" content="2024-05-01T07:00:00+01:00"><meta property="article:modified_time" content="2024-06-01">
<script type="application/ld+json">{"@type":"BreadcrumbList","itemListElement":[{"@type":"ListItem","position":2,"name":"Desk lamps"},{"@type":"ListItem","position":1,"name":"Lamps","item":"https://www.shop.example/lamps"}]}</script>
</head><body><nav><a href="/">Home</a> <a href="/lamps#top">Lamps</a></nav><p>See <a href="https://other.example/a">A</a>, <a href="https://other.example/b">B</a>, <a href="https://other.example/a#x">A again</a>.</p></body></html>`, "")
	want := &sift.Context{
		Canonical:    "https://www.shop.example/lamps/desk",
		Breadcrumbs:  []sift.Link{{Text: "Lamps", URL: "https://www.shop.example/lamps"}, {Text: "Desk lamps"}},
		Authors:      []string{"Lock, Sam", "Ann Weir"},
		Published:    "2024-05-01T07:00:00+01:00",
		Modified:     "2024-06-01",
		Licence:      "https://creativecommons.org/licenses/by/4.0/",
		Feeds:        []sift.Feed{{Title: "New lamps", URL: "https://www.shop.example/feed.xml", Type: "application/rss+xml"}},
		Translations: []sift.Translation{{Language: "de-AT", URL: "https://www.shop.example/de/lampen"}, {Language: "x-default", URL: "https://www.shop.example/lamps/desk"}},
		Next:         "https://www.shop.example/lamps/desk?page=2",
		Outline:      []sift.Heading{}, Cut: []string{},
		Outbound: []sift.Outbound{
			{Host: "www.shop.example", Count: 2, Links: []sift.Link{{Text: "Home", URL: "https://www.shop.example/"}, {Text: "Lamps", URL: "https://www.shop.example/lamps#top"}}},
			{Host: "other.example", Count: 2, Links: []sift.Link{{Text: "A", URL: "https://other.example/a"}, {Text: "B", URL: "https://other.example/b"}}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestWhatIsNoPageHasEmptyLists(t *testing.T) {
	want := `{"canonical":"","breadcrumbs":[],"authors":[],"published":"","modified":"","licence":"","feeds":[],"translations":[],"previous":"","next":"","outline":[],"outbound":[],"cut":[]}`
	for name, in := range map[string]Input{
		"nothing":     {URL: "https://a.example/"},
		"JSON":        {URL: "https://a.example/", Body: []byte(`{"a":1}`), ContentType: "application/json"},
		"PDF":         {URL: "https://a.example/", Body: []byte("%PDF-1.7\n"), ContentType: "application/pdf"},
		"image":       {URL: "https://a.example/", Body: []byte("\x89PNG\r\n\x1a\n\x00\x00"), ContentType: "image/png"},
		"page":        {URL: "https://a.example/", Body: []byte("<p>x"), ContentType: "text/html"},
		"no address":  {Body: []byte("<p><a href=/x>x</a><link rel=canonical href=/y>"), ContentType: "text/html"},
		"bad address": {URL: "https://a b:c/%", Body: []byte("<p><a href=/x>x</a>"), ContentType: "text/html"},
	} {
		c, err := Context(context.Background(), in, "")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestTheLinkHeaderSpeaksForAnyKind(t *testing.T) {
	const links = `<https://www.shop.example/data>; rel="canonical", </data?page=2>; rel=next, <data?page=0>; rel="start prev"; title="x, y; z", ` +
		`</de.json>; rel="alternate"; hreflang=de, </feed>; rel=alternate; type="application/atom+xml"; title*=UTF-8'en'Caf%C3%A9, ` +
		`<https://creativecommons.org/publicdomain/zero/1.0/>; rel="license", </other>; rel=canonical; anchor="/elsewhere"`
	c, err := Context(context.Background(), Input{URL: here, Body: []byte(`{"a":1}`), ContentType: "application/json"}, links)
	if err != nil {
		t.Fatal(err)
	}
	want := &sift.Context{
		Canonical: "https://www.shop.example/data", Next: "https://www.shop.example/data?page=2", Previous: "https://www.shop.example/lamps/data?page=0",
		Licence:      "https://creativecommons.org/publicdomain/zero/1.0/",
		Feeds:        []sift.Feed{{Title: "Café", URL: "https://www.shop.example/feed", Type: "application/atom+xml"}},
		Translations: []sift.Translation{{Language: "de", URL: "https://www.shop.example/de.json"}},
		Breadcrumbs:  []sift.Link{}, Authors: []string{}, Outline: []sift.Heading{}, Outbound: []sift.Outbound{}, Cut: []string{},
	}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Error(diff)
	}
	// A page's own word goes first, and its <base> is not the header's.
	c = around(t, `<base href="https://cdn.example/"><link rel=canonical href="/own">`, `</header>; rel=canonical, </n>; rel=next`)
	if c.Canonical != "https://cdn.example/own" || c.Next != "https://www.shop.example/n" {
		t.Errorf("%q, %q", c.Canonical, c.Next)
	}
}

func TestTheLinkHeaderIsReadAsItsGrammarSays(t *testing.T) {
	type link struct{ Target, Rel, Title string }
	for header, want := range map[string][]link{
		``:                            nil,
		`<a>;rel=x`:                   {{"a", "x", ""}},
		` <a> ; rel = "x y" `:         {{"a", "x y", ""}},
		`<a>; rel=x; rel=y`:           {{"a", "x", ""}},
		`<a>; REL=x`:                  {{"a", "x", ""}},
		`<a,b>; rel=x`:                {{"a,b", "x", ""}},
		`<a>; title="q\"<b>,"; rel=x`: {{"a", "x", `q"<b>,`}},
		`<a>; rel=x,<b>; rel=y`:       {{"a", "x", ""}, {"b", "y", ""}},
		`<a>, <b>; rel=y`:             {{"a", "", ""}, {"b", "y", ""}},
		`<a`:                          nil,
		`<a>; rel="x`:                 {{"a", "x", ""}},
		`<a>;;; rel=x; flag; =; x=`:   {{"a", "x", ""}},
		`junk <a>; rel=x`:             {{"a", "x", ""}},
		`<a>; title*=UTF-8''%e2%82%ac; title=e; rel=x`:   {{"a", "x", "€"}},
		`<a>; title=e; title*=UTF-8''%e2%82%ac; rel=x`:   {{"a", "x", "€"}},
		`<a>; title*=latin1''%e2; title=e; rel=x`:        {{"a", "x", "e"}},
		strings.Repeat(`<a>; rel=x, `, maxHeaderLinks+5): nil,
	} {
		got := parseLinkHeader(header)
		if len(header) > 1000 {
			if len(got) != maxHeaderLinks {
				t.Errorf("%d links", len(got))
			}
			continue
		}
		var links []link
		for _, l := range got {
			links = append(links, link{l.target, l.params["rel"], l.params["title"]})
		}
		if diff := cmp.Diff(want, links); diff != "" {
			t.Errorf("%s: %s", header, diff)
		}
	}
}

func TestTheCanonicalAddressIsAWebAddress(t *testing.T) {
	for page, want := range map[string]string{
		`<link rel=canonical href="/a b">`:                                          "https://www.shop.example/a%20b",
		`<link rel="x Canonical" href="//other.example/é">`:                         "https://other.example/%C3%A9",
		`<link rel=canonical href="javascript:x"><meta property=og:url content=/o>`: "https://www.shop.example/o",
		`<link rel=canonical href=""><meta property="og:url" content="/o">`:         "https://www.shop.example/o",
		`<meta property=og:url content="mailto:a@b.example">`:                       "",
		`<link rel=canonical href="http://localhost:3000/x">`:                       "",
		`<link rel=canonical href="http://10.0.0.1/x">`:                             "",
		`<body><a rel=canonical href=/a>x</a>`:                                      "",
		`<link rel=canonical href=/1><link rel=canonical href=/2>`:                  "https://www.shop.example/1",
		`<base href="/deep/"><link rel=canonical href=x>`:                           "https://www.shop.example/deep/x",
	} {
		if c := around(t, page, ""); c.Canonical != want {
			t.Errorf("%s: %q, want %q", page, c.Canonical, want)
		}
	}
}

func TestBreadcrumbsAreFoundHoweverTheyAreMarked(t *testing.T) {
	want := []sift.Link{{Text: "Home", URL: "https://www.shop.example/"}, {Text: "Lamps", URL: "https://www.shop.example/lamps"}, {Text: "Desk"}}
	for name, page := range map[string]string{
		"JSON-LD": `<script type="application/ld+json">{"@graph":[{"@type":"WebPage","breadcrumb":{"@id":"#b"}},{"@type":"BreadcrumbList","@id":"#b","itemListElement":[
{"@type":"ListItem","position":3,"item":{"name":"Desk"}},{"@type":"ListItem","position":1,"item":{"@id":"/","name":"Home"}},{"@type":"ListItem","position":"2","name":"Lamps","item":"/lamps"}]}]}</script>`,
		"JSON-LD inside a page": `<script type="application/ld+json">{"@type":"WebPage","breadcrumb":{"@type":"BreadcrumbList","itemListElement":[
{"position":1,"item":{"@id":"/","name":"Home"}},{"position":2,"name":"Lamps","item":"/lamps"},{"position":3,"name":"Desk"}]}}</script>`,
		"microdata": `<ol itemscope itemtype="https://schema.org/BreadcrumbList"><li itemprop="itemListElement" itemscope itemtype="https://schema.org/ListItem"><a itemprop="item" href="/"><span itemprop="name">Home</span></a><meta itemprop="position" content="1"></li>
<li itemprop="itemListElement" itemscope><a itemprop="item" href="/lamps"><span itemprop="name">Lamps</span></a><meta itemprop="position" content="2"></li><li itemprop="itemListElement"><span itemprop="name">Desk</span></li></ol>`,
		"older microdata": `<div><span itemscope itemtype="http://data-vocabulary.org/Breadcrumb"><a href="/" itemprop="url"><span itemprop="title">Home</span></a></span> › <span itemscope itemtype="http://data-vocabulary.org/Breadcrumb"><a href="/lamps" itemprop="url"><span itemprop="title">Lamps</span></a></span>
<span itemscope itemtype="http://data-vocabulary.org/Breadcrumb"><span itemprop="title">Desk</span></span></div>`,
		"RDFa": `<ol vocab="https://schema.org/" typeof="BreadcrumbList"><li property="itemListElement" typeof="ListItem"><a property="item" typeof="WebPage" href="/"><span property="name">Home</span></a><meta property="position" content="1"></li>
<li property="itemListElement" typeof="ListItem"><a property="item" href="/lamps"><span property="name">Lamps</span></a></li><li property="itemListElement"><span property="name">Desk</span></li></ol>`,
		"a labelled nav": `<nav aria-label="Breadcrumb"><ol><li><a href="/">Home</a></li><li><a href="/lamps">Lamps</a></li><li><span aria-current="page">Desk</span></li></ol></nav>`,
		"in German":      `<nav aria-label="Brotkrumen"><a href="/">Home</a> » <a href="/lamps">Lamps</a> » Desk</nav>`,
		"in French":      `<div aria-label="Fil d'Ariane"><a href="/">Home</a> / <a href="/lamps">Lamps</a> / <b>Desk</b></div>`,
		"a class":        `<div class="site-breadcrumbs"><a href="/">Home</a> &gt; <a href="/lamps">Lamps</a> &gt; Desk</div>`,
		"a role":         `<ul role="doc-breadcrumb"><li><a href="/">Home</a></li><li><a href="/lamps">Lamps</a></li><li>Desk</li></ul>`,
		"a heading word": `<div id="breadcrumb"><span>You are here:</span> <a href="/">Home</a> <i>/</i> <a href="/lamps">Lamps</a> <i>/</i> <span>Desk</span></div>`,
	} {
		if diff := cmp.Diff(want, around(t, page, "").Breadcrumbs); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	for name, page := range map[string]string{
		"a menu":        `<nav><a href="/">Home</a> <a href="/lamps">Lamps</a></nav>`,
		"no links":      `<div class="breadcrumb">Desk</div>`,
		"a whole menu":  `<nav class="breadcrumb-menu">` + strings.Repeat(`<a href="/a">A</a><p>`, 30) + `</nav>`,
		"no breadcrumb": `<p class="bread">and butter <a href=/a>A</a>`,
	} {
		if got := around(t, page, "").Breadcrumbs; len(got) != 0 && name != "a whole menu" || len(got) > maxCrumbs {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestEverybodyWhoWroteIsNamedOnce(t *testing.T) {
	for page, want := range map[string][]string{
		`<script type="application/ld+json">{"@type":"Article","author":[{"name":"Ann Weir"},{"name":"Sam Lock"}],"creator":"ann weir"}</script><meta name=author content="Ann Weir and Sam Lock">`: {"Ann Weir", "Sam Lock"},
		`<meta name=citation_author content="Weir, Ann"><meta name=citation_author content="Lock, Sam"><meta name=dc.creator content="Ann Weir">`:                                                   {"Weir, Ann", "Lock, Sam"},
		`<a rel=author href=/ann>Ann Weir</a> <span class=byline>By Somebody Else</span>`:                                                                                                           {"Ann Weir"},
		`<span class=byline>By Ann Weir</span>`:                         {"Ann Weir"},
		`<meta name=author content=admin><meta name=author content="">`: {},
		`<p>` + strings.Repeat(`<a rel=author>A Name</a>`, 50):          {"A Name"},
	} {
		if diff := cmp.Diff(want, around(t, page, "").Authors); diff != "" {
			t.Errorf("%s: %s", page, diff)
		}
	}
}

func TestThePageSaysWhenItWasChanged(t *testing.T) {
	for page, want := range map[string]string{
		`<script type="application/ld+json">{"@type":"Article","dateModified":"2024-06-02T10:00:00Z"}</script><meta property=article:modified_time content=2020-01-01>`: "2024-06-02T10:00:00Z",
		`<meta property=og:updated_time content="2024-06-01T10:00:00+02:00">`:                                                                                           "2024-06-01T10:00:00+02:00",
		`<time class="entry-date updated" datetime="2024-06-01">x</time>`:                                                                                               "2024-06-01",
		`<time itemprop="dateModified" datetime="2024-06-01">x</time>`:                                                                                                  "2024-06-01",
		`<meta name=dcterms.modified content="1 June 2024">`:                                                                                                            "2024-06-01",
		`<meta name=revised content="some day">`:                                                                                                                        "",
		`<p>x`:                                                                                                                                                          "",
	} {
		if got := around(t, page, "").Modified; got != want {
			t.Errorf("%s: %q, want %q", page, got, want)
		}
	}
}

func TestTheLicenceIsAURLWhereThereIsOne(t *testing.T) {
	const by = "https://creativecommons.org/licenses/by/4.0/"
	for page, want := range map[string]string{
		`<p>x <a rel="license" href="` + by + `">CC BY</a>`:                                                                                    by,
		`<a rel=license href=/photo>x</a><link rel=license href="` + by + `">`:                                                                 by,
		`<script type="application/ld+json">{"@type":"Dataset","license":{"@type":"CreativeWork","name":"CC BY","url":"` + by + `"}}</script>`: by,
		`<script type="application/ld+json">{"@type":"Article","license":"` + by + `"}</script>`:                                               by,
		`<meta name="dc.rights" content="All rights reserved"><meta name="dcterms.license" content="` + by + `">`:                              by,
		`<meta name="dc.rights" content="CC BY 4.0">`:                                                                                          "CC BY 4.0",
		`<a rel="cc:license" href="` + by + `">x</a>`:                                                                                          by,
		`<p>x`: "",
	} {
		if got := around(t, page, "").Licence; got != want {
			t.Errorf("%s: %q, want %q", page, got, want)
		}
	}
}

func TestFeedsAndTranslationsAreListedOnce(t *testing.T) {
	c := around(t, `<link rel=alternate type="application/rss+xml" href=/rss title=" A
 feed "><link rel=alternate type="application/rss+xml" href=/rss><link rel="alternate feed" type="application/atom+xml; charset=utf-8" href=/atom>
<link rel=alternate type="application/feed+json" href=/json><link rel=alternate type="application/json+oembed" href=/o><link rel=alternate type="application/json" href=/wp-json/1>
<link rel="alternate stylesheet" type="text/css" href=/a.css><link rel=alternate type="application/rss+xml" href="javascript:x"><a rel=alternate type="application/rss+xml" href=/in-page>x</a>
<link rel=alternate media=handheld href=/m><link rel=alternate hreflang=en_US href=/us><link rel=alternate hreflang=en-uk href=/uk><link rel=alternate hreflang="not a tag" href=/x><link rel=alternate hreflang=zh-hant-tw href=/tw>
<link rel=alternate hreflang=fr href=/fr><link rel=alternate hreflang=fr href=/fr>`, "")
	feeds := []sift.Feed{
		{Title: "A feed", URL: "https://www.shop.example/rss", Type: "application/rss+xml"}, {URL: "https://www.shop.example/atom", Type: "application/atom+xml"},
		{URL: "https://www.shop.example/json", Type: "application/feed+json"},
	}
	if diff := cmp.Diff(feeds, c.Feeds); diff != "" {
		t.Error(diff)
	}
	translations := []sift.Translation{
		{Language: "en-US", URL: "https://www.shop.example/us"}, {Language: "en-UK", URL: "https://www.shop.example/uk"}, {Language: "zh-Hant-TW", URL: "https://www.shop.example/tw"},
		{Language: "fr", URL: "https://www.shop.example/fr"},
	}
	if diff := cmp.Diff(translations, c.Translations); diff != "" {
		t.Error(diff)
	}
}

func TestThePagesBeforeAndAfterAreThoseOfASeries(t *testing.T) {
	const at = "https://www.shop.example"
	for _, tt := range []struct{ name, page, prev, next string }{
		{"link elements", `<link rel=prev href=/1><link rel=next href=/3>`, at + "/1", at + "/3"},
		{"links with rel", `<a rel="nofollow next" href=/3>x</a><a rel=previous href=/1>y</a>`, at + "/1", at + "/3"},
		{"named in full", `<a href=/1>« Previous page</a> <a href=/3>Next page »</a>`, at + "/1", at + "/3"},
		{"by their label", `<a href=/1 aria-label="Go to previous page">‹</a> <a href=/3 aria-label="Next page">›</a>`, at + "/1", at + "/3"},
		{"in German", `<a href=/1>← Vorherige Seite</a> <a href=/3>Nächste Seite →</a>`, at + "/1", at + "/3"},
		{"in Japanese", `<a href=/1>前のページ</a> <a href=/3>次のページ</a>`, at + "/1", at + "/3"},
		{"in a pager", `<ul class="pagination"><li><a href=/1>Prev</a><li><a href=/2>2</a><li><a href=/3>Next</a></ul>`, at + "/1", at + "/3"},
		{"a word anywhere", `<p><a href=/1>Previous</a> and <a href=/3>next</a></p>`, "", ""},
		{"numbers with a gap", `<ul class="pagination"><li><a href=/1>1</a><li><a href=/3>3</a></ul>`, at + "/1", at + "/3"},
		{"numbers from the second on", `<div class="page-links">Pages: <span>1</span> <a href=/2>2</a> <a href=/3>3</a></div>`, "", at + "/2"},
		{"numbers, the last one here", `<div class="page-links">Pages: <a href=/1>1</a> <a href=/2>2</a> 3</div>`, at + "/2", ""},
		{"numbers with more left out", `<ul class="pagination"><li><a href=/1>1</a><li>…<li><a href=/3>3</a><li><b>4</b><li><a href=/5>5</a><li><a href=/20>20</a></ul>`, at + "/3", at + "/5"},
		{"numbers that are no pages", `<p><a href=/1>1</a> <a href=/3>3</a></p>`, "", ""},
		{"a part named beside the text", `<p><a href="/lamps/desk-2.html">Continue on page 2: Shades →</a></p>`, "", at + "/lamps/desk-2.html"},
		{"a part of something else", `<p><a href="/lamps/history">Page 2 of my diary</a></p>`, "", ""},
		{"a short word for another part", `<p><a href="/lamps/desk/2">Next →</a></p>`, "", at + "/lamps/desk/2"},
		{"another site", `<a href="https://other.example/3">Next page</a>`, "", ""},
		{"the page itself", `<link rel=next href="?ref=1#x"><a href="?ref=1">Next page</a>`, "", ""},
		{"rel before text", `<a href=/9>Next page</a><link rel=next href=/3>`, "", at + "/3"},
		{"hidden", `<a href=/3 style="display:none">Next page</a>`, "", ""},
	} {
		c := around(t, tt.page, "")
		if c.Previous != tt.prev || c.Next != tt.next {
			t.Errorf("%s: %q and %q", tt.name, c.Previous, c.Next)
		}
	}
}

func TestOutboundLinksAreThoseThatAReaderSees(t *testing.T) {
	c := around(t, `<base href="https://www.shop.example/dir/"><p><a href="https://b.example/1">  One
 link </a> <a href="https://a.example/x"><img src=/i.png alt="A picture"></a> <a href="https://b.example/2" aria-label=Two></a> <a href="https://b.example/3" hidden>Three</a>
<a href="mailto:x@y.example">Mail</a> <a href="#top">Top</a> <a href="?ref=1">Here</a> <a href="http://127.0.0.1/">Private</a> <a href=page>Ours</a> <a href="https://B.example:443/1">Port</a> <a href="https://b.example/2#x">Two again</a></p>`, "")
	want := []sift.Outbound{
		{Host: "www.shop.example", Count: 3, Links: []sift.Link{{Text: "Top", URL: "https://www.shop.example/dir/#top"}, {Text: "Here", URL: "https://www.shop.example/dir/?ref=1"}, {Text: "Ours", URL: "https://www.shop.example/dir/page"}}},
		{Host: "b.example", Count: 2, Links: []sift.Link{{Text: "One link", URL: "https://b.example/1"}, {Text: "Two", URL: "https://b.example/2"}}},
		{Host: "a.example", Count: 1, Links: []sift.Link{{Text: "A picture", URL: "https://a.example/x"}}},
		{Host: "b.example:443", Count: 1, Links: []sift.Link{{Text: "Port", URL: "https://b.example:443/1"}}},
	}
	if diff := cmp.Diff(want, c.Outbound); diff != "" {
		t.Error(diff)
	}
}

func TestListsOfASurroundingAreBounded(t *testing.T) {
	var b strings.Builder
	for i := range 400 {
		fmt.Fprintf(&b, `<link rel=alternate type="application/rss+xml" href=/f%[1]d><link rel=alternate hreflang=de href=/t%[1]d><meta name=citation_author content="Name Number%[1]c Of">`, i+'a')
	}
	b.WriteString("<body>")
	for i := range 80 {
		for j := range 30 {
			fmt.Fprintf(&b, `<a href="https://h%d.example/%d">x</a> `, i, j)
		}
	}
	b.WriteString(`<a href="/own">Own</a><script type="application/ld+json">{"@type":"BreadcrumbList","itemListElement":[` + strings.Repeat(`{"name":"x"},`, 100) + `{}]}</script>`)
	c := around(t, b.String(), strings.Repeat(`</x>; rel=next, `, 10_000))
	if len(c.Feeds) != maxFeeds || len(c.Translations) != maxTranslations || len(c.Authors) != maxAuthors || len(c.Breadcrumbs) != maxCrumbs || len(c.Outbound) != maxOutboundHosts {
		t.Errorf("%d feeds, %d translations, %d authors, %d breadcrumbs, %d hosts", len(c.Feeds), len(c.Translations), len(c.Authors), len(c.Breadcrumbs), len(c.Outbound))
	}
	if diff := cmp.Diff([]string{"feeds", "translations", "outbound"}, c.Cut); diff != "" {
		t.Error(diff)
	}
	if o := c.Outbound[0]; o.Host != "www.shop.example" || o.Count != 1 {
		t.Errorf("the page's own host is not the first: %+v", o)
	}
	if o := c.Outbound[1]; o.Count != 30 || len(o.Links) != maxOutboundLinks {
		t.Errorf("%d of %d links", len(o.Links), o.Count)
	}
	var urls strings.Builder
	for i := range maxOutboundURLs + 1000 {
		fmt.Fprintf(&urls, `<a href=%d>x</a> `, i)
	}
	if o := around(t, urls.String(), "").Outbound; len(o) != 1 || o[0].Count != maxOutboundURLs {
		t.Errorf("%+v", o)
	}
}

func TestATooDeepPageStillTellsWhereItSits(t *testing.T) {
	c := around(t, `<link rel=canonical href=/c><link rel=alternate type="application/rss+xml" title=T href=/f><link rel=alternate hreflang=de href=/de>`+strings.Repeat("<div>", 600)+`<a href=/a>A</a>`, "")
	if c.Canonical == "" || len(c.Feeds) != 1 || c.Feeds[0].Title != "T" || len(c.Translations) != 1 || len(c.Outbound) != 1 {
		t.Errorf("%+v", c)
	}
}

func TestTheSurroundingsOfAPageTakeTimeLinearInIt(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	rep := strings.Repeat
	for name, shape := range map[string]func(n int) (page, header string){
		"links": func(n int) (string, string) { return rep(`<a href="https://a.example/x">Next page</a> `, n), "" },
		"nested breadcrumb": func(n int) (string, string) {
			return rep(`<div class=breadcrumb>`, min(n, 480)) + rep(`<a href=/x>x</a> `, n), ""
		},
		"breadcrumb lists": func(n int) (string, string) {
			return rep(`<ol itemtype="https://schema.org/BreadcrumbList">`, min(n, 480)) + rep("<li>x", n), ""
		},
		"breadcrumbs": func(n int) (string, string) { return rep(`<nav aria-label=breadcrumb>x</nav>`, n), "" },
		"alternates":  func(n int) (string, string) { return rep(`<link rel=alternate hreflang=de href=/x>`, n), "" },
		"rels":        func(n int) (string, string) { return rep(`<a rel=next href=/x>`, n), "" },
		"one rel":     func(n int) (string, string) { return `<a rel="` + rep("next ", n) + `" href=/x>`, "" },
		"licences":    func(n int) (string, string) { return rep(`<link rel=license href=/x>`, n), "" },
		"deep links": func(n int) (string, string) {
			return rep(`<a href=/x>`+rep("<b>", 20)+"x"+rep("</b>", 20)+"</a>", n/10), ""
		},
		"the header":   func(n int) (string, string) { return "<p>x", rep(`</x>; rel=alternate; hreflang=de; title="`, n) },
		"header links": func(n int) (string, string) { return "<p>x", rep(`<</x>;;rel=alternate,`, n) },
		"pagers": func(n int) (string, string) {
			return rep(`<ul class=pagination><li><a href="?ref=1">Next</a></ul>`, n), ""
		},
	} {
		cputime.Linear(t, name, 400, func(n int) func() {
			page, header := shape(n)
			return func() {
				if _, err := Context(context.Background(), Input{Body: []byte(page), URL: here, ContentType: "text/html"}, header); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func FuzzContext(f *testing.F) {
	f.Add(`<link rel=canonical href=/a><link rel=alternate hreflang=de href=b><nav class=breadcrumb><a href=/>Home</a> > x</nav><a rel=next href=?2>Next</a>`, `</x>; rel="next"; title*=UTF-8''a%20b, <y>; rel=canonical`)
	f.Add(`<script type="application/ld+json">{"@type":"BreadcrumbList","itemListElement":[{"position":1,"item":{"@id":"/","name":"Home"}}]}</script><base href=//x.example><a href=y>y</a>`, ``)
	f.Add(`<ol typeof=BreadcrumbList><li property=itemListElement><a property=item href=/><span property=name>x</span></a></ol><a href="http://[::1]/">x</a><meta name=dc.rights content=x>`, `<a>; rel=license; anchor="#x"`)
	f.Fuzz(func(t *testing.T, page, header string) {
		c, err := Context(context.Background(), Input{Body: []byte(page), URL: "https://a.example/x/y", ContentType: "text/html; charset=utf-8"}, header)
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(c)
		if err != nil || strings.Contains(string(b), "null,") && strings.Contains(string(b), ":null") && !strings.Contains(page+header, "null") {
			t.Fatalf("%s, %v", b, err)
		}
		urls := []string{c.Canonical, c.Previous, c.Next}
		texts := append([]string{c.Published, c.Modified}, c.Authors...)
		for _, l := range c.Breadcrumbs {
			urls, texts = append(urls, l.URL), append(texts, l.Text)
		}
		for _, l := range c.Feeds {
			urls, texts = append(urls, l.URL), append(texts, l.Title, l.Type)
		}
		for _, l := range c.Translations {
			urls, texts = append(urls, l.URL), append(texts, l.Language)
		}
		for _, o := range c.Outbound {
			if o.Host == "" || o.Count < len(o.Links) || len(o.Links) == 0 {
				t.Errorf("%+v", o)
			}
			for _, l := range o.Links {
				urls, texts = append(urls, l.URL), append(texts, l.Text)
			}
		}
		for _, u := range urls {
			if u != "" && !strings.HasPrefix(u, "http://") && !strings.HasPrefix(u, "https://") || strings.ContainsAny(u, " \n<>\"\x00") {
				t.Errorf("no web address: %q", u)
			}
		}
		for _, s := range append(texts, c.Licence) {
			if !utf8.ValidString(s) || strings.ContainsAny(s, "\n\x00\x1b\u202e") || utf8.RuneCountInString(s) > maxTitle && !strings.HasPrefix(s, "http") {
				t.Errorf("not one clean line: %q", s)
			}
		}
	})
}
