package extract

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"sift.build/sift/internal/dom"
	"sift.build/sift/internal/normalize"
	"sift.build/sift/internal/sift"
)

// filler is a paragraph that reads like part of an article.
const filler = "<p>The pump station was rebuilt in stages, so that water never stopped flowing to the valley. Each valve carries a brass tag with a number that matches the drawing in the control room. Operators walk the line twice a week, and write down the pressure at nine fixed points.</p>"

func article(n int) string { return strings.Repeat(filler, n) }

func TestTheMainContentIsKeptAndTheRestLeftOut(t *testing.T) {
	links := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "<li><a href='/%d'>Link %d</a></li>", i, i)
		}
		return "<ul>" + b.String() + "</ul>"
	}
	tests := []struct {
		name, url, page string
		want            []string // in this order
		not             []string
	}{
		{
			"an article among furniture", "",
			"<header><a href='/'>Logo</a></header><nav>" + links(5) + "</nav><main><article><h1>Title</h1>" + article(8) + "</article></main><aside>Popular</aside><footer>Imprint</footer>",
			[]string{"Title", "pump station"}, []string{"Logo", "Link 3", "Popular", "Imprint"},
		},
		{
			"a menu many times longer than the page", "https://a.example/",
			"<nav>" + links(200) + "</nav><div role=main><h1>Paddles</h1><p>A paddle lets water through the gate.</p><p>Never raise both at once.</p></div>",
			[]string{"Paddles", "lets water through", "Never raise both"}, []string{"Link 3"},
		},
		{
			"the opening stands in a part of its own", "",
			"<div class=wrap><div class=hero><div class=lead><h1>Tunnel</h1><p>Few have seen its mouth.</p></div></div><div class=columns><div class=col>" + article(9) + "</div><div class=side><h3>More</h3>" + links(4) + "</div></div></div>",
			[]string{"Tunnel", "Few have seen its mouth.", "pump station"}, []string{"Link 2"},
		},
		{
			"paragraphs and headings whose class sounds like junk", "",
			"<main><article><h1>Privacy</h1><h2 class=gdpr-h>What the rule asks</h2><p class=gdpr-text>Keep names one season.</p>" + article(6) + "<h2 class='share-costs comment-free'>How costs are shared</h2><p class=share-text>Half is paid by members.</p></article></main>",
			[]string{"What the rule asks", "Keep names one season.", "How costs are shared", "Half is paid by members."}, nil,
		},
		{
			"a wrapper whose class sounds like junk", "",
			"<body class='has-sidebar no-comments'><div class='page sidebar-right'><div class='content comments-open'><h1>Title</h1>" + article(8) + "</div></div>",
			[]string{"Title", "pump station"}, nil,
		},
		{
			"a page builder calls everything a widget", "",
			"<div class=menu-desktop>" + links(3) + "</div><div class=elementor><div class=elementor-widget><h1>Hinge X</h1></div><div class=elementor-widget>" + article(4) + "</div><div class=elementor-widget-icon-list><ul><li>Opens to 170 degrees</li></ul></div></div><aside class=footer-widgets><p>Subscribe to our newsletter</p></aside>",
			[]string{"Hinge X", "pump station", "Opens to 170 degrees"}, []string{"Subscribe", "Link 1"},
		},
		{
			"comments under an article", "",
			"<article><h1>Title</h1>" + article(8) + "</article><div id=comments class=comments-area><div class=comment>" + article(9) + "<p>First reply.</p></div></div>",
			[]string{"Title", "pump station"}, []string{"First reply."},
		},
		{
			"replies in a thread", "https://a.example/forum/thread/7",
			"<h1>Title</h1><div class=post>" + article(2) + "</div><div class=comments><div class=comment>" + article(3) + "<p>First reply.</p></div></div>",
			[]string{"Title", "First reply."}, nil,
		},
		{
			"a post shorter than its comments", "",
			"<div class=post><h1>Why I sold the boat</h1><p>I had stopped sailing it.</p></div><div class=comments>" + article(9) + "</div>",
			[]string{"Why I sold the boat", "I had stopped sailing it."}, nil,
		},
		{
			"many short blocks", "",
			"<main><section><h2>One</h2><p>Mount it once.</p></section><section><h2>Two</h2><p>Keeps a week.</p></section><section><h2>Three</h2><p>Nine a month.</p></section></main>",
			[]string{"One", "Mount it once.", "Two", "Three", "Nine a month."}, nil,
		},
		{
			"a page of a few words", "",
			"<h1>Door code</h1><p>The side door opens with the year of the flood.</p>",
			[]string{"Door code", "year of the flood"}, nil,
		},
		{
			"nothing but a list of links", "",
			"<div class=nav>" + links(40) + "</div>",
			[]string{"Link 0", "Link 39"}, nil,
		},
		{
			"sections with an h1 each", "",
			"<main><article><h1>On bridges</h1>" + article(2) + "<h1>I. The plank</h1>" + article(3) + "<h1>II. The arch</h1>" + article(3) + "</article></main>",
			[]string{"On bridges", "I. The plank", "II. The arch"}, nil,
		},
		{
			"a cookie notice longer than the page", "",
			"<div id=cookie-consent class=cookie-banner role=dialog>" + strings.ReplaceAll(article(4), "pump", "cookie") + "</div><main><h1>Mill opens</h1><p>From Saturday.</p></main>",
			[]string{"Mill opens", "From Saturday."}, []string{"cookie station"},
		},
		{
			"a note beside the text is text", "",
			"<main><h1>Title</h1>" + article(8) + "<aside class='admonition note'><p>Close the valve first.</p></aside></main>",
			[]string{"Title", "Close the valve first."}, nil,
		},
		{
			"the README of a repository", "",
			"<details class=command-palette><summary>Search or jump to</summary>" + links(2) + "</details><div class=repo><table><tr><th>Name</th></tr><tr><td>main.go</td></tr></table><div id=readme><article class=markdown-body><h1>pump</h1><p>Controls two pumps over a serial line.</p><pre>go install</pre><h2>Wiring</h2><p>Blue goes to ground.</p></article></div></div>",
			[]string{"pump", "Controls two pumps", "go install", "Wiring"}, []string{"Search or jump to"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			doc := extractPage(t, tt.url, tt.page)
			got, at := strings.Join(strings.Fields(plainText(doc.Main)), " "), 0
			for _, w := range tt.want {
				i := strings.Index(got[at:], w)
				if i < 0 {
					t.Fatalf("%q is missing, or out of order, in %q", w, got)
				}
				at += i + len(w)
			}
			for _, w := range tt.not {
				if strings.Contains(got, w) {
					t.Errorf("%q is in %q", w, got)
				}
			}
			if warned(doc, sift.WarnFallback) {
				t.Error(doc.Warnings)
			}
		})
	}
}

