package render

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"sift.build/sift/internal/dom"
	"sift.build/sift/internal/sift"
)

// shape is what a page and the Markdown made of it must have in common: counted
// in the tree on one side, found by a parser of Markdown on the other.
type shape struct {
	headings []int          // their levels
	code     []string       // what each code block holds
	tables   int            //
	links    map[string]int // where they lead
	images   map[string]int
	text     map[rune]int // how often each letter and digit stands in the text

	foreign []string // in Markdown: HTML that is not the writer's, and blocks that it never makes
	loose   bool     // in a tree: more text is written than it has, such as the letters of a list
	bent    bool     // in a tree: text is changed or moved on purpose, as in formulas and notes
	deep    bool     // in a tree: more containers inside each other than are kept
}

func newShape() *shape {
	return &shape{links: map[string]int{}, images: map[string]int{}, text: map[rune]int{}}
}

func (s *shape) say(text string) {
	for _, r := range text {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			s.text[r]++
		}
	}
}

// meant reads the shape of a tree in the normal form, by the rules that Markdown
// leaves no choice about: a heading and a cell are one line, and what would be a
// block in one is text there.
func meant(body *html.Node) *shape {
	s := newShape()
	// In a line there are no blocks, in a flat one nothing but text, in a link no other.
	var walk func(n *html.Node, line, cell, flat, link bool, around int)
	walk = func(n *html.Node, line, cell, flat, link bool, around int) {
		if n.Type == html.TextNode {
			s.say(n.Data)
			return
		}
		s.deep = s.deep || around > segsMax-2
		if line && !cell {
			switch n.DataAtom {
			case atom.Pre, atom.Ul, atom.Ol, atom.Dl, atom.Table, atom.Blockquote:
				flat = true
			}
		}
		switch n.DataAtom {
		case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
			if !line && !cell && written(n) {
				s.headings = append(s.headings, dom.HeadingLevel(n))
			}
			line = line || !cell
			around++
		case atom.Pre:
			flat = true
			if code := strings.Trim(strings.ReplaceAll(raw(n), "\r", ""), "\n"); !line && !cell && strings.Trim(code, " \t\n") != "" {
				s.code = append(s.code, bare(code))
			}
		case atom.Code:
			if a := n.FirstChild; a != nil && a == n.LastChild && a.DataAtom == atom.A && dom.Attr(a, "href") != "" {
				if !flat && !link && strings.TrimSpace(raw(a)) != "" {
					s.links[dom.Attr(a, "href")]++
				}
			}
			flat = true
		case atom.Table:
			flat = flat || cell
			if !line && !cell && len(rowsWithCells(n)) > 0 {
				s.tables++
			}
		case atom.Td, atom.Th:
			line, cell = false, true
		case atom.A:
			if dom.Attr(n, "data-noteref") != "" {
				s.bent = true
			} else if href := dom.Attr(n, "href"); href != "" && !flat && !link && written(n) {
				s.links[href]++
				link = true
			}
		case atom.Img:
			if src := dom.Attr(n, "src"); flat {
				break
			} else if src != "" {
				s.images[src]++
			} else if alt := dom.Attr(n, "alt"); alt != "" {
				s.say("Image" + alt)
			}
		case atom.Span:
			s.bent = s.bent || dom.Attr(n, "data-math") != ""
		case atom.Ol:
			s.loose = s.loose || len(n.Attr) > 0 || cell
		case atom.Li, atom.Blockquote, atom.Dd:
			around++
			s.loose = s.loose || cell
		case atom.Input:
			s.loose = true
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c, line, cell, flat, link, around)
		}
	}
	walk(body, false, false, false, false, 0)
	return s
}

// written says that something of n ends up on the line: text or a picture.
func written(n *html.Node) bool {
	for c := range n.Descendants() {
		if c.Type == html.TextNode && strings.Trim(c.Data, " \n\t\r") != "" || c.DataAtom == atom.Img && (dom.Attr(c, "src") != "" || dom.Attr(c, "alt") != "") {
			return true
		}
	}
	return false
}

func rowsWithCells(n *html.Node) (rows []*html.Node) {
	for _, r := range rowsOf(n) {
		for c := r.FirstChild; c != nil; c = c.NextSibling {
			if isCell(c) {
				rows = append(rows, r)
				break
			}
		}
	}
	return rows
}

// bare is code without the white space of lines that have nothing else, which
// is not written inside a list or a quote.
func bare(code string) string {
	lines := strings.Split(code, "\n")
	for i, l := range lines {
		if strings.Trim(l, " \t") == "" {
			lines[i] = ""
		}
	}
	return strings.Join(lines, "\n")
}

// tagsWritten are the tags that the writer makes where Markdown has no sign.
var tagsWritten = []string{"<br>", "<strong>", "</strong>", "<em>", "</em>", "<del>", "</del>", "<sub>", "</sub>", "<sup>", "</sup>"}

// itemOfX is a link at the beginning of an item that goldmark, unlike GitHub,
// takes for a task and its box.
var itemOfX = regexp.MustCompile(`((?:[-+]|\d[.)]) )\[([xX])\]\(`)

