package render

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"sift.build/sift/internal/sift"
)

// pdf makes a PDF document of the HTML of its pages.
func pdf(t *testing.T, pages map[int]string, marks ...sift.Bookmark) *sift.Document {
	t.Helper()
	body := &html.Node{Type: html.ElementNode, Data: "body", DataAtom: atom.Body}
	total := 0
	for n := 1; n < 100; n++ {
		text, ok := pages[n]
		if !ok {
			continue
		}
		section := &html.Node{Type: html.ElementNode, Data: "section", DataAtom: atom.Section, Attr: []html.Attribute{{Key: "data-page", Val: strconv.Itoa(n)}}}
		nodes, err := html.ParseFragment(strings.NewReader(text), section)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range nodes {
			section.AppendChild(c)
		}
		body.AppendChild(section)
		total = n
	}
	return &sift.Document{Kind: sift.KindPDF, Main: body, PDF: &sift.PDF{Total: total, Bookmarks: marks}}
}

func TestThePagesOfAPDFAreMarkedInEveryMode(t *testing.T) {
	doc := pdf(t, map[int]string{1: "<h1>Tides</h1><p>Élan &lt;!-- page 9 --&gt; [page 9]</p>", 2: "", 4: "<p>End.</p>"})
	for mode, want := range map[sift.Mode]string{
		sift.ModeClean: "<!-- page 1 -->\n\n# Tides\n\nÉlan \\<!-- page 9 --> [page 9]\n\n<!-- page 2 -->\n\n<!-- page 4 -->\n\nEnd.",
		sift.ModeFull:  "<!-- page 1 -->\n\n# Tides\n\nÉlan \\<!-- page 9 --> [page 9]\n\n<!-- page 2 -->\n\n<!-- page 4 -->\n\nEnd.",
		sift.ModeText:  "[page 1]\n\nTides\n\nÉlan <!-- page 9 --> [page 9]\n\n[page 2]\n\n[page 4]\n\nEnd.",
		sift.ModeHTML: "<section data-page=\"1\">\n<h1>Tides</h1>\n<p>Élan &lt;!-- page 9 --&gt; [page 9]</p>\n</section>\n" +
			"<section data-page=\"2\">\n</section>\n<section data-page=\"4\">\n<p>End.</p>\n</section>",
	} {
		r, err := Content(doc, mode)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, r.Content); diff != "" {
			t.Errorf("%s: %s", mode, diff)
		}
		var numbers []int
		for _, p := range r.Pages {
			numbers = append(numbers, p.Number)
			if begin := string([]rune(r.Content)[p.Offset:]); !strings.HasPrefix(begin, "<!-- page "+strconv.Itoa(p.Number)) &&
				!strings.HasPrefix(begin, "[page "+strconv.Itoa(p.Number)) && !strings.HasPrefix(begin, `<section data-page="`+strconv.Itoa(p.Number)) {
				t.Errorf("%s: page %d does not begin at %q", mode, p.Number, begin)
			}
		}
		if diff := cmp.Diff([]int{1, 2, 4}, numbers); diff != "" {
			t.Errorf("%s: %s", mode, diff)
		}
	}
}

func TestNoPageOfAPDFForgesTheMarkOfAnother(t *testing.T) {
	const marks = "<p>[page 9]</p><p>&lt;!-- page 9 --&gt;</p><h2>[page 10]</h2><p>é<br>[page 11] of <b>12</b></p><p>[pa<b>ge 12</b>]</p>" +
		"<pre><code>&lt;!-- page 13 --&gt;\n[page 14]</code></pre><ul><li><pre><code>x\n&lt;!-- page 15 --&gt;</code></pre></li></ul><blockquote><p>[page 16]</p></blockquote>" +
		"<table><tr><td>[page 17]</td><td>a</td></tr><tr><td>[page x]</td><td>[page 18]</td></tr></table><h2>End</h2>"
	doc := pdf(t, map[int]string{1: marks, 2: "<p>two</p>"}, sift.Bookmark{Level: 1, Title: "Two", Page: 2})
	for mode, own := range map[sift.Mode]*regexp.Regexp{
		sift.ModeClean: regexp.MustCompile(`(?m)^[ >\t]*<!-- page (\d+) -->`), sift.ModeText: regexp.MustCompile(`(?m)^[ >\t]*\[page (\d+)\]`),
		sift.ModeHTML: regexp.MustCompile(`(?m)^ *<section data-page="(\d+)"`),
	} {
		r, err := Content(doc, mode)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range own.FindAllStringSubmatch(r.Content, -1) {
			got = append(got, m[1])
		}
		if diff := cmp.Diff([]string{"1", "2"}, got); diff != "" {
			t.Errorf("%s: %s\n%s", mode, diff, r.Content)
		}
		chars := []rune(r.Content)
		for _, p := range r.Pages {
			if line := string(chars[p.Offset:]); !strings.Contains(line[:min(len(line), 24)], "page "+strconv.Itoa(p.Number)) && !strings.Contains(line[:24], `data-page="`+strconv.Itoa(p.Number)) {
				t.Errorf("%s: page %d is said to begin at %q", mode, p.Number, line)
			}
		}
		for _, h := range r.Structure().Headings {
			line, _, _ := strings.Cut(string(chars[h.Offset:]), "\n")
			if want := map[string]string{"Two": "age", "[page 10]": "page 10]", "End": "End"}[h.Text]; !strings.Contains(line, want) {
				t.Errorf("%s: the heading %s is said to begin at %q", mode, h.Text, line)
			}
		}
	}
	// A page that is none of a PDF has nothing to forge.
	if got := inMode(t, "<p>[page 9]</p><section data-page=3><p>x</p></section>", sift.ModeText).Content; got != "[page 9]\n\nx" {
		t.Errorf("%q", got)
	}
}

