package extract

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sift.build/sift/internal/cputime"
	"sift.build/sift/internal/sift"
)

// peak runs f and gives how much the heap grew at most meanwhile.
func peak(f func()) uint64 {
	var before runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var most atomic.Uint64
	done := make(chan struct{})
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-done:
				return
			default:
			}
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			most.Store(max(most.Load(), m.HeapAlloc))
			time.Sleep(5 * time.Millisecond)
		}
	}()
	f()
	close(done)
	<-stopped
	return most.Load() - min(before.HeapAlloc, most.Load())
}

type hostile struct {
	name string
	body string
	want string // must be in the main content
	code sift.WarningCode
}

var full = flag.Bool("full", false, "hostile pages at the size of the largest body, ten megabytes")

// hostilePages are of a tenth of the size that is allowed, unless -full is
// given; those that must be over a bound are always whole.
func hostilePages() []hostile {
	scale := 10
	if *full {
		scale = 1
	}
	numbered := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	end := "<p>And at the bottom lies a coin.</p>"
	coin := "lies a coin"
	return []hostile{
		{"six hundred nested divs", strings.Repeat("<div>", 600) + end, coin, sift.WarnDeepMarkup},
		{"a hundred thousand nested divs", strings.Repeat("<div>", 100_000/scale) + end, coin, sift.WarnDeepMarkup},
		{"nested to the limit around much text", strings.Repeat("<div>", 480) + strings.Repeat("<p>Some words, and more of them here.", 200_000/scale) + end, coin, ""},
		{"unclosed formatting in front of many paragraphs", numbered(400, "<b a=%d>") + strings.Repeat("<p>x", 100_000) + end, coin, ""},
		{"the same in a noscript", "<noscript>" + numbered(400, "<b a=%d>") + strings.Repeat("<p>x", 100_000) + "</noscript>" + end, coin, ""},
		{"the same with end tags in comments", numbered(400, "<b a=%d><!--</b>-->") + strings.Repeat("<p>x", 100_000) + end, coin, ""},
		{"the same with end tags in attributes", numbered(400, "<b a=%d><i title='</i></b>'></i>") + strings.Repeat("<p>x", 100_000) + end, coin, ""},
		{"the same with end tags out of scope", numbered(400, "<b a=%d><svg><foreignObject></b></foreignObject></svg>") + strings.Repeat("<p>x", 100_000) + end, coin, ""},
		{"the same with end tags across blocks", numbered(60, "<font a=%d><div><div><div><div><div><div><div><div><div><div></font></div></div></div></div></div></div></div></div></div></div>") + strings.Repeat("<p>x", 100_000) + end, coin, ""},
		{"few formatting elements with many attributes", strings.Repeat("<b "+numbered(900, "a%d ")+">", 40) + strings.Repeat("<p>x", 100_000) + end, coin, ""},
		{"paragraphs with bold that never ends", strings.Repeat("<p><b>x", 1_100_000) + end, coin, sift.WarnDeepMarkup},
		{"links around tables", strings.Repeat("<a><table>", 200_000/scale) + end, coin, ""},
		{"three million paragraphs", strings.Repeat("<p>x", 2_500_000) + end, coin, sift.WarnDeepMarkup},
		{"five million line breaks", strings.Repeat("<br>", 2_500_000) + end, coin, sift.WarnDeepMarkup},
		{"a tag with two million attributes", "<p " + strings.Repeat("a b=1 ", 1_500_000/scale) + ">" + end, coin, ""},
		{"a tag with a million different attributes", "<p " + numbered(1_000_000/scale, "a%d ") + ">" + end, coin, ""},
		{"the same in a style in SVG", "<svg><style><p " + numbered(1_000_000/scale, "a%d ") + "></style></svg>" + end, "", ""},
		{"an attribute of ten megabytes", "<p title='" + strings.Repeat("x", 9<<20/scale) + "'>" + end, coin, ""},
		{"an unclosed comment", end + "<!--" + strings.Repeat("<p>x", 1_000_000/scale), coin, ""},
		{"an unclosed script", end + "<script>" + strings.Repeat("<p>x", 1_000_000/scale), coin, ""},
		{"an unclosed textarea", end + "<textarea>" + strings.Repeat("<p>x", 1_000_000/scale), coin, ""},
		{"plaintext", end + "<plaintext>" + strings.Repeat("<p>x", 1_000_000/scale), coin, ""},
		{"CDATA", end + "<![CDATA[" + strings.Repeat("<p>x", 1_000_000/scale), coin, ""},
		{"a table of a hundred thousand columns", "<table><tr>" + strings.Repeat("<td>x", 100_000) + "</table>" + end, coin, ""},
		{"one line of ten megabytes", "<p>" + strings.Repeat("word ", 2_000_000/scale) + end, coin, ""},
		{"end tags without a beginning", strings.Repeat("</x>", 2_400_000/scale) + end, coin, ""},
		{"many open elements and end tags of others", strings.Repeat("<x1>", 400) + strings.Repeat("</y>", 2_000_000/scale) + end, coin, ""},
		{"less-than signs", strings.Repeat("<", 9<<20/scale) + end, coin, ""},
		{"many scripts of data", strings.Repeat(`<script type="application/ld+json">[[[[{"@graph":[{"name":"x"}]}]]]]</script>`, 100_000) + end, coin, ""},
		{"lists in lists", strings.Repeat("<ul><li>", 240) + end, coin, ""},
		{"classes of a megabyte", strings.Repeat("<div class='"+strings.Repeat("nav menu ", 100_000)+"'>x</div>", 10) + end, coin, ""},
	}
}