// found reads the shape of Markdown with a parser of GitHub's flavour.
func found(t testing.TB, markdown string) *shape {
	t.Helper()
	s := newShape()
	src := []byte(itemOfX.ReplaceAllString(markdown, "$1[$2.]("))
	root := goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote)).Parser().Parse(text.NewReader(src))
	lines := func(n ast.Node) string {
		var b strings.Builder
		for i := range n.Lines().Len() {
			seg := n.Lines().At(i)
			b.Write(seg.Value(src))
		}
		return strings.TrimSuffix(b.String(), "\n")
	}
	err := ast.Walk(root, func(n ast.Node, in bool) (ast.WalkStatus, error) {
		if !in {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			s.headings = append(s.headings, n.Level)
		case *ast.FencedCodeBlock:
			code := lines(n)
			s.code = append(s.code, bare(code))
			s.say(code)
		case *ast.CodeBlock, *ast.HTMLBlock:
			s.foreign = append(s.foreign, n.Kind().String()+" "+lines(n))
		case *east.Table:
			s.tables++
		case *ast.Link:
			s.links[string(n.Destination)]++
		case *ast.AutoLink:
			label := n.Label(src)
			s.say(unescapeMarkdown(string(label)))
			if from := cap(src) - cap(label); from > 0 && src[from-1] == '<' { // else text that looks like an address
				s.links[string(n.URL(src))]++
			}
		case *ast.Image:
			s.images[string(n.Destination)]++
			return ast.WalkSkipChildren, nil
		case *ast.Text:
			if p := n.Parent(); p != nil && p.Kind() == ast.KindCodeSpan {
				s.say(string(n.Value(src)))
			} else {
				s.say(unescapeMarkdown(string(n.Value(src))))
			}
		case *ast.String:
			s.say(string(n.Value))
		case *ast.RawHTML:
			var b strings.Builder
			for i := range n.Segments.Len() {
				seg := n.Segments.At(i)
				b.Write(seg.Value(src))
			}
			if !slices.Contains(tagsWritten, b.String()) {
				s.foreign = append(s.foreign, b.String())
			}
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// survives holds that a parser of Markdown finds in what was written of a tree
// what stands in the tree, and nothing else: no text of a page can make a
// heading, a link, code, a table or HTML, and none is lost.
func survives(t testing.TB, body *html.Node) {
	t.Helper()
	r, err := Content(&sift.Document{Kind: sift.KindHTML, Main: body, Page: body}, sift.ModeClean)
	if err != nil {
		t.Fatal(err)
	}
	want, got := meant(body), found(t, r.Content)
	if want.deep {
		return
	}
	for _, d := range differences(want, got) {
		t.Errorf("%s in %q", d, r.Content)
	}
}

func differences(want, got *shape) (out []string) {
	differ := func(what string, want, got any) {
		out = append(out, fmt.Sprintf("%s: %v meant, %v read", what, want, got))
	}
	for _, f := range got.foreign {
		out = append(out, fmt.Sprintf("not of the writer: %q", f))
	}
	slices.Sort(want.headings) // a note goes to the end
	slices.Sort(got.headings)
	if !slices.Equal(want.headings, got.headings) {
		differ("headings", want.headings, got.headings)
	}
	slices.Sort(want.code)
	slices.Sort(got.code)
	if !slices.Equal(want.code, got.code) {
		out = append(out, fmt.Sprintf("code: %q meant, %q read", want.code, got.code))
	}
	if want.tables != got.tables {
		differ("tables", want.tables, got.tables)
	}
	links := make(map[string]bool)
	for href := range want.links {
		links[destination(href, true)], links[destination(href, false)] = true, true
	}
	images := make(map[string]bool)
	for src := range want.images {
		images[destination(src, true)], images[destination(src, false)] = true, true
	}
	for _, c := range []struct {
		what    string
		allowed map[string]bool
		read    map[string]int
	}{{"links", links, got.links}, {"images", images, got.images}} {
		for _, to := range slices.Sorted(maps.Keys(c.read)) {
			if !c.allowed[strings.ReplaceAll(to, "&", "&amp;")] && !c.allowed[to] {
				differ(c.what, slices.Sorted(maps.Keys(c.allowed)), to)
			}
		}
	}
	if sum(want.links) != sum(got.links) && !want.bent {
		differ("number of links", want.links, got.links)
	}
	if sum(want.images) != sum(got.images) && !want.bent {
		differ("number of images", want.images, got.images)
	}
	if want.bent {
		return out
	}
	for _, r := range slices.Sorted(maps.Keys(want.text)) {
		if got.text[r] < want.text[r] {
			differ(fmt.Sprintf("letter %q", r), want.text[r], got.text[r])
		}
	}
	for _, r := range slices.Sorted(maps.Keys(got.text)) {
		if got.text[r] > want.text[r] && !want.loose {
			differ(fmt.Sprintf("letter %q", r), want.text[r], got.text[r])
		}
	}
	return out
}

func sum(m map[string]int) (n int) {
	for _, v := range m {
		n += v
	}
	return n
}
