package render

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"golang.org/x/net/html"
	"pgregory.net/rapid"

	"sift.build/sift/internal/normalize"
	"sift.build/sift/internal/sift"
)

// The model of a page in these tests: blocks as HTML has them, and as an
// independent Markdown parser finds them in what was rendered.
type block struct {
	Kind   string // heading, p, ul, ol, code, quote, table, hr
	Level  int    // of a heading; the start of an ol
	Text   string // of a heading, p, code; of a table's cells, joined with U+241F
	Lang   string
	Cols   int
	Links  []string
	Items  [][]block // of lists
	Blocks []block   // of quotes
}

// nasty is text that looks like Markdown.
var nasty = []string{
	"a", "word", "1.", "1)", "2.", "10.", "123456789.", "1234567890.", "-", "--", "---", "+", "+1", "*", "**", "***", "_", "__", "a_b", "_a_", "*b*", "**c**", "#", "##", "#tag",
	"#######", ">", ">>", "<b>", "</div>", "<!--", "-->", "<?x", "<1", "< ", "&amp;", "&lt;", "&", "&#35;", "&copy", "[x]", "[ ]", "[", "]", "(", ")", "[a](b)", "![i](u)", "!", "[^1]",
	"[^1]:", "[r]: /e", "](x)", "]:", "[a][b]", "`", "``", "```", "```go", "~~~", "~", "~~", "~~d~~", "|", "|---|", "---|---", "|:-:|", ":--", ":", "===", "=", "\\", "\\\\", "\\*",
	"C:\\dir", "$x$", "$", "http://a.b/c_d_e ", "https://x.y/~u ", "www.x.y ", "漢字", "é", "👩‍👩‍👧", "“q”", "{#id}", "%", "0", "10", ".", ",", "'", "\"", "<a href=x>", "<http://u.v>",
	"- x", "+ x", "* x", "1. x", "# x", "> x", "    x", "a |", "| b", "_.", "._", "*.", ".*", "(*", "*)", "a*", "*a", "a_", "_a", "<br>", "\u00a0", "&nbsp;", "---x", "…", "–", "»", "«",
}

