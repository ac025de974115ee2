package render_test

import (
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"sift.build/sift/internal/render"
	"sift.build/sift/internal/sift"
)

func codeIn(t *testing.T, doc *sift.Document, mode sift.Mode) render.Rendered {
	t.Helper()
	r, err := render.Content(doc, mode)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestSourceCodeIsOneBlockThatItCannotLeave(t *testing.T) {
	for _, code := range []string{
		"x", "a\nb\n", "```\nends?\n```\n# heading\n", "````` \n", "~~~\n", "\n\n\n", "a\r\nb\r\n", "    indented\n",
		strings.Repeat("`", 900) + "\n", strings.Repeat("`", 2000) + "\n~~~\n",
	} {
		doc := &sift.Document{Kind: sift.KindCode, MediaType: "text/x-go", Text: code}
		r := codeIn(t, doc, sift.ModeClean)
		if !r.IsMarkdown() {
			t.Errorf("%.20q: not Markdown", code)
		}
		src := []byte(r.Content)
		root := goldmark.DefaultParser().Parse(text.NewReader(src))
		block, ok := root.FirstChild().(*ast.FencedCodeBlock)
		if !ok || root.ChildCount() != 1 || string(block.Language(src)) != "go" {
			t.Errorf("%.20q became %.60q", code, r.Content)
			continue
		}
		if got := string(block.Lines().Value(src)); strings.TrimSuffix(got, "\n") != strings.TrimSuffix(code, "\n") {
			t.Errorf("%.20q came back as %.60q", code, got)
		}
	}
	// No fence is long enough.
	doc := &sift.Document{Kind: sift.KindCode, MediaType: "text/x-go", Text: strings.Repeat("`", 2000) + "\n" + strings.Repeat("~", 2000)}
	if r := codeIn(t, doc, sift.ModeClean); r.Content != doc.Text || r.IsMarkdown() {
		t.Errorf("%d characters", r.Chars)
	}
}

func TestSourceCodeIsNamedByItsMediaType(t *testing.T) {
	for mediaType, want := range map[string]string{
		"text/x-python": "python", "text/javascript": "javascript", "application/yaml": "yaml", "application/xml": "xml", "image/svg+xml": "xml",
		"application/vnd.x+xml": "xml", "text/x-cpp": "cpp", "text/x-`evil": "", "text/x-" + strings.Repeat("a", 40): "",
	} {
		r := codeIn(t, &sift.Document{Kind: sift.KindCode, MediaType: mediaType, Text: "a < b\n"}, sift.ModeFull)
		if r.Content != "```"+want+"\na < b\n```" {
			t.Errorf("%s: %q", mediaType, r.Content)
		}
		class := ""
		if want != "" {
			class = ` class="language-` + want + `"`
		}
		if r := codeIn(t, &sift.Document{Kind: sift.KindCode, MediaType: mediaType, Text: "a < b\n"}, sift.ModeHTML); r.Content != "<pre><code"+class+">a &lt; b\n</code></pre>" {
			t.Errorf("%s: %q", mediaType, r.Content)
		}
	}
	links := codeIn(t, &sift.Document{Kind: sift.KindCode, MediaType: "text/x-go", Text: "// see https://a.example/x\n"}, sift.ModeLinks)
	if links.Content != "- [https://a.example/x](https://a.example/x)" {
		t.Errorf("links: %q", links.Content)
	}
}

func TestWindowsOnSourceCodeJoinToTheWhole(t *testing.T) {
	var b strings.Builder
	for range 300 {
		b.WriteString("func f() { return }\n\n// a comment\n")
	}
	r := codeIn(t, &sift.Document{Kind: sift.KindCode, MediaType: "text/x-go", Text: b.String()}, sift.ModeClean)
	var joined strings.Builder
	for offset, more := 0, true; more; {
		var part string
		if part, offset, more = render.Window(r.Content, offset, 500); part == "" {
			t.Fatal("an empty window")
		}
		joined.WriteString(part)
	}
	if joined.String() != r.Content {
		t.Error("the windows do not join")
	}
}

func TestAnAddressThatStandsForItselfIsWrittenOnce(t *testing.T) {
	link := func(text, href string) *html.Node {
		body := &html.Node{Type: html.ElementNode, Data: "body", DataAtom: atom.Body}
		p := &html.Node{Type: html.ElementNode, Data: "p", DataAtom: atom.P}
		a := &html.Node{Type: html.ElementNode, Data: "a", DataAtom: atom.A, Attr: []html.Attribute{{Key: "href", Val: href}}}
		a.AppendChild(&html.Node{Type: html.TextNode, Data: text})
		p.AppendChild(a)
		body.AppendChild(p)
		return body
	}
	for href, want := range map[string]string{
		"http://a.example/x_y?a=1&b=2":  "<http://a.example/x_y?a=1&b=2>",
		"https://a.example/(x)":         "<https://a.example/(x)>",
		"http://a.example/?a=1&amp;b=2": "[http://a.example/?a=1\\&amp;b=2](http://a.example/?a=1&amp;amp;b=2)", // a reference would be read as one
		"mailto:a@a.example":            "[mailto:a@a.example](mailto:a@a.example)",
	} {
		doc := &sift.Document{Kind: sift.KindSitemap, Main: link(href, href)}
		got := codeIn(t, doc, sift.ModeClean).Content
		if got != want {
			t.Errorf("%s became %s, want %s", href, got, want)
		}
		if other := codeIn(t, &sift.Document{Kind: sift.KindSitemap, Main: link("here", href)}, sift.ModeClean).Content; !strings.HasPrefix(other, "[here](") {
			t.Errorf("%s under another text became %s", href, other)
		}
	}
}
