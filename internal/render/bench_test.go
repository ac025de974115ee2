package render

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"golang.org/x/net/html"

	"sift.build/sift/internal/normalize"
	"sift.build/sift/internal/sift"
)

// benchPages gives every twentieth page of the WCXB set ($SIFT_WCXB, or
// ../shared/wcxb beside the repository); without the set, one page made of all
// constructs, thirty times over.
func benchPages(b *testing.B) [][]byte {
	b.Helper()
	dir := os.Getenv("SIFT_WCXB")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "wcxb")
	}
	names, err := filepath.Glob(filepath.Join(dir, "html", "*.html.gz"))
	if err != nil {
		b.Fatal(err)
	}
	var pages [][]byte
	for i := 0; i < len(names); i += 20 {
		f, err := os.Open(names[i])
		if err != nil {
			b.Fatal(err)
		}
		z, err := gzip.NewReader(f)
		if err != nil {
			b.Fatal(err)
		}
		page, err := io.ReadAll(z)
		if err != nil {
			b.Fatal(err)
		}
		if err := f.Close(); err != nil {
			b.Fatal(err)
		}
		pages = append(pages, page)
	}
	if pages == nil {
		names, err := filepath.Glob("testdata/constructs/*.txtar")
		if err != nil {
			b.Fatal(err)
		}
		var page []byte
		for range 30 {
			for _, name := range names {
				ar, err := txtar.ParseFile(name)
				if err != nil {
					b.Fatal(err)
				}
				page = append(page, ar.Files[0].Data...)
			}
		}
		pages = append(pages, page)
	}
	return pages
}

func parsePages(b *testing.B, pages [][]byte) []*html.Node {
	b.Helper()
	out := make([]*html.Node, len(pages))
	for i, page := range pages {
		doc, err := html.Parse(bytes.NewReader(page))
		if err != nil {
			b.Fatal(err)
		}
		out[i] = doc
	}
	return out
}

func normalizePages(b *testing.B, docs []*html.Node) {
	b.Helper()
	base, err := url.Parse("https://example.com/docs/guide/page.html")
	if err != nil {
		b.Fatal(err)
	}
	for i, doc := range docs {
		docs[i] = normalize.Page(doc, base).Body
	}
}

// The figures to hold the others against: bare parsing of the same pages.
func BenchmarkParse(b *testing.B) {
	pages := benchPages(b)
	b.ReportAllocs()
	for b.Loop() {
		parsePages(b, pages)
	}
}

func BenchmarkNormalize(b *testing.B) {
	pages := benchPages(b)
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		docs := parsePages(b, pages)
		b.StartTimer()
		normalizePages(b, docs)
	}
}

func benchmarkMode(b *testing.B, mode sift.Mode) {
	docs := parsePages(b, benchPages(b))
	normalizePages(b, docs)
	b.ReportAllocs()
	for b.Loop() {
		for _, d := range docs {
			if _, err := Content(&sift.Document{Kind: sift.KindHTML, Main: d, Page: d}, mode); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkMarkdown(b *testing.B) { benchmarkMode(b, sift.ModeClean) }
func BenchmarkText(b *testing.B)     { benchmarkMode(b, sift.ModeText) }
func BenchmarkHTML(b *testing.B)     { benchmarkMode(b, sift.ModeHTML) }
func BenchmarkLinks(b *testing.B)    { benchmarkMode(b, sift.ModeLinks) }

// BenchmarkWindows reads a megabyte of Markdown window by window.
func BenchmarkWindows(b *testing.B) {
	content := string(bytes.Repeat([]byte("## Heading\n\nA paragraph of some words, and a list:\n\n- item\n- item\n\n```go\ncode\n\ncode\n```\n\n"), 11_000))
	b.SetBytes(int64(len(content)))
	b.ReportAllocs()
	for b.Loop() {
		for offset, more := 0, true; more; {
			_, offset, more = Window(content, offset, sift.DefaultMaxChars)
		}
	}
}

func BenchmarkTokens(b *testing.B) {
	content := string(bytes.Repeat([]byte("Operators walk the line twice a week. 漢字 12,345 `code_name`\n"), 16_000))
	b.SetBytes(int64(len(content)))
	for b.Loop() {
		Tokens(content)
	}
}