func genText(t *rapid.T, label string) string {
	n := rapid.IntRange(1, 6).Draw(t, label+"#")
	var b strings.Builder
	for range n {
		b.WriteString(rapid.SampledFrom(nasty).Draw(t, label))
		if rapid.Bool().Draw(t, "space") {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// inlineHTML gives markup for running text, what it says and where it links.
func genInline(t *rapid.T, depth int, breaks bool) (markup, says string, links []string) {
	n := rapid.IntRange(1, 4).Draw(t, "inlines")
	var m, s strings.Builder
	for range n {
		k := rapid.IntRange(0, 9).Draw(t, "inline")
		switch {
		case k <= 4 || depth > 2:
			x := genText(t, "text")
			m.WriteString(html.EscapeString(x))
			s.WriteString(x)
		case k == 5:
			x := strings.TrimSpace(genText(t, "code"))
			if x = strings.ReplaceAll(x, "\u00a0", ""); x == "" {
				x = "c"
			}
			m.WriteString("<code>" + html.EscapeString(x) + "</code> ")
			s.WriteString(x + " ")
		case k == 6:
			tag := rapid.SampledFrom([]string{"b", "i", "em", "strong", "s", "span", "u"}).Draw(t, "tag")
			mm, ss, ll := genInline(t, depth+1, breaks)
			m.WriteString("<" + tag + ">" + mm + "</" + tag + ">")
			s.WriteString(ss)
			links = append(links, ll...)
		case k == 7 && depth < 2:
			u := rapid.SampledFrom([]string{"https://h.example/a", "https://h.example/a_(b)", "https://h.example/?q=1&copy=2", "https://h.example/x)y", "https://h.example/a*b_c_", "https://h.example/%5Bx%5D"}).Draw(t, "url")
			x := genText(t, "linktext")
			if s := squash(x); s == "x" || s == "X" {
				x = "y" // goldmark, unlike GitHub, reads - [x](url) as a task
			}
			m.WriteString(`<a href="` + html.EscapeString(u) + `">` + html.EscapeString(x) + "</a> ") // links that touch are set apart
			s.WriteString(x + " ")
			if strings.Trim(x, " \u00a0") != "" {
				links = append(links, u)
			}
		case k == 8 && breaks:
			m.WriteString("<br>")
			s.WriteByte('\n')
		default:
			m.WriteString(" ")
			s.WriteString(" ")
		}
	}
	return m.String(), s.String(), links
}

func squash(s string) string { return strings.Join(strings.Fields(s), " ") }

func genBlocks(t *rapid.T, depth int) (markup string, want []block) {
	var m strings.Builder
	for range rapid.IntRange(1, 4).Draw(t, "blocks") {
		k := rapid.IntRange(0, 8).Draw(t, "block")
		if depth > 2 {
			k = min(k, 1)
		}
		switch k {
		case 0:
			mm, ss, ll := genInline(t, 0, false)
			l := rapid.IntRange(1, 6).Draw(t, "level")
			fmt.Fprintf(&m, "<h%d>%s</h%d>", l, mm, l)
			if squash(ss) != "" {
				want = append(want, block{Kind: "heading", Level: l, Text: squash(ss), Links: ll})
			}
		default:
			mm, ss, ll := genInline(t, 0, true)
			m.WriteString("<p>" + mm + "</p>")
			want = append(want, paragraphs(ss, ll)...)
		case 2, 3:
			tag, start := "ul", 0
			if k == 3 {
				tag, start = "ol", rapid.IntRange(0, 120).Draw(t, "start")
				fmt.Fprintf(&m, `<ol start="%d">`, start)
			} else {
				m.WriteString("<ul>")
			}
			b := block{Kind: tag, Level: start}
			lead := 0
			for i := range rapid.IntRange(1, 4).Draw(t, "items") {
				mm, ww := genBlocks(t, depth+1)
				if rapid.Bool().Draw(t, "tight") {
					var ss string
					var ll []string
					mm, ss, ll = genInline(t, 0, false)
					ww = paragraphs(ss, ll)
				}
				m.WriteString("<li>" + mm + "</li>")
				if len(ww) > 0 {
					b.Items = append(b.Items, ww)
				} else if len(b.Items) == 0 {
					lead = i + 1
				}
			}
			if start > 0 || k == 3 {
				b.Level += lead
			}
			m.WriteString("</" + tag + ">")
			if len(b.Items) > 0 {
				want = append(want, b)
			}
		case 4:
			lang := rapid.SampledFrom([]string{"", "go", "c++", "python"}).Draw(t, "lang")
			var lines []string
			for range rapid.IntRange(1, 4).Draw(t, "lines") {
				lines = append(lines, strings.ReplaceAll(rapid.SampledFrom([]string{"", "  ", "\t", "    "}).Draw(t, "indent")+genText(t, "codeline"), "\u00a0", " "))
			}
			code := strings.Join(lines, "\n")
			code = strings.TrimRight(code, " \t\n")
			if strings.TrimSpace(strings.SplitN(code, "\n", 2)[0]) == "" {
				code = strings.TrimRight("x\n"+code, " \t\n")
			}
			lines = strings.Split(code, "\n")
			for i, l := range lines { // a line of nothing but white space is an empty one
				if strings.TrimSpace(l) == "" {
					lines[i] = ""
				}
			}
			code = strings.Join(lines, "\n")
			m.WriteString(`<pre><code class="language-` + lang + `">` + html.EscapeString(code) + "\n</code></pre>")
			want = append(want, block{Kind: "code", Lang: lang, Text: code})
		case 5:
			mm, ww := genBlocks(t, depth+1)
			m.WriteString("<blockquote>" + mm + "</blockquote>")
			if len(ww) > 0 {
				want = append(want, block{Kind: "quote", Blocks: ww})
			}
		case 6:
			cols := rapid.IntRange(2, 4).Draw(t, "cols")
			b := block{Kind: "table", Cols: cols}
			m.WriteString("<table>")
			var cells []string
			for r := range rapid.IntRange(2, 3).Draw(t, "rows") {
				m.WriteString("<tr>")
				for range cols {
					mm, ss, ll := genInline(t, 1, false)
					if r == 0 {
						mm, ss = "h"+mm, "h"+ss
						m.WriteString("<th>" + mm + "</th>")
					} else {
						m.WriteString("<td>" + mm + "</td>")
					}
					cells = append(cells, squash(ss))
					b.Links = append(b.Links, ll...)
				}
				m.WriteString("</tr>")
			}
			m.WriteString("</table>")
			b.Text = strings.Join(cells, "␟")
			want = append(want, b)
		case 7:
			m.WriteString("<hr>")
			want = append(want, block{Kind: "hr"})
		}
	}
	return m.String(), want
}

// paragraphs splits running text where two line breaks or more stand.
func paragraphs(s string, links []string) (out []block) {
	var text []string
	for line := range strings.SplitSeq(s, "\n") {
		if line = squash(line); line != "" {
			text = append(text, line)
		}
	}
	if len(text) == 0 {
		return nil
	}
	return []block{{Kind: "p", Text: strings.Join(text, " "), Links: links}}
}

// parsed reads Markdown with goldmark into the model.
func parsed(src string) []block {
	md := goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote))
	b := []byte(src)
	return blocksOf(md.Parser().Parse(text.NewReader(b)), b)
}

func blocksOf(n ast.Node, src []byte) (out []block) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Heading:
			s, l := inlineOf(c, src)
			out = append(out, block{Kind: "heading", Level: c.Level, Text: squash(s), Links: l})
		case *ast.Paragraph, *ast.TextBlock:
			s, l := inlineOf(c, src)
			b := block{Kind: "p", Text: squash(s), Links: l}
			// Two line breaks in HTML are a paragraph's end in Markdown.
			out = append(out, b)
		case *ast.List:
			b := block{Kind: "ul"}
			if c.IsOrdered() {
				b = block{Kind: "ol", Level: c.Start}
			}
			for i := c.FirstChild(); i != nil; i = i.NextSibling() {
				b.Items = append(b.Items, blocksOf(i, src))
			}
			out = append(out, b)
		case *ast.FencedCodeBlock:
			var s strings.Builder
			for i := range c.Lines().Len() {
				seg := c.Lines().At(i)
				s.Write(seg.Value(src))
			}
			out = append(out, block{Kind: "code", Lang: string(c.Language(src)), Text: strings.TrimSuffix(s.String(), "\n")})
		case *ast.Blockquote:
			out = append(out, block{Kind: "quote", Blocks: blocksOf(c, src)})
		case *ast.ThematicBreak:
			out = append(out, block{Kind: "hr"})
		case *east.Table:
			b := block{Kind: "table"}
			var cells []string
			for r := c.FirstChild(); r != nil; r = r.NextSibling() {
				cols := 0
				for d := r.FirstChild(); d != nil; d = d.NextSibling() {
					s, l := inlineOf(d, src)
					cells = append(cells, squash(s))
					b.Links = append(b.Links, l...)
					cols++
				}
				b.Cols = max(b.Cols, cols)
			}
			b.Text = strings.Join(cells, "␟")
			out = append(out, b)
		default:
			out = append(out, block{Kind: c.Kind().String()})
		}
	}
	return out
}