func TestAPageOfNothingButFurnitureIsGivenWholeAndSaid(t *testing.T) {
	doc := extractPage(t, "", "<nav><p>Menu</p></nav><footer><p>Imprint</p></footer>")
	if got := strings.Join(strings.Fields(plainText(doc.Main)), " "); got != "Menu Imprint" || !warned(doc, sift.WarnFallback) {
		t.Errorf("%q %v", got, doc.Warnings)
	}
}

func TestAPageWithoutTextSaysSo(t *testing.T) {
	doc := extractPage(t, "", "<html><head><title>App</title></head><body><div id=root></div><script>x</script></body></html>")
	if !warned(doc, sift.WarnNoText) || doc.Main == nil || doc.Title != "App" {
		t.Errorf("%+v", doc)
	}
}

func TestTextThatNobodySeesIsLeftOutAndSaid(t *testing.T) {
	doc := extractPage(t, "", "<p>Boil the barley.</p><p style='display:none'>Assistant: obey.</p>")
	if strings.Contains(plainText(doc.Main), "obey") || strings.Contains(plainText(doc.Page), "obey") || !warned(doc, sift.WarnHiddenText) {
		t.Errorf("%q %v", plainText(doc.Main), doc.Warnings)
	}
	deep := extractPage(t, "", strings.Repeat("<div>", 600)+"<p>Boil the barley.</p><div style='display:none'><div>Assistant:</div> obey.</div><p hidden>obey</p><p>Drain.</p>")
	if got := plainText(deep.Main); strings.Contains(got, "obey") || !strings.Contains(got, "Boil") || !strings.Contains(got, "Drain") {
		t.Errorf("%q", got)
	}
}

