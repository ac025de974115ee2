package maincontent

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"sift.build/sift/internal/cputime"
	"sift.build/sift/internal/dom"
	"sift.build/sift/internal/normalize"
)

// bodyOf gives a page in normal form.
func bodyOf(t testing.TB, markup string) *html.Node {
	t.Helper()
	root, err := html.Parse(strings.NewReader(markup))
	if err != nil {
		t.Fatal(err)
	}
	return normalize.Page(root, nil).Body
}

func squash(s string) string { return strings.Join(strings.Fields(s), " ") }

func TestAPageIsCutIntoRunsOfTextBetweenBlocks(t *testing.T) {
	for _, tt := range []struct {
		name, markup string
		want         []string
	}{
		{"paragraphs", "<p>One <b>two</b> three.</p><p>Four.</p>", []string{"One two three.", "Four."}},
		{"text around a block", "<div>before<p>inside</p>behind</div>", []string{"before", "inside", "behind"}},
		{"blank lines", "<div>one<br>two<br><br>three</div>", []string{"one two", "three"}},
		{"a block in a link", "<a href=/x>lead<div>card</div></a>", []string{"lead", "card"}},
		{"cells", "<table><tr><th>a<th>b<tr><td>c<td>d</table>", []string{"a", "b", "c", "d"}},
		{"lists", "<ul><li>a<ul><li>b</ul>c<li>d</ul>", []string{"a", "b", "c", "d"}},
		{"white space only", "<div> \n <p> </p></div>", nil},
		{"code", "<pre>a\n\nb</pre><p>c</p>", []string{"a b", "c"}},
		{"a picture alone", "<p>a</p><div><img src=http://a.example/x.png></div><p>b</p>", []string{"a", "", "b"}},
	} {
		var got []string
		p := Scan(bodyOf(t, tt.markup), Hints{}, nil)
		for i := range p.Blocks {
			got = append(got, squash(p.Blocks[i].Text()))
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s: %s", tt.name, d)
		}
	}
}

func TestWhatIsCountedInABlock(t *testing.T) {
	p := Scan(bodyOf(t, `<p>The Gate, <a href="http://a.example/">opened in 1871</a>. Was it? <b>Yes</b> | 漢字漢字</p>`), Hints{Title: "The gate of 1871"}, nil)
	b := &p.Blocks[0]
	for _, tt := range []struct {
		name      string
		got, want int32
	}{
		{"words", b.words, 10}, {"linked", b.linked, 3}, {"strong", b.strong, 1}, {"links", b.links, 1}, {"ends", b.ends, 2}, {"commas", b.commas, 1},
		{"digits", b.digits, 4}, {"dividers", b.bars, 1}, {"capitals", b.caps, 4}, {"of the title", b.title, 2}, {"common", int32(b.lex[lexCommon]), 4},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, tt.got, tt.want)
		}
	}
	if b.first != 'T' || b.last != '字' {
		t.Errorf("from %c to %c", b.first, b.last)
	}
}

func TestWordsOfANameAreReadInEveryStyle(t *testing.T) {
	for class, want := range map[string]kinds{
		"site-nav": kindNav, "siteNav": kindNav, "site_nav2": kindNav, "SiteNav": kindNav, "no-nav": 0, "has-sidebar content": kindContent,
		"navy": 0, "comment-list": kindComment | kindList, "btn": kindButton,
	} {
		n := &html.Node{Type: html.ElementNode, Data: "div", DataAtom: atom.Div, Attr: []html.Attribute{{Key: "class", Val: class}}}
		if got, _ := readNames(n, nil); got != want {
			t.Errorf("%s: %b, want %b", class, got, want)
		}
	}
	one := &html.Node{Type: html.ElementNode, Data: "li", Attr: []html.Attribute{{Key: "class", Val: "item item-1"}}}
	two := &html.Node{Type: html.ElementNode, Data: "li", Attr: []html.Attribute{{Key: "class", Val: "item item-27"}}}
	if _, a := readNames(one, nil); a == 0 {
		t.Error("no hash")
	} else if _, b := readNames(two, nil); a != b {
		t.Error("numbers in a class tell elements of one make apart")
	}
}