func inlineOf(n ast.Node, src []byte) (string, []string) {
	var b strings.Builder
	var links []string
	ast.Walk(n, func(c ast.Node, in bool) (ast.WalkStatus, error) {
		if !in {
			return ast.WalkContinue, nil
		}
		switch c := c.(type) {
		case *ast.Text:
			if p := c.Parent(); p != nil && p.Kind() == ast.KindCodeSpan {
				b.Write(c.Value(src))
				return ast.WalkContinue, nil
			}
			b.WriteString(unescapeMarkdown(string(c.Value(src))))
			if c.SoftLineBreak() || c.HardLineBreak() {
				b.WriteByte('\n')
			}
		case *ast.String:
			b.Write(c.Value)
		case *ast.AutoLink:
			b.WriteString(unescapeMarkdown(string(c.Label(src))))
		case *ast.Link:
			links = append(links, strings.NewReplacer("%28", "(", "%29", ")").Replace(string(c.Destination)))
		case *ast.Image:
			b.WriteString("<<image>>")
		case *east.TaskCheckBox:
			b.WriteString("<<task>>")
		case *east.FootnoteLink:
			b.WriteString("<<note>>")
		case *ast.RawHTML:
			var raw strings.Builder
			for i := range c.Segments.Len() {
				seg := c.Segments.At(i)
				raw.Write(seg.Value(src))
			}
			switch raw.String() {
			case "<strong>", "</strong>", "<em>", "</em>", "<del>", "</del>": // where signs would not do
			default:
				b.WriteString("<<html>>" + raw.String())
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String(), links
}

// unescapeMarkdown resolves what goldmark leaves in the text of its tree until
// it is rendered: backslashes and character references.
func unescapeMarkdown(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", s[i+1]) >= 0 {
			i++
			b.WriteByte(s[i])
			continue
		}
		if s[i] == '&' {
			if j := strings.IndexByte(s[i:], ';'); j > 0 && strings.IndexByte(s[i+1:i+j], '&') < 0 {
				if u := html.UnescapeString(s[i : i+j+1]); u != s[i:i+j+1] {
					b.WriteString(u)
					i += j
					continue
				}
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func tree(t interface{ Fatal(...any) }, markup string) *html.Node {
	doc, err := html.Parse(strings.NewReader(markup))
	if err != nil {
		t.Fatal(err)
	}
	base, _ := url.Parse("https://example.com/docs/guide/page.html")
	return normalize.Page(doc, base).Body
}

func markdownOf(t interface{ Fatal(...any) }, markup string) string {
	body := tree(t, markup)
	r, err := Content(&sift.Document{Kind: sift.KindHTML, Main: body, Page: body}, sift.ModeClean)
	if err != nil {
		t.Fatal(err)
	}
	return r.Content
}

// flattenBlocks joins paragraphs that follow each other: where one ends is a
// matter of line breaks, which other tests look at.
func flattenBlocks(in []block) (out []block) {
	for _, b := range in {
		for i := range b.Items {
			b.Items[i] = flattenBlocks(b.Items[i])
		}
		b.Blocks = flattenBlocks(b.Blocks)
		if b.Kind == "p" && len(out) > 0 && out[len(out)-1].Kind == "p" {
			last := &out[len(out)-1]
			last.Text = squash(last.Text + " " + b.Text)
			last.Links = append(last.Links, b.Links...)
			continue
		}
		if len(b.Links) == 0 {
			b.Links = nil
		}
		out = append(out, b)
	}
	return out
}

func TestTheStructureOfAPageSurvivesTheWayThroughMarkdown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		markup, want := genBlocks(t, 0)
		md := markdownOf(t, "<body>"+markup)
		got := parsed(md)
		if d := cmp.Diff(flattenBlocks(want), flattenBlocks(got)); d != "" {
			t.Fatalf("page and Markdown differ (-page +Markdown)\n%s\n--- HTML\n%s\n--- Markdown\n%s", d, markup, md)
		}
	})
}