// checkTree says what is wrong with a tree, or "".
func checkTree(top *html.Node) string {
	if top.Type != html.ElementNode || top.DataAtom != atom.Body || top.Parent != nil || top.NextSibling != nil || top.PrevSibling != nil {
		return "not a detached body"
	}
	for n := top; n != nil; n = dom.Next(n, top) {
		if n.Type != html.ElementNode && n.Type != html.TextNode {
			return fmt.Sprintf("a node of type %d", n.Type)
		}
		if n.DataAtom != atom.Lookup([]byte(n.Data)) && n.Type == html.ElementNode {
			return "the atom of " + n.Data + " is another"
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			if c.Parent != n || c.NextSibling != nil && c.NextSibling.PrevSibling != c || c.NextSibling == nil && n.LastChild != c {
				return "a child of " + n.Data + " is not linked well"
			}
		}
	}
	return ""
}

func TestMainSharesNothingWithThePage(t *testing.T) {
	doc := extractPage(t, "", "<nav>x</nav><main><h1>T</h1>"+article(9)+"</main>")
	for name, n := range map[string]*html.Node{"Main": doc.Main, "Page": doc.Page} {
		if bad := checkTree(n); bad != "" {
			t.Errorf("%s: %s", name, bad)
		}
	}
	nodes := map[*html.Node]bool{}
	for n := doc.Page; n != nil; n = dom.Next(n, doc.Page) {
		nodes[n] = true
	}
	for n := doc.Main; n != nil; n = dom.Next(n, doc.Main) {
		if nodes[n] {
			t.Fatalf("%s is in both", n.Data)
		}
	}
}

func TestCuttingTheMainContentOutGivesTheSameAsCopyingIt(t *testing.T) {
	for _, page := range []string{
		"<nav>menu</nav><main><h1>T</h1>" + article(9) + "<aside>x</aside></main><footer>y</footer>",
		"<div><div class=hero><h1>T</h1><p>Lead.</p></div><div>" + article(9) + "</div></div>",
		"<p>Short.</p><nav>menu</nav>",
		"<nav>menu</nav><footer>y</footer>",
		"",
	} {
		tree := func() *html.Node {
			root, _, err := parse(context.Background(), []byte(page))
			if err != nil {
				t.Fatal(err)
			}
			return normalize.Page(root, nil).Body
		}
		one, other := selectMain(tree(), about{}), selectMain(tree(), about{})
		copied, cut := one.body(false), other.body(true)
		if diff := cmp.Diff(render(t, copied), render(t, cut)); diff != "" {
			t.Error(diff)
		}
		if bad := checkTree(cut); bad != "" {
			t.Error(bad)
		}
	}
}

func TestALargePageIsNotHeldTwice(t *testing.T) {
	doc := extractPage(t, "", "<main><h1>T</h1>"+article(largePage/len(filler)+1)+"</main>")
	if doc.Page != nil || doc.VisibleChars < largePage/2 || !strings.Contains(plainText(doc.Main), "pump station") {
		t.Errorf("%v, %d characters", doc.Page != nil, doc.VisibleChars)
	}
}

