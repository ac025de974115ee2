package extract_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sift.build/sift/internal/extract"
	"sift.build/sift/internal/sift"
)

func gzipped(t *testing.T, s string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(s)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestASitemapIsAListOfItsPages(t *testing.T) {
	const open = `<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1" xmlns:xhtml="http://www.w3.org/1999/xhtml" xmlns:news="http://www.google.com/schemas/sitemap-news/0.9">`
	two := open + `<url><loc>http://s.example/p?a=1&amp;b=2</loc><lastmod>2024-05-01</lastmod><changefreq>daily</changefreq><priority>0.8</priority></url>
<url>
  <loc>
    http://s.example/a_b(c)
  </loc>
</url></urlset>`
	want := "Sitemap of 2 pages:\n\n- <http://s.example/p?a=1&b=2> (2024-05-01, daily, priority 0.8)\n- <http://s.example/a_b(c)>"
	index := `<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><sitemap><loc>http://s.example/1.xml.gz</loc><lastmod>2024-01-01T00:00:00+00:00</lastmod></sitemap><sitemap><loc>http://s.example/2.xml</loc></sitemap></sitemapindex>`
	tests := []struct{ name, contentType, url, body, want string }{
		{"as text/xml", "text/xml", "http://s.example/sitemap.xml", two, want},
		{"as application/xml", "application/xml; charset=utf-8", "http://s.example/sitemap.xml", two, want},
		{"as HTML", "text/html", "http://s.example/sitemap.xml", two, want},
		{"without a type", "", "http://s.example/sitemap.xml", two, want},
		{"compressed, as gzip", "application/gzip", "http://s.example/sitemap.xml.gz", gzipped(t, two), want},
		{"compressed, as octets", "application/octet-stream", "http://s.example/sitemap.xml.gz", gzipped(t, two), want},
		{"compressed, as XML", "application/xml", "http://s.example/sitemap.xml.gz", gzipped(t, two), want},
		{"an index", "text/xml", "http://s.example/", index, "Sitemap index of 2 sitemaps:\n\n- <http://s.example/1.xml.gz> (2024-01-01T00:00:00+00:00)\n- <http://s.example/2.xml>"},
		{"with a prefix", "text/xml", "", `<s:urlset xmlns:s="http://www.sitemaps.org/schemas/sitemap/0.9"><s:url><s:loc>http://s.example/1</s:loc></s:url></s:urlset>`, "Sitemap of 1 pages:\n\n- <http://s.example/1>"},
		{"in the namespace of an old version", "text/xml", "", `<urlset xmlns="http://www.google.com/schemas/sitemap/0.84"><url><loc>http://s.example/1</loc></url></urlset>`, "Sitemap of 1 pages:\n\n- <http://s.example/1>"},
		{"with a style sheet", "text/xml", "", `<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="//s.example/main.xsl"?><!-- made by x --><urlset><url><loc><![CDATA[http://s.example/1?x=1&y=2]]></loc></url></urlset>`, "Sitemap of 1 pages:\n\n- <http://s.example/1?x=1&y=2>"},
		{"with images and translations", "text/xml", "http://s.example/", open + `<url><loc>http://s.example/1</loc><image:image><image:loc>http://s.example/1.png</image:loc></image:image><xhtml:link rel="alternate" hreflang="de" href="http://s.example/de/1"/></url></urlset>`,
			"Sitemap of 1 pages:\n\n- <http://s.example/1>: [image](http://s.example/1.png), [de](http://s.example/de/1)"},
		{"of news", "text/xml", "http://s.example/", open + `<url><loc>http://s.example/1</loc><news:news><news:publication><news:name>P</news:name></news:publication><news:publication_date>2024-01-02</news:publication_date><news:title>What &amp; when</news:title></news:news></url></urlset>`,
			"Sitemap of 1 pages:\n\n- <http://s.example/1> What & when (2024-01-02)"},
		{"with a bare ampersand", "text/xml", "", `<urlset><url><loc>http://s.example/?a=1&copy=2&amp;lt=3</loc></url></urlset>`, "Sitemap of 1 pages:\n\n- <http://s.example/?a=1&copy=2&lt=3>"},
		{"with addresses that are none", "text/xml", "http://s.example/", `<urlset><url><loc>/rel</loc></url><url><loc>javascript:x()</loc></url><url></url></urlset>`, "Sitemap of 2 pages:\n\n- [/rel](http://s.example/rel)\n- javascript:x()"},
		{"cut short", "text/xml", "", `<urlset><url><loc>http://s.example/1</loc></url><url><loc>http://s.exa`, "Sitemap of 2 pages:\n\n- <http://s.example/1>\n- <http://s.exa>"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			doc := read(t, extract.Input{Body: []byte(tt.body), ContentType: tt.contentType, URL: tt.url})
			if doc.Kind != sift.KindSitemap {
				t.Errorf("kind %s", doc.Kind)
			}
			if diff := cmp.Diff(tt.want, rendered(t, doc, sift.ModeClean)); diff != "" {
				t.Error(diff)
			}
		})
	}
	doc := read(t, extract.Input{Body: []byte(two), ContentType: "text/xml", URL: "http://s.example/"})
	if got, want := rendered(t, doc, sift.ModeLinks), "- [http://s.example/p?a=1&b=2](http://s.example/p?a=1&b=2)\n- [http://s.example/a_b(c)](http://s.example/a_b(c))"; got != want {
		t.Errorf("links: %s", got)
	}
	empty := read(t, extract.Input{Body: []byte("<urlset></urlset>"), ContentType: "text/xml"})
	if got := rendered(t, empty, sift.ModeClean); got != "```xml\n<urlset></urlset>\n```" {
		t.Errorf("a sitemap of nothing: %q", got)
	}
}