// These pages took minutes or gigabytes somewhere. The figures are bounds, not
// measurements: the machine may be busy.
func TestHostilePagesGiveTheirTextWithinTimeAndMemory(t *testing.T) {
	for _, h := range hostilePages() {
		t.Run(h.name, func(t *testing.T) {
			var doc *sift.Document
			var err error
			start := time.Now()
			grown := peak(func() {
				doc, err = Extract(context.Background(), Input{Body: []byte(h.body), ContentType: "text/html", URL: "http://a.example/"})
			})
			took := time.Since(start)
			t.Logf("%d bytes: %v, heap %d MB, weight %d MB", len(h.body), took, grown>>20, Weight(Input{Body: []byte(h.body)})>>20)
			if err != nil {
				t.Fatal(err)
			}
			if took > 20*time.Second {
				t.Errorf("took %v", took)
			}
			if grown > 300<<20 {
				t.Errorf("the heap grew by %d MB", grown>>20)
			}
			if !strings.Contains(plainText(doc.Main), h.want) {
				t.Errorf("the main content lacks %q", h.want)
			}
			if h.code != "" && !warned(doc, h.code) {
				t.Errorf("no warning %s in %v", h.code, doc.Warnings)
			}
		})
	}
}

func warned(doc *sift.Document, code sift.WarningCode) bool {
	for _, w := range doc.Warnings {
		if w.Code == code {
			return true
		}
	}
	return false
}

func TestADeadlineEndsTheWork(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := Extract(ctx, Input{Body: []byte("<p>x"), ContentType: "text/html"})
	var f *sift.Failure
	if !errors.As(err, &f) || f.Code != sift.CodeCancel {
		t.Errorf("got %v", err)
	}
}

// From the bytes to the main content, whatever a page is full of.
func TestExtractingTakesTimeLinearInThePage(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	sentence := "The river rose by a metre in one night, and the lower weir was opened at five. "
	row := func(s string) func(n int) string { return func(n int) string { return strings.Repeat(s, n) } }
	for name, shape := range map[string]func(n int) string{
		"paragraphs":    row("<p>" + sentence),
		"posts":         row("<article class=post><a href=/u/1>member</a> <time datetime=2024-05-01>May 1, 2024</time><p>" + sentence + "<a href=#>Reply</a></article>"),
		"cards":         row("<div class=card><h3><a href=/p/1>A thing</a></h3><span class=price>$12.00</span><button>Add</button></div>"),
		"accordions":    row("<h3><button aria-expanded=false>What is it?</button></h3><div hidden><p>" + sentence + "</div>"),
		"plain buttons": row("<button>What is it?</button><div style='display:none'><p>" + sentence + "</div>"),
		"link lists":    row("<ul class=menu><li><a href=/a>One</a><li><a href=/b>Two</a></ul>"),
		"rows": func(n int) string {
			return "<table>" + strings.Repeat("<tr><th>Year<td>1900<td>"+sentence, n) + "</table>"
		},
		"nested": func(n int) string {
			return strings.Repeat(strings.Repeat("<div>", 50)+sentence+strings.Repeat("</div>", 50), n/20)
		},
		"headings": row("<h2>On the river</h2><p>" + sentence),
		"bylines":  row("<p>By Ann Weir, published on 12 March 2024</p>"),
		"classes":  row("<div class='a-b c_d eF sidebar__item--x related'>" + sentence + "</div>"),
		"listings": row("<pre><code class=language-go>x := 1\ny := 2\n</code></pre>"),
	} {
		cputime.Linear(t, name, 500, func(n int) func() {
			in := Input{Body: []byte("<title>The weir</title><main><h1>The weir</h1>" + shape(n) + "</main>"), ContentType: "text/html", URL: "http://a.example/weir"}
			return func() {
				if _, err := Extract(context.Background(), in); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}
