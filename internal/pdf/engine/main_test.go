package engine

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"

	"sift.build/sift/internal/pdf/layout"
	"sift.build/sift/internal/pdf/pdftest"
)

// cacheDir is shared by all tests of this user, because compiling PDFium takes
// seconds; it is keyed by module and machine, so it does not go stale.
func cacheDir(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(pdftest.CacheHome(), "sift")
	if err := Fill(context.Background(), dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

func start(t testing.TB, c Config) *Engine {
	t.Helper()
	c.CacheDir = cacheDir(t)
	e, err := Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

func open(t testing.TB, data []byte, password string) *Document {
	t.Helper()
	d, err := start(t, Config{}).Open(bytes.NewReader(data), int64(len(data)), password)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func readPage(t testing.TB, d *Document, n int) *layout.Page {
	t.Helper()
	p, err := d.Page(n)
	if err != nil {
		t.Fatalf("page %d: %v", n, err)
	}
	return p
}

// onlyPage opens a document and reads its first page.
func onlyPage(t testing.TB, data []byte) *layout.Page {
	t.Helper()
	return readPage(t, open(t, data, ""), 1)
}

// plain is the text of a page as the words and their marks say it: a tilde
// stands for a hyphen at a line's end.
func plain(p *layout.Page) string {
	var b strings.Builder
	for i, w := range p.Words {
		switch {
		case i == 0:
		case w.Break:
			b.WriteByte('\n')
		case w.Space:
			b.WriteByte(' ')
		}
		b.WriteString(w.Text)
		if w.Hyphen {
			b.WriteByte('~')
		}
	}
	return b.String()
}

// word finds a word of a page.
func word(t testing.TB, p *layout.Page, text string) layout.Word {
	t.Helper()
	for _, w := range p.Words {
		if w.Text == text {
			return w
		}
	}
	t.Fatalf("no word %q in %q", text, plain(p))
	return layout.Word{}
}
