package extract

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"sift.build/sift/internal/normalize"
)

var (
	wcxb      = flag.String("wcxb", "", "folder with ground-truth.jsonl.gz and html/ of the WCXB benchmark; default $SIFT_WCXB, else shared/wcxb beside the repository")
	wcxbEvery = flag.Int("wcxb.every", 10, "score every n-th page")
	wcxbWorst = flag.Int("wcxb.worst", 0, "list the n worst pages")
	wcxbOut   = flag.String("wcxb.out", "", "write the score of every page to this file")
)

type goldPage struct {
	ID, URL, Type string
	MainContent   string `json:"main_content"`
	Title, Author string
	Date          string `json:"publish_date"`
	With, Without []string
}

func readWCXB(t testing.TB) []goldPage {
	if testing.Short() {
		t.Skip("not scored: -short")
	}
	if *wcxb == "" {
		*wcxb = cmp.Or(os.Getenv("SIFT_WCXB"), "../../../shared/wcxb")
	}
	f, err := os.Open(filepath.Join(*wcxb, "ground-truth.jsonl.gz"))
	if err != nil {
		t.Skipf("NOT SCORED: the benchmark's pages are not in the repository; $SIFT_WCXB or -wcxb names their folder: %v", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var pages []goldPage
	r := bufio.NewReader(z)
	for n := 0; ; n++ {
		line, err := r.ReadBytes('\n')
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if n%*wcxbEvery != 0 {
			continue
		}
		var g goldPage
		if err := json.Unmarshal(line, &g); err != nil {
			t.Fatal(err)
		}
		pages = append(pages, g)
	}
	return pages
}

func (g *goldPage) load(t testing.TB) []byte {
	f, err := os.Open(filepath.Join(*wcxb, "html", g.ID+".html.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func wordBag(s string) map[string]int {
	bag := map[string]int{}
	for _, w := range strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && r != '_' && !unicode.Is(unicode.Mn, r)
	}) {
		bag[w]++
	}
	return bag
}

func wordF1(pred, gold string) (p, r, f float64) {
	pb, gb := wordBag(pred), wordBag(gold)
	np, ng, both := 0, 0, 0
	for w, n := range pb {
		np += n
		both += min(n, gb[w])
	}
	for _, n := range gb {
		ng += n
	}
	if ng == 0 {
		if np == 0 {
			return 1, 1, 1
		}
		return 0, 0, 0
	}
	if both == 0 {
		return 0, 0, 0
	}
	p, r = float64(both)/float64(np), float64(both)/float64(ng)
	return p, r, 2 * p * r / (p + r)
}

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

func squash(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

// TestScoreOnWCXB prints the word F1 of the main content by type of page.
func TestScoreOnWCXB(t *testing.T) {
	pages := readWCXB(t)
	type sum struct{ n, p, r, f float64 }
	by := map[string]*sum{}
	all := &sum{}
	type row struct {
		F1   float64 `json:"f1"`
		ID   string  `json:"id"`
		Type string  `json:"type"`
		P, R float64
		N, G int
	}
	var rows []row
	var kept, keptAll, out, outAll int
	var parseTime, extractTime time.Duration
	titles, authors, authorsAll, dates, datesAll, falseAuthors, falseDates := 0, 0, 0, 0, 0, 0, 0
	for i := range pages {
		g := &pages[i]
		body := g.load(t)
		start := time.Now()
		if _, err := html.Parse(bytes.NewReader(body)); err != nil {
			t.Log(g.ID, err)
		}
		parseTime += time.Since(start)
		start = time.Now()
		doc, err := Extract(context.Background(), Input{Body: body, URL: g.URL, ContentType: "text/html"})
		extractTime += time.Since(start)
		if err != nil {
			t.Fatal(g.ID, err)
		}
		text := plainText(doc.Main)
		p, r, f := wordF1(text, g.MainContent)
		for _, s := range []*sum{by[g.Type], all} {
			if s == nil {
				s = &sum{}
				by[g.Type] = s
			}
			s.n++
			s.p += p
			s.r += r
			s.f += f
		}
		rows = append(rows, row{f, g.ID, g.Type, p, r, len(text), len(g.MainContent)})
		flat := squash(text)
		for _, s := range g.With {
			keptAll++
			if strings.Contains(flat, squash(s)) {
				kept++
			}
		}
		for _, s := range g.Without {
			outAll++
			if !strings.Contains(flat, squash(s)) {
				out++
			}
		}
		if letters(doc.Title) == letters(g.Title) {
			titles++
		} else if testing.Verbose() && *wcxbWorst < 0 {
			t.Logf("title %s: %q, gold %q", g.ID, doc.Title, g.Title)
		}
		if g.Author != "" {
			authorsAll++
			if letters(doc.Author) == letters(g.Author) {
				authors++
			}
		} else if doc.Author != "" {
			falseAuthors++
		}
		if g.Date != "" {
			datesAll++
			if strings.HasPrefix(doc.Published, g.Date) {
				dates++
			}
		} else if doc.Published != "" {
			falseDates++
		}
	}
	var names []string
	for k := range by {
		names = append(names, k)
	}
	sort.Slice(names, func(i, j int) bool { return by[names[i]].n > by[names[j]].n })
	var b strings.Builder
	for _, k := range append(names, "all") {
		s := by[k]
		if k == "all" {
			s = all
		}
		fmt.Fprintf(&b, "\n%-15s %5.0f pages  F1 %.4f  P %.4f  R %.4f", k, s.n, s.f/s.n, s.p/s.n, s.r/s.n)
	}
	fmt.Fprintf(&b, "\nsnippets kept %d/%d, kept out %d/%d", kept, keptAll, out, outAll)
	fmt.Fprintf(&b, "\ntitles %d/%d, authors %d/%d (+%d), dates %d/%d (+%d)", titles, len(pages), authors, authorsAll, falseAuthors, dates, datesAll, falseDates)
	fmt.Fprintf(&b, "\nparse %v, extract %v, ratio %.2f", parseTime, extractTime, extractTime.Seconds()/parseTime.Seconds())
	sort.Slice(rows, func(i, j int) bool { return rows[i].F1 < rows[j].F1 })
	for i := 0; i < *wcxbWorst && i < len(rows); i++ {
		fmt.Fprintf(&b, "\n%+v", rows[i])
	}
	t.Log(b.String())
	// A floor, not a goal: below it something broke.
	if f1 := all.f / all.n; f1 < 0.83 {
		t.Errorf("word F1 %.4f over %.0f pages", f1, all.n)
	}
	if *wcxbOut != "" {
		j, err := json.Marshal(rows)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(*wcxbOut, j, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// BenchmarkPages compares bare parsing with extraction on the benchmark's pages.
func BenchmarkPages(b *testing.B) {
	pages := readWCXB(b)
	var bodies [][]byte
	for i := range pages {
		bodies = append(bodies, pages[i].load(b))
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
