package render

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"sift.build/sift/internal/normalize"
	"sift.build/sift/internal/sift"
)

func TestLinksAreEveryLinkOnceInTheOrderOfThePage(t *testing.T) {
	got := inMode(t, `<nav><a href="/">Home</a></nav><p><a href="/a">A</a> <a href="/a">A</a> <a href="/a">Again [a]</a>
		<a href="/b"><img src="/b.png" alt="Picture of b"></a> <a href="/c" aria-label="To c"><svg></svg></a> <a href="/d"></a>
		<a href="http://127.0.0.1/">private</a> <a href="javascript:x">none</a> <a href="mailto:a@b.example">mail</a></p>`, sift.ModeLinks)
	want := []sift.Link{
		{Text: "Home", URL: "https://example.com/"},
		{Text: "A", URL: "https://example.com/a"},
		{Text: "Again [a]", URL: "https://example.com/a"},
		{Text: "Picture of b", URL: "https://example.com/b"},
		{Text: "To c", URL: "https://example.com/c"},
		{Text: "https://example.com/d", URL: "https://example.com/d"},
		{Text: "mail", URL: "mailto:a@b.example"},
	}
	if d := cmp.Diff(want, got.Links); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	lines := strings.Split(got.Content, "\n")
	if len(lines) != len(want) || lines[2] != `- [Again \[a\]](https://example.com/a)` {
		t.Errorf("content\n%s", got.Content)
	}
	if none := inMode(t, "<p>x", sift.ModeLinks); none.Links == nil || len(none.Links) != 0 || none.Content != "" {
		t.Errorf("of a page without links: %+v", none)
	}
}

func TestAnOutlineIsTheHeadingsWithTheirPlacesNested(t *testing.T) {
	page := `<h1 id="top">Manual</h1><p>Über</p><h2 id="eng">Engine <b>room</b></h2><p>x</p><h4>Fuel_oil</h4><p>y</p><h2 id="a b">Deck</h2><p>z</p>`
	const clean = "# Manual\n\nÜber\n\n## Engine room\n\nx\n\n#### Fuel_oil\n\ny\n\n## Deck\n\nz"
	if got := inMode(t, page, sift.ModeClean).Content; got != clean {
		t.Fatalf("%q", got)
	}
	got := inMode(t, page, sift.ModeOutline)
	want := []sift.Heading{
		{Level: 1, Text: "Manual", Anchor: "top", Offset: 0, Chars: 63},
		{Level: 2, Text: "Engine room", Anchor: "eng", Offset: 16, Chars: 37},
		{Level: 4, Text: "Fuel_oil", Anchor: "", Offset: 35, Chars: 18},
		{Level: 2, Text: "Deck", Anchor: "a b", Offset: 53, Chars: 10},
	}
	if d := cmp.Diff(want, got.Outline); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	const wantList = `- [Manual](#top) (offset 0, 63 characters)
  - [Engine room](#eng) (offset 16, 37 characters)
    - Fuel_oil (offset 35, 18 characters)
  - [Deck](#a%20b) (offset 53, 10 characters)`
	if d := cmp.Diff(wantList, got.Content); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if none := inMode(t, "<p>x", sift.ModeOutline); none.Outline == nil || len(none.Outline) != 0 || none.Content != "" {
		t.Errorf("of a page without headings: %+v", none)
	}
}

func TestVerbatimKindsAreHandedOnAsTheyAre(t *testing.T) {
	doc := &sift.Document{Kind: sift.KindJSON, Text: "{\"a\": \"<b>\\u00fc & _x_\"}\n"}
	for _, mode := range []sift.Mode{sift.ModeClean, sift.ModeFull, sift.ModeText} {
		if r, err := Content(doc, mode); err != nil || r.Content != doc.Text || r.Chars != len(doc.Text) || r.VisibleChars != 21 {
			t.Errorf("%s: %+v, %v", mode, r, err)
		}
	}
	if r, err := Content(doc, sift.ModeHTML); err != nil || r.Content != "<pre>{&#34;a&#34;: &#34;&lt;b&gt;\\u00fc &amp; _x_&#34;}\n</pre>" {
		t.Errorf("html: %q, %v", r.Content, err)
	}
	if r, err := Content(doc, sift.ModeOutline); err != nil || r.Outline == nil || len(r.Outline) != 0 || r.Content != "" {
		t.Errorf("outline: %+v, %v", r, err)
	}
	r, err := Content(&sift.Document{Kind: sift.KindText, Text: "see http://a.example/x_(y), (https://b.example/). [no](http://c.example) http://a.example/x_(y)"}, sift.ModeLinks)
	want := []sift.Link{
		{Text: "http://a.example/x_(y)", URL: "http://a.example/x_(y)"},
		{Text: "https://b.example/", URL: "https://b.example/"},
		{Text: "http://c.example", URL: "http://c.example"},
	}
	if d := cmp.Diff(want, r.Links); d != "" || err != nil {
		t.Errorf("links of text (-want +got)\n%s%v", d, err)
	}
}