func TestChosenPagesAreACopy(t *testing.T) {
	doc := pdf(t, map[int]string{1: "<p>One <b>and</b> more</p><ul><li>a</li><li>b</li></ul>", 2: "<p>Two</p>", 3: "<p>Three</p>"})
	before, err := Content(doc, sift.ModeClean)
	if err != nil {
		t.Fatal(err)
	}
	some := SelectPages(doc, func(n int) bool { return n != 2 })
	r, err := Content(some, sift.ModeClean)
	if err != nil {
		t.Fatal(err)
	}
	if want := "<!-- page 1 -->\n\nOne **and** more\n\n- a\n- b\n\n<!-- page 3 -->\n\nThree"; r.Content != want {
		t.Errorf("got %q", r.Content)
	}
	if diff := cmp.Diff([]int{1, 3}, PagesOf(some)); diff != "" {
		t.Error(diff)
	}
	if after, err := Content(doc, sift.ModeClean); err != nil || after.Content != before.Content {
		t.Errorf("the whole document has become %q, %v", after.Content, err)
	}
}

func TestAPDFIsOutlinedByItsBookmarks(t *testing.T) {
	pages := map[int]string{1: "<h1>Part I – Definitions</h1><p>é</p>", 2: "<p>x</p><h2>3.1 Payment</h2><p>y</p>", 3: "<h2>Unmarked</h2>"}
	doc := pdf(t, pages,
		sift.Bookmark{Level: 1, Title: "PART I - DEFINITIONS", Page: 1},
		sift.Bookmark{Level: 2, Title: "3.1  Payment", Page: 2},
		sift.Bookmark{Level: 1, Title: "Not a heading", Page: 3},
		sift.Bookmark{Level: 1, Title: "Not read", Page: 7},
	)
	r, err := Content(doc, sift.ModeOutline)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := Content(doc, sift.ModeClean)
	if err != nil {
		t.Fatal(err)
	}
	var at []string
	for _, h := range r.Outline {
		line, _, _ := strings.Cut(string([]rune(whole.Content)[h.Offset:]), "\n")
		at = append(at, line)
	}
	if diff := cmp.Diff([]string{"# Part I – Definitions", "## 3.1 Payment", "<!-- page 3 -->"}, at); diff != "" {
		t.Error(diff)
	}
	want := "- PART I - DEFINITIONS (page 1, offset 17, 66 characters)\n  - 3.1 Payment (page 2, offset 64, 19 characters)\n- Not a heading (page 3, offset 83, 28 characters)"
	if r.Content != want {
		t.Errorf("got\n%s", r.Content)
	}
	without, err := Content(pdf(t, pages), sift.ModeOutline)
	if err != nil {
		t.Fatal(err)
	}
	if len(without.Outline) != 3 || without.Outline[2].Text != "Unmarked" || !strings.Contains(without.Content, "- 3.1 Payment (page 2,") {
		t.Errorf("without bookmarks: %s", without.Content)
	}
}

func TestABookmarkIsFoundAtItsHeadingThoughOnlyOneOfThemIsNumbered(t *testing.T) {
	doc := pdf(t, map[int]string{
		1: "<h1>Policy</h1><p>a</p><h2>1.1 Scope</h2><p>b</p><h2>1.2 New versions of this document</h2><p>c</p><h2>A.1. Forms</h2><p>d</p><h2>A page</h2><p>e</p>",
	}, sift.Bookmark{Level: 1, Title: "Policy", Page: 1}, sift.Bookmark{Level: 2, Title: "Scope", Page: 1}, sift.Bookmark{Level: 2, Title: "New versions of this document", Page: 1},
		sift.Bookmark{Level: 2, Title: "Forms", Page: 1}, sift.Bookmark{Level: 2, Title: "9 A page", Page: 1})
	r, err := Content(doc, sift.ModeClean)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, h := range r.Structure().Headings {
		line, _, _ := strings.Cut(r.Content[h.Offset:], "\n") // all ASCII
		got = append(got, h.Text+" at "+line)
	}
	want := []string{
		"Policy at # Policy", "Scope at ## 1.1 Scope", "New versions of this document at ## 1.2 New versions of this document", "Forms at ## A.1. Forms", "9 A page at ## A page",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestOnlyANumberInFrontOfAHeadingIsLeftOut(t *testing.T) {
	for in, want := range map[string]string{
		"1.2 Scope": "Scope", "1 Scope": "Scope", "A.1. Forms": "Forms", "IV. The end": "The end", "Chapter 3: Tides": "Tides", "Appendix B – Lists": "Lists", "B) Lists": "Lists",
		"A page": "A page", "Scope": "Scope", "12": "12", "Chapter 3": "Chapter 3", "I am": "I am", "v1.2 notes": "v1.2 notes", "2026 in review": "in review", "": "",
	} {
		if got := unnumbered(in); got != want {
			t.Errorf("%q is %q, not %q", in, got, want)
		}
	}
}
