package render

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"pgregory.net/rapid"

	"sift.build/sift/internal/sift"
)

func inMode(t interface{ Fatal(...any) }, markup string, mode sift.Mode) Rendered {
	body := tree(t, markup)
	r, err := Content(&sift.Document{Kind: sift.KindHTML, Main: body, Page: body}, mode)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestEachModeReadsItsTree(t *testing.T) {
	doc := &sift.Document{Kind: sift.KindHTML, Main: tree(t, `<h1>Main</h1>`), Page: tree(t, `<p><a href="/m">Menu</a></p><h1>Main</h1>`)}
	for mode, want := range map[sift.Mode]string{
		sift.ModeClean: "# Main", sift.ModeText: "Main", sift.ModeHTML: "<h1>Main</h1>", sift.ModeOutline: "- Main (offset 0, 6 characters)",
		sift.ModeFull: "[Menu](https://example.com/m)\n\n# Main", sift.ModeLinks: "- [Menu](https://example.com/m)",
	} {
		r, err := Content(doc, mode)
		if err != nil {
			t.Fatal(err)
		}
		if r.Content != want {
			t.Errorf("%s: got %q, want %q", mode, r.Content, want)
		}
		if r.Chars != utf8.RuneCountInString(want) {
			t.Errorf("%s: %d characters, want %d", mode, r.Chars, utf8.RuneCountInString(want))
		}
	}
}

func TestRenderingLeavesTheTreeAsItWas(t *testing.T) {
	body := tree(t, `<h1 id=a>A</h1><p><code><a href="/x">y</a></code><sup><a href="#n">1</a></sup></p><ul><li><input type=checkbox>t</li></ul><p id=n>1 Note</p>`)
	doc := &sift.Document{Kind: sift.KindHTML, Main: body, Page: body}
	var before, after strings.Builder
	if err := html.Render(&before, body); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []sift.Mode{sift.ModeClean, sift.ModeFull, sift.ModeText, sift.ModeHTML, sift.ModeLinks, sift.ModeOutline} {
		if _, err := Content(doc, mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := html.Render(&after, body); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(before.String(), after.String()); d != "" {
		t.Errorf("(-before +after)\n%s", d)
	}
}

func TestTheTextOfALinkAroundAWholeCardIsShortened(t *testing.T) {
	r := inMode(t, `<a href="/x">`+strings.Repeat("wörd ", 500)+`</a>`, sift.ModeLinks)
	if s := r.Links[0].Text; len(s) > linkTextMax+len("…") || !strings.HasSuffix(s, "wörd…") {
		t.Errorf("got %d bytes, %q", len(s), s)
	}
}

func TestAnOffsetOfTheOutlineIsWhereTheHeadingsLineBegins(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		markup, _ := genBlocks(t, 0)
		markup = "<h2>first é</h2>" + markup + "<h3>last 漢</h3><ul><li><h4>in an item</h4></ul><blockquote><h2>quoted</h2></blockquote>"
		content := []rune(inMode(t, markup, sift.ModeClean).Content)
		heads := inMode(t, markup, sift.ModeOutline).Outline
		if len(heads) < 4 {
			t.Fatalf("%d headings", len(heads))
		}
		for i, h := range heads {
			if h.Offset < 0 || h.Offset >= len(content) || h.Chars < 1 || h.Offset+h.Chars > len(content) {
				t.Fatalf("heading %d is at %d with %d characters of %d", i, h.Offset, h.Chars, len(content))
			}
			if h.Offset > 0 && content[h.Offset-1] != '\n' {
				t.Fatalf("heading %d is not at the beginning of a line", i)
			}
			line, _, _ := strings.Cut(string(content[h.Offset:]), "\n")
			if !strings.Contains(line, strings.Repeat("#", h.Level)+" ") {
				t.Fatalf("heading %d of level %d is the line %q", i, h.Level, line)
			}
			end := len(content)
			for _, next := range heads[i+1:] {
				if next.Level <= h.Level {
					end = next.Offset
					break
				}
			}
			if h.Offset+h.Chars != end {
				t.Fatalf("heading %d ends at %d, want %d", i, h.Offset+h.Chars, end)
			}
		}
	})
}

// attacks are ways to bring a script through a sanitiser.
var attacks = []string{
	`<script>alert(1)</script>`, `<SCRIPT SRC=//x.example/x.js></SCRIPT>`, `<img src=x onerror=alert(1)>`, `<img src="javascript:alert(1)">`, "<img src=`javascript:alert(1)`>",
	`<a href="javascript:alert(1)">a</a>`, `<a href="JaVaScRiPt:alert(1)">a</a>`, "<a href=\"java\tscript:alert(1)\">a</a>", `<a href="&#106;avascript:alert(1)">a</a>`, "<a href=\"\x01javascript:alert(1)\">a</a>",
	`<a href="data:text/html;base64,PHNjcmlwdD4=">a</a>`, `<a href="vbscript:x">a</a>`, `<a href="https://x.example/&quot; onmouseover=&quot;alert(1)">a</a>`, `<a href='https://x.example/"><script>alert(1)</script>'>a</a>`,
	`<svg onload=alert(1)>`, `<svg><script>alert(1)</script></svg>`, `<svg><a xlink:href="javascript:alert(1)"><text>a</text></a></svg>`, `<math><mtext><script>alert(1)</script></mtext></math>`,
	`<math href="javascript:alert(1)">a</math>`, `<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=alert(1)&gt;">`,
	`<svg></p><style><a id="</style><img src=1 onerror=alert(1)>">`, `<noscript><p title="</noscript><img src=x onerror=alert(1)>"></noscript>`, `<form><math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>`,
	`<iframe src="javascript:alert(1)"></iframe>`, `<iframe srcdoc="<script>alert(1)</script>"></iframe>`, `<object data="javascript:alert(1)"></object>`, `<embed src="javascript:alert(1)">`,
	`<base href="javascript:alert(1)//"><a href="x">a</a>`, `<meta http-equiv=refresh content="0;url=javascript:alert(1)">`, `<link rel=stylesheet href=//x.example/x.css>`, `<style>@import "//x.example";</style>`,
	`<p style="background:url(javascript:alert(1))" onclick="alert(1)">a</p>`, `<div id="x" class="y" onmouseover=alert(1)>a</div>`, `<details open ontoggle=alert(1)><summary>a</summary></details>`,
	`<form action="javascript:alert(1)"><input type=submit><button formaction="javascript:alert(1)">a</button></form>`, `<video><source onerror=alert(1)></video>`, `<body onload=alert(1)>a`,
	`<pre><code class='language-"><script>alert(1)</script>'>a</code></pre>`, `<pre data-lang='"><img src=x onerror=alert(1)>'>a</pre>`, `<table background="javascript:alert(1)"><tr><td colspan='2" onclick="x'>a<td>b</table>`,
	`<ol start='1" onclick="alert(1)'><li value='"><script>'>a</ol>`, `<img alt='"><script>alert(1)</script>' src="https://x.example/i.png">`, `<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>`, `<code>&lt;/code&gt;&lt;script&gt;</code>`,
	`<textarea></textarea><script>alert(1)</script>`, `<title></title><img src=x onerror=alert(1)>`, `<xmp><script>alert(1)</script></xmp>`, `<plaintext><script>alert(1)</script>`, `<template><script>alert(1)</script></template>`,
	`<x-y onclick=alert(1) href="javascript:alert(1)">a</x-y>`, `<a name=body id=cookie>a</a><form name=getElementById></form>`, `<!--><script>alert(1)</script>-->`, `<![CDATA[<script>alert(1)</script>]]>`,
	`<span data-math="inline">&lt;/span&gt;&lt;script&gt;</span>`, `<span class="math inline">\(&lt;img src=x onerror=alert(1)&gt;\)</span>`, "<p>\x00<\x00script>alert(1)</\x00script>",
}

// unsafe names what in sanitised HTML should not be there, as a browser would
// parse it.
func unsafe(t testing.TB, markup string) []string {
	t.Helper()
	nodes, err := html.ParseFragment(strings.NewReader(markup), &html.Node{Type: html.ElementNode, Data: "div", DataAtom: atom.Div})
	if err != nil {
		t.Fatal(err)
	}
	elements := make(map[string]bool)
	for e := range strings.FieldsSeq("a b blockquote br caption cite code dd del details div dl dt em figcaption figure h1 h2 h3 h4 h5 h6 hr i img ins li mark ol p pre s small strong sub summary sup table tbody td tfoot th thead tr u ul") {
		elements[e] = true
	}
	var out []string
	for _, root := range nodes {
		for n := range root.Descendants() {
			out = append(out, judged(n, elements)...)
		}
		out = append(out, judged(root, elements)...)
	}
	return out
}

func judged(n *html.Node, elements map[string]bool) (out []string) {
	switch n.Type {
	case html.TextNode:
		return nil
	case html.ElementNode:
	default:
		return []string{"a node that is neither element nor text: " + n.Data}
	}
	if !elements[n.Data] || n.Namespace != "" {
		out = append(out, "<"+n.Data+">")
	}
	for _, a := range n.Attr {
		ok := false
		switch n.Data + " " + a.Key {
		case "a href":
			ok = strings.HasPrefix(a.Val, "https://") || strings.HasPrefix(a.Val, "http://") || strings.HasPrefix(a.Val, "mailto:")
		case "img src":
			ok = strings.HasPrefix(a.Val, "https://") || strings.HasPrefix(a.Val, "http://")
		case "a rel":
			ok = a.Val == "nofollow"
		case "img alt":
			ok = true
		case "code class":
			ok = strings.HasPrefix(a.Val, "language-") && info(a.Val) == a.Val
		case "ol start", "li value", "td colspan", "td rowspan", "th colspan", "th rowspan":
			ok = strings.Trim(a.Val, "0123456789") == ""
		}
		if !ok {
			out = append(out, "<"+n.Data+" "+a.Key+"="+a.Val+">")
		}
	}
	return out
}

func TestNoScriptComesThroughSanitisedHTML(t *testing.T) {
	for _, page := range attacks {
		for _, around := range []string{"%", "<p>%</p>", "<ul><li>%", "<table><tr><th>a<th>b<tr><td>%<td>c</table>", "<a href=/x>%</a>", "<h2>%</h2>", "<pre>%</pre>"} {
			in := strings.Replace(around, "%", page, 1)
			out := inMode(t, in, sift.ModeHTML).Content
			if bad := unsafe(t, out); bad != nil {
				t.Errorf("%q\nbecomes %q\nwith %q", in, out, bad)
			}
		}
	}
}

func TestATreeThatNobodyNormalisedIsSanitisedToo(t *testing.T) {
	// Content asks for the normal form; a fault there must not be a hole here.
	for _, page := range attacks {
		doc, err := html.Parse(strings.NewReader(page))
		if err != nil {
			t.Fatal(err)
		}
		r, err := Content(&sift.Document{Kind: sift.KindHTML, Main: doc}, sift.ModeHTML)
		if err != nil {
			t.Fatal(err)
		}
		if bad := unsafe(t, r.Content); bad != nil {
			t.Errorf("%q\nbecomes %q\nwith %q", page, r.Content, bad)
		}
	}
}