func TestLinksAndHeadingsOfMarkdownAreReadFromIt(t *testing.T) {
	src := "# Top *level* #\n\nSetext `x`\n======\n\ntext [a](http://a.example/x_(y) \"title\") and [b][ref] or [ref]\n![img](http://i.example/)\n\n" +
		"```md\n# not a heading\n[no](http://no.example)\n```\n\n## [Linked](u.html)\n## Top level\n\n" +
		"#hashtag\n    # code\n> quote\n---\n\n`[code](http://code.example)` <http://auto.example> [js](javascript:x) [rel](../r.html)\n\n[ref]: http://ref.example 'x'\n"
	doc := &sift.Document{Kind: sift.KindMarkdown, Text: src}
	r, err := Content(doc, sift.ModeOutline)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, h := range r.Outline {
		line, _, _ := strings.Cut(string([]rune(src)[h.Offset:]), "\n")
		got = append(got, fmt.Sprintf("%d %s #%s: %s", h.Level, h.Text, h.Anchor, line))
	}
	want := []string{
		"1 Top level #top-level: # Top *level* #",
		"1 Setext x #setext-x: Setext `x`",
		"2 Linked #linked: ## [Linked](u.html)",
		"2 Top level #top-level-1: ## Top level",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("outline (-want +got)\n%s", d)
	}
	if r, err = Content(doc, sift.ModeLinks); err != nil {
		t.Fatal(err)
	}
	links := []sift.Link{
		{Text: "a", URL: "http://a.example/x_(y)"},
		{Text: "b", URL: "http://ref.example"},
		{Text: "ref", URL: "http://ref.example"},
		{Text: "Linked", URL: "u.html"},
		{Text: "http://auto.example", URL: "http://auto.example"},
		{Text: "rel", URL: "../r.html"},
	}
	if d := cmp.Diff(links, r.Links); d != "" {
		t.Errorf("links (-want +got)\n%s", d)
	}
}

