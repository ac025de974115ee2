package extract

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"io/fs"
	"os"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"sift.build/sift/internal/normalize"
	"sift.build/sift/tools/wcxb"
)

var wcxbEvery = flag.Int("wcxb.every", 10, "read every n-th page of the WCXB benchmark")

// readWCXB gives pages of the benchmark.
func readWCXB(t testing.TB) []*wcxb.Page {
	t.Helper()
	if testing.Short() {
		t.Skip("not read: -short")
	}
	pages, err := wcxb.Read(cmp.Or(os.Getenv("SIFT_WCXB"), "../../../shared/wcxb"), *wcxbEvery)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("NOT READ: the benchmark's pages are not in the repository; $SIFT_WCXB names their folder: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

func load(t testing.TB, p *wcxb.Page) []byte {
	t.Helper()
	body, err := p.Body()
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func squash(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

// plainText is the text of a tree with blocks on lines of their own.
func plainText(n *html.Node) string {
	var b bytes.Buffer
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		switch {
		case n.Type == html.TextNode:
			b.WriteString(n.Data)
			return
		case n.DataAtom == atom.Br:
			b.WriteByte('\n')
		}
		block := normalize.IsBlock(n)
		if block {
			b.WriteByte('\n')
		}
		for c := range n.ChildNodes() {
			walk(c)
		}
		if block {
			b.WriteByte('\n')
		}
	}
	if n != nil {
		walk(n)
	}
	return b.String()
}

// What is said to be kept is what is given.
func TestExplanationsOfRealPagesAgreeWithWhatIsGiven(t *testing.T) {
	for _, p := range readWCXB(t) {
		in := Input{Body: load(t, p), URL: p.URL, ContentType: "text/html"}
		doc, err := Extract(context.Background(), in)
		if err != nil {
			t.Fatal(p.ID, err)
		}
		e, err := Explain(context.Background(), in)
		if err != nil {
			t.Fatal(p.ID, err)
		}
		var said strings.Builder
		for i := range e.Blocks {
			if e.Blocks[i].Kept {
				said.WriteString(e.Blocks[i].Text + " ")
			}
		}
		// But for the spaces between blocks.
		if got, want := strings.Join(strings.Fields(plainText(doc.Main)), ""), strings.Join(strings.Fields(said.String()), ""); got != want {
			t.Errorf("%s: %d bytes are given, %d are said to be", p.ID, len(got), len(want))
		}
	}
}

// The figures by type of page are printed by make quality.
func TestTheMainContentOfRealPages(t *testing.T) {
	pages := readWCXB(t)
	var sum float64
	for _, p := range pages {
		doc, err := Extract(context.Background(), Input{Body: load(t, p), URL: p.URL, ContentType: "text/html"})
		if err != nil {
			t.Fatal(p.ID, err)
		}
		_, _, f1 := wcxb.Score(plainText(doc.Main), p.Main)
		sum += f1
	}
	f1 := sum / float64(len(pages))
	t.Logf("word F1 %.4f over %d pages, which the model was trained on", f1, len(pages))
	// A floor, not a goal: below it something broke.
	if f1 < 0.88 {
		t.Errorf("word F1 %.4f over %d pages", f1, len(pages))
	}
}

// BenchmarkPages compares bare parsing with extraction on the benchmark's pages.
func BenchmarkPages(b *testing.B) {
	pages := readWCXB(b)
	bodies := make([][]byte, len(pages))
	for i, p := range pages {
		bodies[i] = load(b, p)
	}
	b.Run("parse", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for _, body := range bodies {
				if _, err := html.Parse(bytes.NewReader(body)); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("extract", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for i, body := range bodies {
				if _, err := Extract(context.Background(), Input{Body: body, URL: pages[i].URL, ContentType: "text/html"}); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}