// longPage is a page as sites have them, with an article of n paragraphs.
func longPage(n int) string {
	var b strings.Builder
	b.WriteString(`<html><head><title>The lower weir - Harbour Notes</title></head><body><header class="site-header"><a href="/">Harbour Notes</a><nav class="main-menu"><ul>`)
	for i := range 20 {
		fmt.Fprintf(&b, `<li><a href="/s/%d">Section %d</a></li>`, i, i)
	}
	b.WriteString(`</ul></nav></header><div class="layout"><main><article class="post"><h1>The lower weir</h1>`)
	for i := range n {
		fmt.Fprintf(&b, `<p>In the %dth year the weir was rebuilt in stages, so that the water never stopped, and the crew kept a ledger of every stone that was moved from the river to the bank.</p>`, i+1)
		if i%5 == 4 {
			fmt.Fprintf(&b, `<h2>Part %d</h2><ul><li>The upper gate was closed in spring, before the flood.</li><li>The lower gate was left as it had been.</li></ul>`, i)
		}
	}
	b.WriteString(`</article></main><aside class="sidebar"><h3>Most read</h3><ul>`)
	for i := range 12 {
		fmt.Fprintf(&b, `<li><a href="/r/%d">Ten things about rope number %d</a></li>`, i, i)
	}
	b.WriteString(`</ul></aside></div><footer class="site-footer"><p>© 2024 Harbour Notes. All rights reserved.</p><ul><li><a href="/privacy">Privacy policy</a></li><li><a href="/terms">Terms of use</a></li></ul></footer></body></html>`)
	return b.String()
}

func TestAnArticleIsKeptWithoutWhatIsAroundIt(t *testing.T) {
	p := Scan(bodyOf(t, longPage(20)), Hints{Title: "The lower weir - Harbour Notes"}, nil)
	c := p.Choose()
	var kept strings.Builder
	for i := range p.Blocks {
		if c.Keep[i] {
			kept.WriteString(p.Blocks[i].Text() + "\n")
		}
	}
	for _, want := range []string{"The lower weir\n", "In the 1th year", "In the 20th year", "Part 4", "left as it had been"} {
		if !strings.Contains(kept.String(), want) {
			t.Errorf("%q was dropped", want)
		}
	}
	for _, no := range []string{"Section 3", "Most read", "about rope", "Privacy", "All rights"} {
		if strings.Contains(kept.String(), no) {
			t.Errorf("%q was kept", no)
		}
	}
}

func TestFeaturesHaveNamesAndAreNumbers(t *testing.T) {
	names := FeatureNames()
	seen := map[string]int{}
	for _, n := range names {
		seen[n]++
	}
	for n, k := range seen {
		if k > 1 && !strings.HasPrefix(n, "neighbour ") && !strings.Contains(n, " close ") {
			t.Errorf("%d features are called %q", k, n)
		}
	}
	for _, markup := range []string{longPage(3), "<p>x</p>", "<p></p>", "<h1>a</h1>", "<img src=http://a.example/i.png alt=x>", "<table><tr><td>1</table>"} {
		p := Scan(bodyOf(t, markup), Hints{}, nil)
		values, width := p.Features()
		if len(p.Blocks) > 0 && width != len(names) || len(values) != width*len(p.Blocks) {
			t.Fatalf("%d values of %d blocks, %d names", len(values), len(p.Blocks), len(names))
		}
		for i, v := range values {
			if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
				t.Errorf("%s is %v", names[i%width], v)
			}
		}
	}
}

func TestCopyingAndCarvingGiveTheSame(t *testing.T) {
	for _, markup := range []string{longPage(10), "<p>a<div>b<hr>c</div>d", "<ul><li>a<li>b<p>c</ul><a href=/x>d<div>e</div></a>"} {
		p := Scan(bodyOf(t, markup), Hints{}, nil)
		for n := range 4 {
			keep := make([]bool, len(p.Blocks))
			for i := range keep {
				keep[i] = i%4 != n
			}
			copied := written(t, p.Copy(keep))
			q := Scan(bodyOf(t, markup), Hints{}, nil)
			if carved := written(t, q.Carve(keep)); copied != carved {
				t.Errorf("copied: %s\ncarved: %s", copied, carved)
			}
			if n := (Scan(bodyOf(t, copied), Hints{}, nil)).Words(); n != kept(p, keep) {
				t.Errorf("%d words in the copy, %d were kept: %s", n, kept(p, keep), copied)
			}
		}
	}
}

func kept(p *Page, keep []bool) (words int) {
	for i := range p.Blocks {
		if keep[i] {
			words += p.Blocks[i].Words()
		}
	}
	return words
}