func TestWhatCannotBeRenderedIsAnError(t *testing.T) {
	body := &html.Node{Type: html.ElementNode, Data: "body"}
	for name, c := range map[string]struct {
		doc  *sift.Document
		mode sift.Mode
	}{
		"raw":            {&sift.Document{Kind: sift.KindText}, sift.ModeRaw},
		"no mode":        {&sift.Document{Kind: sift.KindText}, ""},
		"clean, no main": {&sift.Document{Kind: sift.KindHTML, Page: body}, sift.ModeClean},
		"full, no page":  {&sift.Document{Kind: sift.KindHTML, Main: body}, sift.ModeFull},
		"links, no page": {&sift.Document{Kind: sift.KindHTML, Main: body}, sift.ModeLinks},
		"outline, none":  {&sift.Document{Kind: sift.KindHTML}, sift.ModeOutline},
	} {
		if r, err := Content(c.doc, c.mode); err == nil {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

func TestCoverageCountsTheTextOfThePartRendered(t *testing.T) {
	const page = `<p>Ab ç 漢</p><p><img src="/x" alt="not counted"><a href="/y">d</a></p>`
	for mode, want := range map[sift.Mode]int{sift.ModeClean: 5, sift.ModeFull: 5, sift.ModeText: 5, sift.ModeHTML: 5, sift.ModeLinks: 1, sift.ModeOutline: 0} {
		if r := inMode(t, page, mode); r.VisibleChars != want {
			t.Errorf("%s: %d, want %d", mode, r.VisibleChars, want)
		}
	}
}

func TestPlainTextHasNoSignsOfMarkdown(t *testing.T) {
	got := inMode(t, `<h2>A *b*</h2><p>x <b>bold</b> <a href="/u">link</a> <code>c_d</code> H<sub>2</sub>O &lt;i&gt; $5 [z](y)</p><blockquote><p>q</p></blockquote>`, sift.ModeText).Content
	if want := "A *b*\n\nx bold link c_d H_2O <i> $5 [z](y)\n\nq"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestALinkAroundBlocksIsALinkOnItsHeadingOrItsFirstBlock(t *testing.T) {
	for in, want := range map[string]string{
		`<a href="/x"><p>Course</p><h3>Learn HTML</h3><p>An overview.</p></a>`: "Course\n\n### [Learn HTML](https://example.com/x)\n\nAn overview.",
		`<a href="/x"><div>First</div><div>Second</div></a>`:                   "[First](https://example.com/x)\n\nSecond",
		`<a href="/x"><div><img src="/i.png" alt="i"></div><p>Text</p></a>`:    "[![i](https://example.com/i.png)](https://example.com/x)\n\nText",
	} {
		if got := inMode(t, in, sift.ModeClean).Content; got != want {
			t.Errorf("%s:\n%s\nwant\n%s", in, got, want)
		}
	}
}

func TestSignsThatMeetAreStillReadAsTwo(t *testing.T) {
	for in, want := range map[string]string{
		`<code>a</code><code>b</code>`:        "`ab`",
		`<b>a</b><b>b</b> <i>c</i><i>d</i>`:   "**ab** *cd*",
		`<b>a</b><i>b</i>`:                    "**a**<em>b</em>",
		`x<b>(y)</b>z`:                        "x<strong>(y)</strong>z",
		`<b><code>a</code></b><code>b</code>`: "<strong>`a`</strong>`b`",
		`Wow!<a href="/u">a</a>`:              `Wow\![a](https://example.com/u)`,
		`[a<b>](x)</b>`:                       `\[a<strong>]\(x)</strong>`,
		`<ul><li>a</ul><ul><li>b</ul>`:        "- a\n\n+ b",
		`<ol><li>a</ol><ol><li>b</ol>`:        "1. a\n\n1) b",
	} {
		if got := inMode(t, in, sift.ModeClean).Content; got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

func FuzzContent(f *testing.F) {
	for _, s := range []string{
		"<h1>a</h1><p>b<b>c</b></p>", "<table><tr><th colspan=3>a<td rowspan=2>b<tr><td>c</table>", "<ul><li>a<ol start=5><li>b</ol></ul>",
		"<pre><code class=language-go>x`````</code></pre>", "<p>a<sup><a href='#n'>1</a></sup></p><p id=n>1 note</p>", "<blockquote><pre>a\n\nb</pre></blockquote>",
		"<dl><dt>a<dd><ul><li>b</ul></dl>", "<math><mi>x</mi></math>", "<a href=/x><h2>a</h2><p>b</p></a>", "<p>a<br><br><i>(b)</i>c", "<details><summary>a</summary>b</details>",
		"<s>~<b>(x</b>y</s>", "<h2><ul><li>a</ul><table><tr><td>b</table></h2>", "\xff\xfe<p>\x00",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		doc, err := html.Parse(strings.NewReader(in))
		if err != nil {
			t.Skip()
		}
		base, err := url.Parse("https://example.com/a/b")
		if err != nil {
			t.Fatal(err)
		}
		body := normalize.Page(doc, base).Body
		for _, mode := range []sift.Mode{sift.ModeClean, sift.ModeText, sift.ModeHTML, sift.ModeLinks, sift.ModeOutline} {
			r, err := Content(&sift.Document{Kind: sift.KindHTML, Main: body, Page: body}, mode)
			if err != nil {
				t.Fatal(err)
			}
			if !utf8.ValidString(r.Content) || r.Chars != utf8.RuneCountInString(r.Content) {
				t.Errorf("%s: %d characters of %q", mode, r.Chars, r.Content)
			}
			// The most are lists inside each other, which indent each line of a few
			// bytes, and what empty cells the tables of a page may have in any case.
			if len(r.Content) > 80*len(in)+5*blanksMin {
				t.Errorf("%s: %d bytes from %d", mode, len(r.Content), len(in))
			}
			if maxChars := 1 + len(in)%97 + r.Chars/50; strings.Join(windows(t, r.Content, maxChars), "") != r.Content {
				t.Errorf("%s: windows of %d do not join", mode, maxChars)
			}
		}
		survives(t, body)
	})
}

// Whatever the content and the size of a window: windows join to the whole,
// and none is empty or longer than was asked for.
func FuzzWindow(f *testing.F) {
	for i, p := range pieces {
		f.Add(p+strings.Join(pieces[i/2:], ""), 1+3*i)
	}
	f.Fuzz(func(t *testing.T, content string, maxChars int) {
		if !utf8.ValidString(content) || maxChars < 1 || maxChars > 1<<20 {
			t.Skip()
		}
		if len(content) > 2000*maxChars {
			t.Skip() // nothing new in so many windows
		}
		if got := strings.Join(windows(t, content, maxChars), ""); got != content {
			t.Fatalf("windows of %d join to %q, not %q", maxChars, got, content)
		}
	})
}

func FuzzMarkdownLinksAndHeadings(f *testing.F) {
	for _, s := range []string{"# a\n[b](c)", "```\n# x\n```", "a\n===\n[r]: u\n[r]", "[[[[](((", "- ```\n  x\n  ```\n# y", "1. ~~~\n", "[^1]: ```\nx"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		if !utf8.ValidString(in) {
			t.Skip()
		}
		doc := &sift.Document{Kind: sift.KindMarkdown, Text: in}
		for _, mode := range []sift.Mode{sift.ModeLinks, sift.ModeOutline} {
			r, err := Content(doc, mode)
			if err != nil || !utf8.ValidString(r.Content) {
				t.Errorf("%s: %q, %v", mode, r.Content, err)
			}
			for _, h := range r.Outline {
				if h.Offset < 0 || h.Chars < 0 || h.Offset+h.Chars > utf8.RuneCountInString(in) {
					t.Errorf("%+v is not in the text", h)
				}
			}
		}
	})
}

func TestABarInAnImagesAltDoesNotEndItsCell(t *testing.T) {
	got := markdownOf(t, `<table><tr><th>A<th>B</tr><tr><td><img src="http://e.example/i.png" alt="a | b"><td>2</tr></table>`)
	if want := `| ![a \| b](http://e.example/i.png) | 2 |`; !strings.Contains(got, want) {
		t.Errorf("got %q, want a row %q", got, want)
	}
}
