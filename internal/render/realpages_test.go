package render

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"sift.build/sift/internal/normalize"
	"sift.build/sift/internal/sift"
	"sift.build/sift/tools/wcxb"
)

// realPages calls f with each page under testdata and, when $SIFT_WCXB names
// their folder, with those of the WCXB benchmark.
func realPages(t *testing.T, f func(t *testing.T, name, page string)) {
	t.Helper()
	const large = 1 << 20 // those that are large on purpose have tests of their own
	seen := 0
	for _, pattern := range []string{"../../testdata/cases/*/*.html", "../../testdata/questions/documents/*.html", "../*/testdata/*/*.html"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			page, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if len(page) <= large {
				seen++
				f(t, name, strings.ToValidUTF8(string(page), "\ufffd"))
			}
		}
	}
	if seen < 300 {
		t.Errorf("only %d pages", seen)
	}
	dir := os.Getenv("SIFT_WCXB")
	if dir == "" || testing.Short() {
		return
	}
	names, err := filepath.Glob(filepath.Join(dir, "html", "*.html.gz"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no pages in $SIFT_WCXB, %v", err)
	}
	for _, name := range names {
		page, err := wcxb.Unpack(name)
		if err != nil {
			t.Fatal(err)
		}
		f(t, name, strings.ToValidUTF8(string(page), "\ufffd"))
	}
}

func TestTheStructureOfRealPagesSurvivesTheWayThroughMarkdown(t *testing.T) {
	base, err := url.Parse("https://example.com/a/b")
	if err != nil {
		t.Fatal(err)
	}
	realPages(t, func(t *testing.T, name, page string) {
		doc, err := html.Parse(strings.NewReader(page))
		if err != nil {
			return
		}
		body := normalize.Page(doc, base).Body
		r, err := Content(&sift.Document{Kind: sift.KindHTML, Main: body, Page: body}, sift.ModeClean)
		if err != nil {
			t.Fatal(err)
		}
		want := meant(body)
		if want.deep {
			return
		}
		for _, d := range differences(want, found(t, r.Content)) {
			t.Errorf("%s: %s", name, d)
		}
	})
}

func TestWindowsOnRealPagesJoinToTheWholeInEveryMode(t *testing.T) {
	realPages(t, func(t *testing.T, name, page string) {
		doc, err := html.Parse(strings.NewReader(page))
		if err != nil {
			return
		}
		body := normalize.Page(doc, nil).Body
		for i, mode := range []sift.Mode{sift.ModeClean, sift.ModeFull, sift.ModeText, sift.ModeHTML, sift.ModeLinks, sift.ModeOutline} {
			r, err := Content(&sift.Document{Kind: sift.KindHTML, Main: body, Page: body}, mode)
			if err != nil {
				t.Fatal(err)
			}
			for _, maxChars := range []int{max(7+i, r.Chars/200), max(100, r.Chars/11), r.Chars, r.Chars + 1} {
				if maxChars > 0 && strings.Join(windows(t, r.Content, maxChars), "") != r.Content {
					t.Errorf("%s in mode %s: windows of %d do not join", name, mode, maxChars)
				}
			}
		}
	})
}
