package pipeline

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sift.build/sift/internal/sift"
)

const chapter = `<!doctype html><html lang=en><head><title>Chapter 2</title>
<link rel=canonical href="/book/2"><link rel=prev href="/book/1"><link rel=next href="/book/3">
<link rel=alternate type="application/rss+xml" title="News" href="/feed.xml">
<link rel=alternate hreflang=de href="/de/book/2"><link rel=license href="https://creativecommons.org/licenses/by/4.0/">
<meta name=author content="Ada Tern"><meta property="article:published_time" content="2026-02-03T04:05:06Z">
<script type="application/ld+json">{"@context":"https://schema.org","@type":"BreadcrumbList","itemListElement":[
{"@type":"ListItem","position":2,"name":"Book","item":"http://a.example/book"},{"@type":"ListItem","position":1,"name":"Home","item":"http://a.example/"}]}</script>
</head><body><nav><a href="/">Home</a> <a href="/book">Book</a></nav><main><h1>Chapter 2</h1><p>The ferry leaves at nine, and those who are late walk along the dyke until they come to the second pier.</p>
<h2>Fares</h2><p>A day costs two crowns. See <a href="https://other.example/fares">the list</a>, or <a href="https://other.example/old">the old one</a>.</p></main></body></html>`

func TestContextSaysWhereAPageSits(t *testing.T) {
	s := newSite(t, serve(chapter))
	r := newRig(t, s, rigOptions{})
	plain := r.get(t, sift.Target{URL: "http://a.example/book/2?x=1"})
	env := r.get(t, sift.Target{URL: "http://a.example/book/2?x=1", Context: true})
	if plain.Context != nil || env.Content != plain.Content || env.Snapshot != plain.Snapshot || s.hits.Load() != 1 {
		t.Fatalf("%+v, %d downloads", plain.Context, s.hits.Load())
	}
	c := env.Context
	if c == nil {
		t.Fatal("no context")
	}
	if c.Canonical != "http://a.example/book/2" || c.Previous != "http://a.example/book/1" || c.Next != "http://a.example/book/3" ||
		c.Licence != "https://creativecommons.org/licenses/by/4.0/" || c.Published != "2026-02-03T04:05:06Z" {
		t.Errorf("%+v", c)
	}
	for _, diff := range []string{
		cmp.Diff([]string{"Ada Tern"}, c.Authors),
		cmp.Diff([]sift.Link{{Text: "Home", URL: "http://a.example/"}, {Text: "Book", URL: "http://a.example/book"}}, c.Breadcrumbs),
		cmp.Diff([]sift.Feed{{Title: "News", URL: "http://a.example/feed.xml", Type: "application/rss+xml"}}, c.Feeds),
		cmp.Diff([]sift.Translation{{Language: "de", URL: "http://a.example/de/book/2"}}, c.Translations),
	} {
		if diff != "" {
			t.Error(diff)
		}
	}
	if len(c.Outline) != 2 || c.Outline[1].Text != "Fares" || between(plain.Content, c.Outline[1].Offset, c.Outline[1].Offset+8) != "## Fares" {
		t.Errorf("%+v", c.Outline)
	}
	if len(c.Outbound) != 2 || c.Outbound[0].Host != "a.example" || c.Outbound[1].Host != "other.example" || c.Outbound[1].Count != 2 {
		t.Errorf("%+v", c.Outbound)
	}
	// It goes with every other option.
	for _, target := range []sift.Target{{Grep: "crowns"}, {Section: "Fares"}, {Question: "What does a day cost?"}, {Mode: sift.ModeRaw}, {Mode: sift.ModeLinks}, {MaxChars: 10}} {
		target.URL, target.Context = "http://a.example/book/2?x=1", true
		if env := r.get(t, target); env.Context == nil || cmp.Diff(c, env.Context) != "" {
			t.Errorf("%+v: %s", target, cmp.Diff(c, env.Context))
		}
	}
}

func TestTheLinkHeaderIsPartOfTheContext(t *testing.T) {
	s := newSite(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Add("Link", `</data>; rel="canonical"`)
		w.Header().Add("Link", `</data?page=2>; rel=next`)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"a":1}`)
	})
	r := newRig(t, s, rigOptions{})
	for range 2 { // from the wire, and from the store
		env := r.get(t, sift.Target{URL: "http://a.example/d", Context: true})
		if env.Context == nil || env.Context.Canonical != "http://a.example/data" || env.Context.Next != "http://a.example/data?page=2" || env.Context.Outline == nil || env.Context.Outbound == nil {
			t.Fatalf("%+v", env.Context)
		}
	}
	if env := r.get(t, sift.Target{URL: "http://a.example/d", Context: true, JQ: ".a"}); env.Content != "1" || env.Context == nil {
		t.Errorf("%q, %+v", env.Content, env.Context)
	}
}

func TestAPDFHasAContextToo(t *testing.T) {
	r := newRig(t, pdfSite(t, pdfBody(3)), rigOptions{pdf: &fakePDF{}})
	env := r.get(t, sift.Target{URL: "http://a.example/", Context: true})
	if env.Context == nil || env.Context.Outline == nil || env.Context.Authors == nil {
		t.Errorf("%+v", env.Context)
	}
}

func TestAListOfAContextThatIsNotWholeIsNamed(t *testing.T) {
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, "<h2>Part %[1]d</h2><p>Text of the part, which goes on for a while. <a href=https://h%[1]d.example/>x</a></p>", i)
	}
	r := newRig(t, newSite(t, serve("<main>"+b.String()+"</main>")), rigOptions{})
	c := r.get(t, sift.Target{URL: "http://a.example/", Context: true}).Context
	if diff := cmp.Diff([]string{"outbound", "outline"}, c.Cut); diff != "" || len(c.Outline) != outlineMax {
		t.Errorf("%s%d headings", diff, len(c.Outline))
	}
}
