package main

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"io"
	"mime"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"sift.build/sift/internal/child"
	"sift.build/sift/internal/digest"
	"sift.build/sift/internal/extract"
	"sift.build/sift/internal/pdf"
	"sift.build/sift/internal/pdf/pdftest"
	"sift.build/sift/internal/render"
	"sift.build/sift/internal/sift"
)

// documentMax bounds, in bytes, a file that is read.
const documentMax = 10 << 20

// library reads documents as the product does.
type library struct {
	set    string // folder of the questions, which has documents of its own
	goroot string
	debian string // /usr/share/doc
	pdfs   *pdf.Reader
}

func newLibrary(set string) (*library, error) {
	goroot := runtime.GOROOT() //nolint:staticcheck // the documents of the Go that builds this are meant
	if _, err := os.Stat(filepath.Join(goroot, "doc")); err != nil {
		return nil, fmt.Errorf("the documents of the Go distribution are part of the set: %w", err)
	}
	return &library{
		set: set, goroot: goroot, debian: "/usr/share/doc",
		pdfs: pdf.New(pdf.Config{
			Launcher: child.New(child.Config{Memory: 640 << 20}), CacheDirs: []string{filepath.Join(pdftest.CacheHome(), "sift")},
		}),
	}, nil
}

// document reads the one that a set of questions names: "goroot PATH",
// "package PATH" for the comment of a package, "debian PATH", "file PATH" for one
// beside the questions, "pdf NAME" for one that is made.
func (l *library) document(ctx context.Context, name string) (digest.Text, error) {
	kind, path, _ := strings.Cut(name, " ")
	switch kind {
	case "goroot":
		return l.file(ctx, filepath.Join(l.goroot, path))
	case "package":
		md, err := l.packageComment(path)
		if err != nil {
			return digest.Text{}, err
		}
		return rendered(ctx, extract.Input{Body: []byte(md), URL: "https://pkg.go.dev/" + path, ContentType: "text/markdown; charset=utf-8"})
	case "debian":
		return l.file(ctx, filepath.Join(l.debian, path))
	case "file":
		return l.file(ctx, filepath.Join(l.set, path))
	case "pdf":
		body, err := l.makePDF(path)
		if err != nil {
			return digest.Text{}, err
		}
		doc, err := l.pdfs.Read(ctx, pdf.Request{Body: body})
		if err != nil {
			return digest.Text{}, fmt.Errorf("read %s: %w (%w)", path, err, errors.Unwrap(err))
		}
		return textOf(doc)
	}
	return digest.Text{}, fmt.Errorf("%q is no document: it begins with none of goroot, package, debian, file, pdf", name)
}

func (l *library) file(ctx context.Context, path string) (digest.Text, error) {
	body, err := readFile(path)
	if err != nil {
		return digest.Text{}, err
	}
	ext := filepath.Ext(strings.TrimSuffix(path, ".gz"))
	kind := mime.TypeByExtension(ext)
	if ext == ".md" {
		kind = "text/markdown; charset=utf-8"
	}
	return rendered(ctx, extract.Input{Body: body, URL: "https://docs.example/" + filepath.Base(path), ContentType: kind})
}

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	body, err := io.ReadAll(io.LimitReader(r, documentMax+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(body) > documentMax {
		return nil, fmt.Errorf("%s is over %d bytes", path, documentMax)
	}
	return body, nil
}

// packageComment gives what the documentation of a package begins with, as
// Markdown: the longest package comment among its files.
func (l *library) packageComment(path string) (string, error) {
	files, err := filepath.Glob(filepath.Join(l.goroot, "src", path, "*.go"))
	if err != nil {
		return "", err
	}
	best := ""
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			return "", err
		}
		if text := commentOf(f); len(text) > len(best) {
			best = text
		}
	}
	if best == "" {
		return "", fmt.Errorf("package %s has no comment", path)
	}
	var p comment.Parser
	out := comment.Printer{HeadingLevel: 2}
	return "# Package " + path + "\n\n" + string(out.Markdown(p.Parse(best))), nil
}

func commentOf(f *ast.File) string {
	if f.Doc == nil {
		return ""
	}
	return f.Doc.Text()
}

// rendered takes a body the way that the product takes it.
func rendered(ctx context.Context, in extract.Input) (digest.Text, error) {
	doc, err := extract.Extract(ctx, in)
	if err != nil {
		return digest.Text{}, err
	}
	return textOf(doc)
}

func textOf(doc *sift.Document) (digest.Text, error) {
	r, err := render.Content(doc, sift.ModeClean)
	if err != nil {
		return digest.Text{}, err
	}
	s := r.Structure()
	return digest.Text{Content: r.Content, Markdown: r.IsMarkdown(), Headings: s.Headings, Pages: s.Pages, Language: doc.Language}, nil
}
