package render

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sift.build/sift/internal/sift"
)

// placed shows each heading with the first line and the last of its section.
func placed(content string, heads []sift.Heading) []string {
	chars := []rune(content)
	var out []string
	for _, h := range heads {
		section := strings.TrimRight(string(chars[h.Offset:h.Offset+h.Chars]), "\n")
		first, _, _ := strings.Cut(section, "\n")
		out = append(out, fmt.Sprintf("%d %s #%s: %s … %s", h.Level, h.Text, h.Anchor, first, section[strings.LastIndexByte(section, '\n')+1:]))
	}
	return out
}

func TestHeadingsAreKnownByTheirPlaceInEveryContentThatHasThem(t *testing.T) {
	const page = `<h1 id="top">Größe</h1><p>é</p><blockquote><h2 id="q">Quoted</h2><p>x</p></blockquote><h2></h2><h2><img src="/x.png" alt="x"></h2><table><caption><h4>Cap</h4></caption><tr><th>A<th>B<tr><td><h3>Cell</h3><td>c</table>` +
		`<ul><li><h3>Item <b>one</b></h3><p>y</p></li></ul><h2>Last<h3>inner</h3></h2><p>z</p>`
	for mode, want := range map[sift.Mode][]string{
		sift.ModeClean: {
			"1 Größe #top: # Größe … z", "2 Quoted #q: > ## Quoted …   y", "4 Cap #: #### Cap … | **Cell** | c |", "3 Item one #: - ### Item one …   y", "2 Last #: ## Last … z", "3 inner #: ### inner … z",
		},
		sift.ModeText: {
			"1 Größe #top: Größe … z", "2 Quoted #q: Quoted …   y", "4 Cap #: Cap … Cell | c", "3 Item one #: - Item one …   y", "2 Last #: Last … z", "3 inner #: inner … z",
		},
		sift.ModeHTML: {
			"1 Größe #top: <h1>Größe</h1> … <p>z</p>", "2 Quoted #q: <blockquote><h2>Quoted</h2> … </ul>", "4 Cap #: <table><caption><h4>Cap</h4> … </table>",
			"3 Item one #: <ul><li><h3>Item <strong>one</strong></h3> … </ul>", "2 Last #: <h2>Last</h2> … <p>z</p>", "3 inner #: <h3>inner</h3> … <p>z</p>",
		},
	} {
		r := inMode(t, page, mode)
		got := placed(r.Content, r.Structure().Headings)
		if mode == sift.ModeClean {
			full := inMode(t, page, sift.ModeFull)
			if diff := cmp.Diff(got, placed(full.Content, full.Structure().Headings)); diff != "" {
				t.Errorf("full: %s", diff)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s\n%s", mode, diff, r.Content)
		}
	}
	for _, mode := range []sift.Mode{sift.ModeLinks, sift.ModeOutline} {
		var names []string
		r := inMode(t, page, mode)
		for _, h := range r.Structure().Headings {
			names = append(names, h.Text)
		}
		if diff := cmp.Diff([]string{"Größe", "Quoted", "Cap", "Item one", "Last", "inner"}, names); diff != "" {
			t.Errorf("%s: %s", mode, diff)
		}
	}
}

func TestTheHeadingsOfAPDFAreItsBookmarksWithThoseOfThePagesUnderThem(t *testing.T) {
	doc := pdf(t, map[int]string{
		1: "<h1>Cover</h1><p>a <a href=\"http://a.example/\">A</a></p>",
		2: "<h1>1. Rules</h1><p>b</p><h2>Scope</h2><p>c <a href=\"http://b.example/\">B</a></p><h4>Sea</h4><p>d</p>",
		3: "<p>e</p><h1>Later</h1><p>f</p>",
		4: "<h1>Deep</h1><h2>Deeper</h2><p>g <a href=\"http://b.example/\">B</a></p>",
	},
		sift.Bookmark{Level: 2, Title: "1 Rules", Page: 2},
		sift.Bookmark{Level: 3, Title: "Map", Page: 3}, sift.Bookmark{Level: 3, Title: "Legend", Page: 3},
		sift.Bookmark{Level: 6, Title: "deep", Page: 4},
	)
	want := []string{"1 Cover: 1", "2 1 Rules: 2", "3 Scope: 2", "5 Sea: 2", "3 Map: 3", "3 Legend: 3", "4 Later: 3", "6 deep: 4"}
	for _, mode := range []sift.Mode{sift.ModeClean, sift.ModeText, sift.ModeHTML, sift.ModeOutline, sift.ModeLinks} {
		r, err := Content(doc, mode)
		if err != nil {
			t.Fatal(err)
		}
		s := r.Structure()
		var got []string
		for _, h := range s.Headings {
			page := 0
			for _, p := range s.Pages {
				if p.Offset <= h.Offset {
					page = p.Number
				}
			}
			got = append(got, fmt.Sprintf("%d %s: %d", h.Level, h.Text, page))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", mode, diff)
		}
		if a, b := s.Headings[4], s.Headings[5]; a.Offset != b.Offset || a.Chars != b.Chars || a.Chars == 0 {
			t.Errorf("%s: bookmarks of one place do not share what follows: %+v, %+v", mode, a, b)
		}
		if mode != sift.ModeLinks {
			continue
		}
		var under []string // the first heading's links and those of the second
		for _, l := range s.Links {
			for i, h := range s.Headings[:2] {
				if l.Place >= h.Offset && l.Place < h.Offset+h.Chars {
					under = append(under, fmt.Sprintf("%d %s", i, r.Links[l.Link].Text))
				}
			}
		}
		if diff := cmp.Diff([]string{"0 A", "0 B", "1 B", "0 B", "1 B"}, under); diff != "" {
			t.Errorf("links: %s", diff)
		}
	}
}

func TestALinkThatStandsTwiceHasTwoPlaces(t *testing.T) {
	for name, r := range map[string]Rendered{
		"html": inMode(t, `<a href="/a">A</a><h1 id="i">One</h1><table><tr><th>x<th>y<tr><td><h2>no</h2><td>y</table><a href="/a">A</a><h2>Two <a href="/b">B</a></h2>`, sift.ModeLinks),
		"markdown": func() Rendered {
			r, err := Content(&sift.Document{Kind: sift.KindMarkdown, Text: "[A](/a)\n\n# One {#i}\n\n[A](/a)\n\n## Two [B](/b)\n"}, sift.ModeLinks)
			if err != nil {
				t.Fatal(err)
			}
			return r
		}(),
	} {
		s := r.Structure()
		var got []string
		for _, h := range s.Headings {
			line := fmt.Sprintf("%d %s #%s:", h.Level, h.Text, h.Anchor)
			for _, l := range s.Links {
				if l.Place >= h.Offset && l.Place < h.Offset+h.Chars {
					line += " " + r.Links[l.Link].Text
				}
			}
			got = append(got, line)
		}
		anchor := ""
		if name == "markdown" {
			anchor = "two-b"
		}
		if diff := cmp.Diff([]string{"1 One #i: A B", "2 Two B #" + anchor + ": B"}, got); diff != "" || len(r.Links) != 2 || len(s.Links) != 3 {
			t.Errorf("%s: %s%+v", name, diff, s)
		}
	}
}

func TestWhatIsNoHeadingOfAMarkdownTextIsNone(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"front matter":              {"---\ntitle: x\n# y\n---\n\n# A\n", []string{"1 A #a"}},
		"front matter, dots":        {"\ufeff---\r\ntitle: x\r\n...\r\n# A\r\n", []string{"1 A #a"}},
		"front matter without end":  {"---\ntitle: x\n\n# A\n", []string{"1 A #a"}},
		"rules, not front matter":   {"---\n\n# A\n\n---\n\n# B\n", []string{"1 A #a", "1 B #b"}},
		"a comment":                 {"<!-- x\n# no\n-->\n# A\n<!-- # one line -->\n# B\n", []string{"1 A #a", "1 B #b"}},
		"preformatted HTML":         {"<PRE class=x>\n# no\n\n# no\n</Pre>\n# A\n<prefix>\n# B\n", []string{"1 A #a", "1 B #b"}},
		"an anchor of its own":      {"# Install it {#install}\n# Install it\nSetext {#s}\n---\n# {#none}\n# C {#a b}\n", []string{"1 Install it #install", "1 Install it #install-it", "2 Setext #s", "1 {#none} #none", "1 C {#a b} #c-a-b"}},
		"fences inside lists":       {"- ```\n  # no\n  ```\n# A\n", []string{"1 A #a"}},
		"setext under a blank line": {"a\n\n---\nb\n===\n", []string{"1 b #b"}},
	} {
		r, err := Content(&sift.Document{Kind: sift.KindMarkdown, Text: c.text}, sift.ModeOutline)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, h := range r.Outline {
			got = append(got, fmt.Sprintf("%d %s #%s", h.Level, h.Text, h.Anchor))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