func TestALargeSitemapIsListedFastAndWithinBounds(t *testing.T) {
	var b strings.Builder
	b.WriteString("<urlset>")
	for i := range 100_100 {
		fmt.Fprintf(&b, "<url><loc>http://s.example/%d</loc><lastmod>2024-01-01</lastmod></url>", i)
	}
	b.WriteString("</urlset>")
	start := time.Now()
	doc := read(t, extract.Input{Body: []byte(b.String()), ContentType: "text/xml"})
	t.Logf("%d bytes in %s", b.Len(), time.Since(start))
	got := rendered(t, doc, sift.ModeClean)
	if n := strings.Count(got, "\n- "); n != 100_000 {
		t.Errorf("%d lines", n)
	}
	if !warnedOf(doc, sift.WarnDeepMarkup, "100 more entries") {
		t.Errorf("warnings: %v", doc.Warnings)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := extract.Extract(ctx, extract.Input{Body: []byte(b.String()), ContentType: "text/xml"})
	var f *sift.Failure
	if !errors.As(err, &f) || f.Code != sift.CodeCancel {
		t.Errorf("an expired context: %v", err)
	}
}

func TestImagesOfASitemapCountToo(t *testing.T) {
	images := strings.Repeat("<image:loc>/i</image:loc>", 1200)
	one := "<url><loc>http://s.example/1</loc>" + images + "</url>"
	doc := read(t, extract.Input{Body: []byte("<urlset>" + one + "</urlset>"), ContentType: "text/xml", URL: "http://s.example/"})
	if got := rendered(t, doc, sift.ModeClean); strings.Count(got, "[image]") != 1000 || !strings.HasSuffix(got, " and more") {
		t.Errorf("%d images", strings.Count(got, "[image]"))
	}
	doc = read(t, extract.Input{Body: []byte("<urlset>" + strings.Repeat(one, 205) + "</urlset>"), ContentType: "text/xml", URL: "http://s.example/"})
	if !warnedOf(doc, sift.WarnDeepMarkup, "5 more entries") {
		t.Errorf("warnings: %v", doc.Warnings)
	}
}

func TestSubscriptionsAreANestedList(t *testing.T) {
	doc := read(t, extract.Input{ContentType: "text/x-opml", URL: "http://s.example/o.opml", Body: []byte(`<?xml version="1.0"?><opml version="2.0"><head><title>My feeds</title><ownerName>Ida</ownerName></head><body>
<outline text="Crafts"><outline text="Mill &amp; stone" type="rss" xmlUrl="http://m.example/feed" htmlUrl="http://m.example/"/><outline title="Ropes" xmlUrl="http://r.example/feed"/></outline>
<outline text="Alone" type="link" url="http://a.example/"/><outline text="Just words"/></body></opml>`)})
	want := `# My feeds

- Crafts
  - [Mill & stone](http://m.example/) ([feed](http://m.example/feed))
  - [Ropes](http://r.example/feed)
- [Alone](http://a.example/)
- Just words`
	if diff := cmp.Diff(want, rendered(t, doc, sift.ModeClean)); diff != "" {
		t.Error(diff)
	}
	if doc.Title != "My feeds" || doc.Author != "Ida" || doc.Kind != sift.KindOPML {
		t.Errorf("%+v", doc)
	}
	deep := read(t, extract.Input{ContentType: "text/x-opml", Body: []byte("<opml><body>" + strings.Repeat(`<outline text="x">`, 5000) + strings.Repeat("</outline>", 5000) + "</body></opml>")})
	if got := rendered(t, deep, sift.ModeText); strings.Count(got, "x") != 198 || !warnedOf(deep, sift.WarnDeepMarkup, "too large") {
		t.Errorf("%d entries of a deep outline", strings.Count(got, "x"))
	}
	many := read(t, extract.Input{ContentType: "text/x-opml", Body: []byte("<opml><body>" + strings.Repeat(`<outline text="x"/>`, 50_010) + "</body></opml>")})
	if !warnedOf(many, sift.WarnDeepMarkup, "10 more entries") {
		t.Errorf("warnings: %v", many.Warnings)
	}
}

func FuzzSitemap(f *testing.F) {
	f.Add([]byte(`<urlset><url><loc>http://a.example/?a&amp;b</loc><lastmod>x</lastmod></url></urlset>`))
	f.Add([]byte(`<sitemapindex><sitemap><loc>/a</loc></sitemap><url>`))
	f.Add([]byte(`<a:urlset xmlns:a=""><a:url><a:loc><![CDATA[x]]>`))
	f.Add([]byte(`<opml><outline text="a"><outline xmlUrl=x></opml>`))
	f.Add([]byte(`<svg><title>t</title><g opacity=0><text x=1>a<tspan dy=2>b`))
	f.Fuzz(func(t *testing.T, body []byte) {
		checkAnswer(t, extract.Input{Body: body, ContentType: "text/xml", URL: "http://a.example/s.xml"})
	})
}
