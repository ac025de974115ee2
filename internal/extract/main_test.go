package extract

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"sift.build/sift/internal/dom"
	"sift.build/sift/internal/sift"
)

// articleOf is a page with a menu, a side column and an article of n paragraphs.
func articleOf(n int) string {
	var b strings.Builder
	b.WriteString(`<title>The lower weir</title><nav class="menu"><ul>`)
	for i := range 30 {
		fmt.Fprintf(&b, `<li><a href="/s/%d">Section %d</a></li>`, i, i)
	}
	b.WriteString(`</ul></nav><main><h1>The lower weir</h1>`)
	for i := range n {
		fmt.Fprintf(&b, `<p>In the %dth year the weir was rebuilt in stages, so that the water never stopped, and the crew kept a ledger of every stone that was moved.</p>`, i+1)
	}
	b.WriteString(`<pre>gate --open 3</pre><p>That is all.</p></main><aside class="related"><h3>Most read</h3><ul>`)
	for i := range 12 {
		fmt.Fprintf(&b, `<li><a href="/r/%d">Ten things about rope number %d</a></li>`, i, i)
	}
	b.WriteString(`</ul></aside><footer>© 2024 Harbour Notes</footer>`)
	return b.String()
}

func TestShortAndLongPagesLoseWhatIsAroundAndKeepTheirParts(t *testing.T) {
	for n, by := range map[int]string{3: "rules", 40: "model"} {
		in := Input{Body: []byte(articleOf(n)), URL: "http://a.example/weir", ContentType: "text/html"}
		doc, err := Extract(context.Background(), in)
		if err != nil {
			t.Fatal(err)
		}
		text := plainText(doc.Main)
		for _, want := range []string{"The lower weir", "In the 1th year", fmt.Sprintf("In the %dth year", n), "gate --open 3", "That is all."} {
			if !strings.Contains(text, want) {
				t.Errorf("%d paragraphs: %q is missing", n, want)
			}
		}
		for _, no := range []string{"Section", "rope", "2024"} {
			if strings.Contains(text, no) {
				t.Errorf("%d paragraphs: %q was kept", n, no)
			}
		}
		e, err := Explain(context.Background(), in)
		if err != nil {
			t.Fatal(err)
		}
		var kept []string
		for _, k := range e.Blocks {
			if k.Kept {
				kept = append(kept, k.Text)
			}
		}
		if e.By != by || strings.Join(kept, " ") != strings.Join(strings.Fields(text), " ") {
			t.Errorf("%d paragraphs, by %s: %q was explained, %q was given", n, e.By, kept, text)
		}
	}
}

func TestAnExplanationAsAPageHoldsNothingThatActs(t *testing.T) {
	page := articleOf(40) + `<p class="x&quot; onload=1">&lt;script>alert(1)&lt;/script> <img src="http://b.example/x.png" alt="A picture"> <a href="http://b.example/">b</a></p>`
	e, err := Explain(context.Background(), Input{Body: []byte(page), URL: "http://a.example/weir", ContentType: "text/html"})
	if err != nil {
		t.Fatal(err)
	}
	root, err := html.Parse(strings.NewReader(e.HTML()))
	if err != nil {
		t.Fatal(err)
	}
	for n := root; n != nil; n = dom.Next(n, root) {
		switch {
		case n.Type == html.ElementNode && (n.Data == "script" || n.Data == "img" || n.Data == "a" || n.Data == "iframe"):
			t.Errorf("it has a %s element", n.Data)
		case dom.Attr(n, "onload") != "":
			t.Error("an attribute of the page's came through")
		}
	}
	if s := e.HTML(); !strings.Contains(s, `class="kept"`) || !strings.Contains(s, `class="dropped"`) {
		t.Error("nothing is marked")
	}
	if lines := strings.Count(e.Text(), "\n"); lines != len(e.Blocks)+1 {
		t.Errorf("%d lines for %d blocks", lines, len(e.Blocks))
	}
}

func TestOnlyAPageIsExplained(t *testing.T) {
	_, err := Explain(context.Background(), Input{Body: []byte(`{"a":1}`), ContentType: "application/json"})
	if f := sift.AsFailure(err); f == nil || f.Code != sift.CodeUnsupported {
		t.Errorf("got %v", err)
	}
}
