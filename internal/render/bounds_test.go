package render

import (
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/net/html"

	"sift.build/sift/internal/normalize"
	"sift.build/sift/internal/sift"
)

// The most that hostile markup may cost. Each input is some megabytes; a way
// that is not linear takes minutes on it.
func TestHostileMarkupIsRenderedInBoundedTimeAndSpace(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	cells := strings.Repeat("<td>x", 100_000)
	for name, in := range map[string]string{
		"colspan of a thousand million":      "<table><tr>" + strings.Repeat("<th colspan=1000000000>a", 2000) + strings.Repeat("<tr><td>b", 2000) + "</table>",
		"rowspans over many columns":         "<table><tr>" + strings.Repeat("<th rowspan=65534>a", 2000) + strings.Repeat("<tr><td>b", 20_000) + "</table>",
		"many tables with wide cells":        strings.Repeat("<table><tr><th colspan=999>a<th>b<tr><td>c<td>d</table>", 20_000),
		"many tables with a wide second row": strings.Repeat("<table><tr><th>a<th>b<tr><td>c<td colspan=999>d</table>", 20_000),
		"100,000 columns":                    "<table><tr>" + cells + strings.Repeat("<tr><td>b<td>c", 20_000) + "</table>",
		"400,000 line breaks":                "<p>a" + strings.Repeat("<br>", 400_000) + "b",
		"line breaks in nested elements":     strings.Repeat("<font><b>", 200) + strings.Repeat("<br>a", 60_000),
		"one line of two megabytes":          "<p>" + strings.Repeat("x", 2<<20),
		"one word after another":             "<p>" + strings.Repeat("a*_[` ", 40_000),
		"emphasis that never leans":          "<p>" + strings.Repeat("<b>(x)</b>y", 40_000),
		"emphasis that never ends":           "<p>a<b>" + strings.Repeat("<i>(x)</i>y", 100_000) + "</b>z",
		"code spans that touch":              "<p>" + strings.Repeat("<code>a`</code>", 40_000),
		"nested lists":                       strings.Repeat("<ul><li>", 240) + strings.Repeat("a<p>b</p>", 20_000),
		"nested quotes":                      strings.Repeat("<blockquote>", 500) + strings.Repeat("<p>a</p>", 2_000),
		"nested tables":                      strings.Repeat("<table><tr><td>", 100) + strings.Repeat("a<p>b</p>", 50_000),
		"a base of 8 KB for many links":      "<base href='https://h.example/" + strings.Repeat("d", 8000) + "/'>" + strings.Repeat("<a href=x>y</a>", 40_000),
		"many small lists":                   strings.Repeat("<ul><li>a</ul>", 40_000),
		"a long code block in quotes":        strings.Repeat("<blockquote>", 50) + "<pre>" + strings.Repeat("a\n\n", 100_000),
		"links to everywhere":                strings.Repeat("<a href=x>y</a>", 40_000),
		"footnotes":                          strings.Repeat("<sup><a href='#n'>1</a></sup>", 20_000) + "<p id=n>note</p>",
		"formulas":                           strings.Repeat("<math><mi>x</mi></math>", 20_000),
		"a formula deep inside":              "<math>" + strings.Repeat("<msup><mi>x</mi>", 400) + strings.Repeat("<mi>y</mi>", 100_000),
		"noscripts inside each other":        strings.Repeat("<noscript>", 40_000),
		"noscripts":                          strings.Repeat("<noscript><p>one two three four five</noscript>", 50_000),
		"definition lists":                   strings.Repeat("<dl><dt>a<dd>b", 200) + strings.Repeat("<dd>c", 20_000),
		"headings":                           strings.Repeat("<h2>a</h2>", 40_000),
		"katex without source, nested":       strings.Repeat("<span class=katex>", 400) + strings.Repeat("<i>x</i>", 100_000),
		"pre with many empty line elements":  "<pre>" + strings.Repeat("<span class=line></span>", 60_000),
		"spans of hidden text":               strings.Repeat("<span style='font-size:0'><b>", 200) + strings.Repeat("x<i></i>", 40_000),
		"unseen sections with many elements": strings.Repeat("<div style='visibility:hidden'>", 400) + strings.Repeat("<b></b>", 40_000),
	} {
		t.Run(name, func(t *testing.T) {
			doc, err := html.Parse(strings.NewReader(in))
			if err != nil {
				t.Skip(err)
			}
			base, _ := url.Parse("https://example.com/")
			start := time.Now()
			body := normalize.Page(doc, base).Body
			for _, mode := range []sift.Mode{sift.ModeClean, sift.ModeText, sift.ModeHTML, sift.ModeLinks, sift.ModeOutline} {
				r, err := Content(&sift.Document{Kind: sift.KindHTML, Main: body, Page: body}, mode)
				if err != nil {
					t.Fatal(err)
				}
				if limit := 40*len(in) + 8<<20; len(r.Content) > limit {
					t.Errorf("%s: %d bytes from %d", mode, len(r.Content), len(in))
				}
				if !utf8.ValidString(r.Content) {
					t.Errorf("%s is not UTF-8", mode)
				}
			}
			if took := time.Since(start); took > 10*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}