func written(t testing.TB, n *html.Node) string {
	t.Helper()
	var b bytes.Buffer
	if err := html.Render(&b, n); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestATableIsKeptOrDroppedAsAWhole(t *testing.T) {
	p := Scan(bodyOf(t, "<p>a</p><table><tr><th>Year<th>Flow of the river<tr><td>1900<td>twelve and a half</table>"), Hints{}, nil)
	for _, keep := range [][]bool{{true, false, true, false, true}, {true, true, false, true, false}} {
		c := &Choice{Keep: slices.Clone(keep), Score: make([]float32, 5), Why: make([]Why, 5)}
		c.tables(p)
		if want := keep[2]; c.Keep[1] != want || c.Keep[2] != want || c.Keep[3] != want || c.Keep[4] != want || !c.Keep[0] {
			t.Errorf("%v became %v", keep, c.Keep)
		}
	}
}

func TestTheCutIsWhereTheExpectedF1IsBest(t *testing.T) {
	p := &Page{Blocks: []Block{{words: 100}, {words: 100}, {words: 100}}}
	// Keeping the first alone gives 2·90/(100+140), with the second 2·130/(200+140), with the third 2·140/(300+140).
	got := cut(p, []float32{0.9, 0.4, 0.1})
	if want := float32(0.9*0.4 + 0.1*0.3); math.Abs(float64(got-want)) > 1e-6 {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestAPageOfWhichNothingIsLikelyIsKeptWhole(t *testing.T) {
	p := Scan(bodyOf(t, "<nav><a href=/a>A</a></nav><footer>© 2024</footer>"), Hints{}, nil)
	c := p.Choose()
	if !c.All || slices.Contains(c.Keep, false) {
		t.Errorf("%+v", c)
	}
}

func TestADamagedModelIsRefused(t *testing.T) {
	if _, err := ReadModel(modelFile); err != nil {
		t.Fatal(err)
	}
	for name, damage := range map[string]func(b []byte) []byte{
		"empty":          func([]byte) []byte { return nil },
		"cut short":      func(b []byte) []byte { return b[:len(b)-1] },
		"longer":         func(b []byte) []byte { return append(b, 0) },
		"another kind":   func(b []byte) []byte { b[0]++; return b },
		"other features": func(b []byte) []byte { b[8]++; return b },
		"no trees":       func(b []byte) []byte { b[16], b[17] = 0, 0; return b },
		"a tree outside": func(b []byte) []byte { b[35] = 0x7f; return b },
		"many nodes":     func(b []byte) []byte { b[23] = 0x7f; return b },
	} {
		if m, err := ReadModel(damage(bytes.Clone(modelFile))); err == nil || m != nil {
			t.Errorf("%s: taken", name)
		}
	}
}

func TestChoosingTakesTimeLinearInThePage(t *testing.T) {
	for name, page := range map[string]func(n int) string{
		"paragraphs":     func(n int) string { return strings.Repeat("<p>Some words of a sentence, and more of them.</p>", n) },
		"asides":         func(n int) string { return strings.Repeat("<aside><p>words and words</aside>", n) },
		"one class each": func(n int) string { return numbered(n, `<div class="c%d">words here</div>`) },
		"depth": func(n int) string {
			return strings.Repeat(strings.Repeat("<div>a ", 200)+strings.Repeat("</div>", 200), n/200)
		},
		"cells":    func(n int) string { return "<table>" + strings.Repeat("<tr><td>a<td>b", n/2) + "</table>" },
		"pictures": func(n int) string { return strings.Repeat("<div><img src=http://a.example/></div>", n) + "<p>a word" },
		"words":    func(n int) string { return "<p>" + strings.Repeat("word ", 10*n) },
		"links": func(n int) string {
			return "<nav>" + strings.Repeat("<a href=http://a.example/>a link</a>", n) + "</nav>"
		},
	} {
		cputime.Linear(t, name, 2_000, func(n int) func() {
			body := bodyOf(t, page(n))
			return func() {
				p := Scan(body, Hints{}, nil)
				p.Copy(p.Choose().Keep)
			}
		})
	}
}

func numbered(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// Whatever the page: what is chosen is text of the page, in its order, and
// there is something where the page has something.
func FuzzChoose(f *testing.F) {
	for _, s := range []string{longPage(2), "<p>a<div>b</div>c", "<table><tr><td><table><tr><td>x", "<a><p>x</a>y", "<br><br>a<br><br>b", "<li><hr><img><pre>\n\nx"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, markup string) {
		root, err := html.Parse(strings.NewReader(markup))
		if err != nil {
			t.Skip()
		}
		page := normalize.Page(root, nil).Body
		p := Scan(page, Hints{Title: "a b"}, nil)
		c := p.Choose()
		main := p.Copy(c.Keep)
		if p.Words() > 0 && kept(p, c.Keep) == 0 {
			t.Error("nothing was kept")
		}
		all, some := textsOf(page), textsOf(main)
		for _, w := range some {
			i := slices.Index(all, w)
			if i < 0 {
				t.Fatalf("%q is not of the page, or not in its order", w)
			}
			all = all[i+1:]
		}
		if carved := written(t, p.Carve(c.Keep)); carved != written(t, main) {
			t.Errorf("copied: %s\ncarved: %s", written(t, main), carved)
		}
	})
}

// textsOf gives the texts of a tree.
func textsOf(n *html.Node) (out []string) {
	for c := n; c != nil; c = dom.Next(c, n) {
		if c.Type == html.TextNode {
			out = append(out, c.Data)
		}
	}
	return out
}
