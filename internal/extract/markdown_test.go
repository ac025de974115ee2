package extract

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html/atom"

	"sift.build/sift/internal/dom"
)

func TestMarkdownInDataIsRendered(t *testing.T) {
	source := "---\ntitle: Bridge reopens\n---\n# Bridge reopens\n\n" + bridge1 + " See [the river](/river).\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```go\nfunc main() {}\n```\n\n- one\n- two\n\n" +
		bridge2 + " <b onclick=x()>Bold</b> and a <br> tag.\n\n<script>SECRET</script>\n\n" + bridge3
	e, ok := embedded(t, `<title>Bridge reopens</title><script>window.__STATE__={"post":{"title":"Bridge reopens","content":"`+inJSON(source)+`"}}</script>`)
	if !ok {
		t.Fatal("nothing was found")
	}
	has := map[atom.Atom]int{}
	for n := e.Document.Page; n != nil; n = dom.Next(n, e.Document.Page) {
		has[n.DataAtom]++
		if n.DataAtom == atom.A && dom.Attr(n, "href") != "https://news.example/river" {
			t.Errorf("a link leads to %q", dom.Attr(n, "href"))
		}
	}
	for _, a := range []atom.Atom{atom.H1, atom.Table, atom.Pre, atom.Ul, atom.A, atom.Strong} {
		if has[a] != 1 {
			t.Errorf("%d of <%s>", has[a], a)
		}
	}
	if s := plainText(e.Document.Page); strings.Contains(s, "SECRET") || strings.Contains(s, "title:") || !strings.Contains(s, bridge3) {
		t.Error(s)
	}
}

func TestTextsAreToldApart(t *testing.T) {
	for s, want := range map[string]string{
		"## A heading\n\nSome words.":                                     "Markdown",
		"Some words with [a link](https://a.example/x) in them.":          "Markdown",
		"Some words.\n\n- one\n- two\n- three":                            "Markdown",
		"Some words, and **more** of them.\n\n> A quotation":              "Markdown",
		"## A heading\n\nSome words.\n\nA <br> tag, and <b>more</b>.\n\n": "Markdown",
		"<p>Some words.</p>":                                              "HTML",
		"Some <em>words</em> of it.":                                      "HTML",
		"Some words.<br>More of them.":                                    "HTML",
		"<p>Some words.</p>\n\n<p># 1 in the charts</p>":                  "HTML",
		"Some words. And more of them, 2 * 3 = 6.":                        "text",
		"The <p> tag opens a paragraph.":                                  "text",
		"Is 1 < 2, and 3 > 2? It is.":                                     "text",
		"- one line":                                                      "text",
	} {
		got := "text"
		switch {
		case isHTML(s) && !moreMarkdown(s):
			got = "HTML"
		case isMarkdown(s):
			got = "Markdown"
		}
		if got != want {
			t.Errorf("%q is %s, want %s", s, got, want)
		}
	}
}

// The parser of Markdown cannot be stopped, so that the longest text it is given
// must not hold it up, whatever it is.
func TestMarkdownThatIsHardToParseTakesNoLongerThanItMay(t *testing.T) {
	rep := strings.Repeat
	growing := func(n int, line func(i int) string) string {
		var b strings.Builder
		for i := 0; b.Len() < n; i++ {
			b.WriteString(line(i))
		}
		return b.String()
	}
	for name, shape := range map[string]func(n int) string{
		"lists":          func(n int) string { return rep("- a\n  ", n/6) },
		"growing lists":  func(n int) string { return growing(n, func(i int) string { return rep("  ", i%300) + "- a\n" }) },
		"growing quotes": func(n int) string { return growing(n, func(i int) string { return rep("> ", i%199) + "a\n\n" }) },
		"deep quotes":    func(n int) string { return rep("> ", n/2) },
		"brackets":       func(n int) string { return rep("[a ", n/3) },
		"open brackets":  func(n int) string { return rep("[", n) },
		"links":          func(n int) string { return rep("[a](<b", n/6) },
		"nested links":   func(n int) string { return rep("[", n/8) + "a" + rep("](b)", n/8) },
		"references": func(n int) string {
			return growing(n, func(i int) string { return fmt.Sprintf("[%d]: /x 'y\n\n[%[1]d] ", i) })
		},
		"emphasis":     func(n int) string { return rep("*a **b _c ", n/10) },
		"code":         func(n int) string { return growing(n, func(i int) string { return "a" + rep("`", i%190+1) }) },
		"tags":         func(n int) string { return rep("<a b='", n/6) },
		"comments":     func(n int) string { return rep("a <!-- ", n/7) },
		"a wide table": func(n int) string { return rep("|a", n/6) + "|\n" + rep("|-", n/6) + "|\n" + rep("|a|\n", n/12) },
		"addresses":    func(n int) string { return rep("http://a(", n/9) },
		"mail":         func(n int) string { return rep("a@", n/2) },
		"underlines":   func(n int) string { return rep("a\n=\n", n/4) },
		"tabs":         func(n int) string { return rep("-\t-\t-\t-\ta\n", n/10) },
	} {
		start := time.Now()
		(&reader{}).markdown(shape(maxMarkdown))
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%s: %v", name, took)
		}
	}
}
