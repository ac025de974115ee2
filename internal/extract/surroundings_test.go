package extract

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sift.build/sift/internal/sift"
)

func around(t *testing.T, page, links string) *sift.Context {
	t.Helper()
	c, err := Context(context.Background(), Input{Body: []byte(page), URL: "https://www.shop.example/lamps/desk?ref=1", ContentType: "text/html; charset=utf-8"}, links)
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
		Outline:      []sift.Heading{},
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
	want := `{"canonical":"","breadcrumbs":[],"authors":[],"published":"","modified":"","licence":"","feeds":[],"translations":[],"previous":"","next":"","outline":[],"outbound":[]}`
	for name, in := range map[string]Input{
		"nothing": {URL: "https://a.example/"},
		"JSON":    {URL: "https://a.example/", Body: []byte(`{"a":1}`), ContentType: "application/json"},
		"PDF":     {URL: "https://a.example/", Body: []byte("%PDF-1.7\n"), ContentType: "application/pdf"},
		"image":   {URL: "https://a.example/", Body: []byte("\x89PNG\r\n\x1a\n\x00\x00"), ContentType: "image/png"},
		"page":    {URL: "https://a.example/", Body: []byte("<p>x"), ContentType: "text/html"},
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