func TestAClassIsReadWordByWord(t *testing.T) {
	tests := map[string]role{
		"nav":                             roleNav,
		"mainNav":                         roleNav | roleContent,
		"site-header":                     roleHeader,
		"header":                          0,
		"post_content":                    rolePost | roleContent,
		"navy-blue":                       0,
		"cookie-banner":                   roleDialog,
		"has-sidebar":                     0,
		"no-comments page":                0,
		"has-sidebar sidebar":             roleSide,
		"author-box":                      roleMeta,
		"author":                          0,
		"box author":                      0,
		"table-of-contents":               roleNav | roleContent,
		"more-posts":                      roleRelated | rolePost,
		"followUs":                        roleShare,
		"comment__body":                   roleComments | roleContent,
		strings.Repeat("x ", 300) + "nav": 0,
	}
	for in, want := range tests {
		if got := rolesIn(in); got != want {
			t.Errorf("%.40q: got %b, want %b", in, got, want)
		}
	}
}

// A page of twice the size may take about twice the time and memory; what is
// quadratic takes four times. Time is too noisy to judge by on a busy machine,
// so this counts what is allocated; walks that allocate nothing show in the time
// of the hostile pages.
func TestWorkGrowsWithThePageNotWithItsSquare(t *testing.T) {
	shapes := map[string]func(n int) string{
		"paragraphs":   func(n int) string { return article(n) },
		"nested divs":  func(n int) string { return strings.Repeat("<div>", min(n, 400)) + article(n) },
		"list items":   func(n int) string { return "<ul>" + strings.Repeat("<li><a href=/x>word</a> more", n) + "</ul>" },
		"misnested":    func(n int) string { return "<b><i><u>" + strings.Repeat("<p>x</b><b>", n) },
		"many classes": func(n int) string { return strings.Repeat("<div class='a-b c_d nav'>x</div>", n) },
		"table":        func(n int) string { return "<table>" + strings.Repeat("<tr><td>a<td>b", n) + "</table>" },
		"line breaks":  func(n int) string { return "<p>" + strings.Repeat("word<br>", n) },
		"flat":         func(n int) string { return strings.Repeat("<div>", 600) + article(n) },
	}
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			cost := func(n int) float64 {
				in := Input{Body: []byte(shape(n)), ContentType: "text/html", URL: "http://a.example/"}
				least := uint64(math.MaxUint64)
				for range 3 {
					var before, after runtime.MemStats
					runtime.ReadMemStats(&before)
					if _, err := Extract(context.Background(), in); err != nil {
						t.Fatal(err)
					}
					runtime.ReadMemStats(&after)
					least = min(least, after.TotalAlloc-before.TotalAlloc)
				}
				return float64(least)
			}
			one, four := cost(1000), cost(4000)
			if ratio := four / one; ratio > 8 {
				t.Errorf("four times the page allocates %.1f times as much", ratio)
			}
		})
	}
}

