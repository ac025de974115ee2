package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sift.build/sift/demo/server"
)

// paperURL says nothing about what it leads to, and neither does its type.
const paperURL = "/download/7"

func (d *demo) pdf(ctx context.Context, s *step) error {
	a, err := d.fetch(ctx, s, request{URL: d.url + paperURL})
	if err != nil || !s.page(a) {
		return err
	}
	s.show("title", "%s", a.Title)
	s.show("pages", "%d, as %s characters of Markdown in %s", a.Pages.Total, group(a.Chars), short(a.took))
	if at := strings.Index(a.Content, "| Group |"); at >= 0 {
		s.quote(a.Content[at:], 4)
	}
	s.expect(a.Pages.Total == 6 && len(a.Pages.Returned) == 6, "six pages, got %+v", a.Pages)
	s.expect(strings.HasPrefix(a.Title, "Listening for Rain"), "the paper's title, got %q", a.Title)
	s.expect(strings.Contains(a.Content, "\n## 1 Introduction\n"), "its first heading as a heading")
	s.expect(strings.Contains(a.Content, "| Town houses | 17 | 0.84 | 22° |"), "its first table as a table")
	s.expect(strings.Contains(a.Content, "<!-- page 6 -->"), "marks where pages begin")
	s.expect(strings.Contains(a.Content, "Rain is easy to hear and hard to measure. A tipping-bucket gauge costs as much as a bicycle, stands in one place, and"),
		"one column read to its end, with its words whole")
	return nil
}

func (d *demo) pdfPages(ctx context.Context, s *step) error {
	a, err := d.fetch(ctx, s, request{URL: d.url + paperURL, Pages: "6,2"})
	if err != nil || !s.page(a) {
		return err
	}
	s.show("pages", "%v of %d, in %s", a.Pages.Returned, a.Pages.Total, short(a.took))
	s.expect(slices.Equal(a.Pages.Returned, []int{2, 6}), "pages 2 and 6, got %v", a.Pages.Returned)
	s.expect(!strings.Contains(a.Content, "<!-- page 1 -->") && strings.HasPrefix(a.Content, "<!-- page 2 -->"), "no other page")
	o, err := d.fetch(ctx, s, request{URL: d.url + paperURL, Mode: "outline"})
	if err != nil || !s.page(o) {
		return err
	}
	s.quote(o.Content, 4)
	s.expect(len(o.Outline) > 8, "over 8 entries, got %d", len(o.Outline))
	out, err := d.fetch(ctx, s, request{URL: d.url + paperURL, Pages: "9"})
	if err != nil {
		return err
	}
	s.show("page 9", "%s", out.Error)
	s.expect(out.Code == "invalid" && strings.Contains(out.Error, "6 pages"), "to be told that there are 6 pages, got %q", out.Error)
	s.expect(len(d.site.answers(paperURL)) == 1, "one download, got %d", len(d.site.answers(paperURL)))
	return nil
}

// convert converts copies of the paper and the site's pages. It is the first
// step that reads PDFs: on a machine where that has never been done it waits
// until their engine is there.
func (d *demo) convert(ctx context.Context, s *step) error {
	dir, err := os.MkdirTemp("", "sift-demo-files-")
	if err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }() // what is in it was made for this step
	args := []string{"convert", "-o", filepath.Join(dir, "markdown")}
	write := func(name string, content []byte) error {
		args = append(args, filepath.Join(dir, name))
		return os.WriteFile(filepath.Join(dir, name), content, 0o600)
	}
	for i := range 6 {
		if err := write(fmt.Sprintf("paper-%d.pdf", i+1), d.site.paper); err != nil {
			return err
		}
	}
	for name, page := range d.site.pages {
		if err := write(name, page); err != nil {
			return err
		}
	}
	s.command("sift convert -o markdown *.pdf *.html")
	start := time.Now()
	c := exec.CommandContext(ctx, d.binary, args...)
	c.Env = server.Environment()
	out, err := c.CombinedOutput()
	took := time.Since(start)
	if err != nil {
		return fmt.Errorf("sift convert: %w: %s", err, out)
	}
	made, err := filepath.Glob(filepath.Join(dir, "markdown", "*.md"))
	if err != nil {
		return err
	}
	s.show("made", "%d files in %s", len(made), short(took))
	s.expect(len(made) == 9, "nine files, got %d", len(made))
	text, err := os.ReadFile(filepath.Join(dir, "markdown", "paper-6.md"))
	s.expect(err == nil && strings.Contains(string(text), "## 1 Introduction"), "the paper in the last one, got %v", err)
	return nil
}
