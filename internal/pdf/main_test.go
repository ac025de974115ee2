package pdf

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"sift.build/sift/internal/child"
	"sift.build/sift/internal/pdf/pdftest"
	"sift.build/sift/internal/render"
	"sift.build/sift/internal/sift"
)

// The children that read are this test program.
func TestMain(m *testing.M) {
	child.Main(Workers())
	if dir := os.Getenv(hostileEnv); dir != "" {
		if err := writeHostile(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// newReader makes a reader with the limits of the product, but for what edit
// changes. PDFium is compiled once for all tests of this user.
func newReader(t testing.TB, edit func(*Config)) *Reader {
	t.Helper()
	cfg := Config{
		Launcher: child.New(child.Config{Memory: 640 << 20}), CacheDirs: []string{filepath.Join(pdftest.CacheHome(), "sift")},
	}
	if edit != nil {
		edit(&cfg)
	}
	r := New(cfg)
	t.Cleanup(r.Close)
	return r
}

// read reads a file that must be readable.
func read(t testing.TB, r *Reader, req Request) *sift.Document {
	t.Helper()
	doc, err := r.Read(t.Context(), req)
	if err != nil {
		t.Fatalf("%v (cause: %v)", err, sift.AsFailure(err).Cause)
	}
	return doc
}

func content(t testing.TB, doc *sift.Document, m sift.Mode) string {
	t.Helper()
	r, err := render.Content(doc, m)
	if err != nil {
		t.Fatal(err)
	}
	return r.Content
}

// failure reads a file that must not be readable.
func failure(t testing.TB, r *Reader, req Request) *sift.Failure {
	t.Helper()
	doc, err := r.Read(t.Context(), req)
	if err == nil {
		t.Fatalf("it was read: %q", content(t, doc, sift.ModeText))
	}
	return sift.AsFailure(err)
}

// outcomes collects what a reader tells of each file.
func outcomes(into *[]Outcome) func(*Config) {
	return func(c *Config) { c.Trace = &Trace{Done: func(o Outcome) { *into = append(*into, o) }} }
}

// a good file, which must be readable whatever came before it.
func stillGood(t testing.TB, r *Reader) {
	t.Helper()
	if got := content(t, read(t, r, Request{Body: pdftest.Pages("Still here.")}), sift.ModeText); got != "[page 1]\n\nStill here." {
		t.Errorf("the next file reads %q", got)
	}
}

func tempFile(t testing.TB, body []byte) *os.File {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "file.pdf"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	if _, err := f.Write(body); err != nil {
		t.Fatal(err)
	}
	return f
}