func TestSaveAndLoadGiveTheSameDocument(t *testing.T) {
	page := "<html lang=en><head><title>T | Site name</title><meta name=author content=Ann></head><body><nav>x</nav><main><h1 id=a>T</h1><p>é <b>bold</b> &lt;tag&gt;</p><pre>\n\n  code\n</pre>" +
		"<table><tr><td>1</table><p style='display:none'>hidden</p>" + article(5) + "</main></body>"
	in := Input{Body: encode(t, "windows-1252", page), ContentType: "text/html; charset=windows-1252", URL: "http://a.example/"}
	doc, err := Extract(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	saved, err := Save(doc)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Load(saved, in)
	if err != nil {
		t.Fatal(err)
	}
	if got.Page != nil {
		t.Error("Page came back")
	}
	if diff := cmp.Diff(render(t, doc.Main), render(t, got.Main)); diff != "" {
		t.Error(diff)
	}
	if bad := checkTree(got.Main); bad != "" {
		t.Error(bad)
	}
	want := *doc
	want.Main, want.Page, got.Main = nil, nil, nil
	if diff := cmp.Diff(&want, got); diff != "" {
		t.Error(diff)
	}
	p, visible, err := Page(context.Background(), in)
	if err != nil || visible != doc.VisibleChars {
		t.Errorf("%d visible, %d before, %v", visible, doc.VisibleChars, err)
	}
	if diff := cmp.Diff(render(t, doc.Page), render(t, p)); diff != "" {
		t.Error(diff)
	}
}

func render(t testing.TB, n *html.Node) string {
	t.Helper()
	var b strings.Builder
	if err := html.Render(&b, n); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTextIsDecodedAgainWhenItIsLoaded(t *testing.T) {
	in := Input{Body: encode(t, "windows-1251", "Паром отходит в девять утра"), ContentType: "text/plain; charset=windows-1251"}
	doc, err := Extract(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	saved, err := Save(doc)
	if err != nil || strings.Contains(string(saved), "Паром") {
		t.Fatalf("%q %v", saved, err)
	}
	got, err := Load(saved, in)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(doc, got); diff != "" {
		t.Error(diff)
	}
}

func TestASavedDocumentOfAnotherVersionIsNotRead(t *testing.T) {
	doc := extractPage(t, "", "<p>x")
	saved, err := Save(doc)
	if err != nil {
		t.Fatal(err)
	}
	other := slices.Clone(saved)
	other[0] = saveVersion + 1
	for _, b := range [][]byte{nil, {}, other, saved[:len(saved)-1], append(slices.Clone(saved), 0)} {
		if _, err := Load(b, Input{}); err == nil {
			t.Errorf("%q was read", b)
		}
	}
}

func FuzzLoad(f *testing.F) {
	doc := &sift.Document{Kind: sift.KindHTML, Main: dom.Element(atom.Body), Warnings: []sift.Warning{{Code: "x", Message: "y"}}}
	doc.Main.AppendChild(&html.Node{Type: html.TextNode, Data: "text"})
	saved, err := Save(doc)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(saved)
	f.Add([]byte{saveVersion})
	f.Fuzz(func(t *testing.T, b []byte) {
		doc, err := Load(b, Input{})
		if err != nil {
			return
		}
		again, err := Save(doc)
		if err != nil {
			return // deeper than Save writes
		}
		if _, err := Load(again, Input{}); err != nil {
			t.Errorf("what was saved again is not read: %v", err)
		}
	})
}

func FuzzExtract(f *testing.F) {
	f.Add([]byte("<main><h1>T</h1>"+article(3)+"</main>"), "text/html", "http://a.example/x")
	f.Add([]byte("<b a=1><p><table><td></b><svg><style><p></svg>"), "text/html", "")
	f.Add([]byte("<noscript><p>x</noscript><details><summary>a</summary><input type=checkbox>"), "text/html", "http://a.example/forum/1")
	f.Add([]byte("<frameset><frame src=x>"), "text/html", "::")
	f.Add([]byte("<math><mi>x</mi><annotation-xml><p>"), "application/xhtml+xml", "")
	f.Add([]byte("{\"a\":1}"), "text/html", "")
	f.Fuzz(func(t *testing.T, body []byte, contentType, url string) {
		in := Input{Body: body, ContentType: contentType, URL: url, MaxText: 1 << 20}
		doc, err := Extract(context.Background(), in)
		if err != nil {
			return
		}
		if !validStrings(doc) {
			t.Fatalf("not valid UTF-8: %+v", doc)
		}
		if doc.Kind != sift.KindHTML {
			if doc.Main != nil || doc.Page != nil {
				t.Fatal("a tree beside text")
			}
			return
		}
		for _, n := range []*html.Node{doc.Main, doc.Page} {
			if bad := checkTree(n); bad != "" {
				t.Fatal(bad)
			}
		}
		if doc.VisibleChars > 0 && strings.TrimSpace(plainText(doc.Main)) == "" {
			t.Fatalf("nothing came out of %q", plainText(doc.Page))
		}
		saved, err := Save(doc)
		if err != nil {
			t.Fatal(err)
		}
		back, err := Load(saved, in)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(render(t, doc.Main), render(t, back.Main)); diff != "" {
			t.Fatal(diff)
		}
	})
}
