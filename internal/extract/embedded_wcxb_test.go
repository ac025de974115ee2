package extract

import (
	"context"
	"strings"
	"testing"

	"golang.org/x/net/html/atom"

	"sift.build/sift/tools/wcxb"
)

// asShell gives a page as a script-filled site would serve it: its head, its
// scripts and its noscript elements, and nothing to see.
func asShell(page []byte) string {
	var b strings.Builder
	l := lexer{b: page}
	inBody := false
	last := 0
	for {
		kind := l.next()
		if kind == lexEnd {
			break
		}
		if kind != lexStart {
			continue
		}
		switch atom.Atom(l.id()) {
		case atom.Body:
			b.Write(page[last:l.pos])
			b.WriteString(`<div id="root"></div>`)
			inBody = true
		case atom.Script:
			from := l.textTo
			l.skipRaw(atom.Script)
			if inBody {
				b.Write(page[from:l.pos])
				b.WriteString("</script>\n")
			}
		case atom.Style, atom.Textarea, atom.Title, atom.Iframe, atom.Noembed, atom.Noframes, atom.Noscript, atom.Xmp:
			l.skipRaw(atom.Atom(l.id()))
		default:
		}
	}
	return b.String()
}

// TestShellsMadeOfWCXB takes from each page of the benchmark what it shows and
// looks how much of the main content its data still has.
func TestShellsMadeOfWCXB(t *testing.T) {
	pages := readWCXB(t)
	type sum struct {
		n       int
		p, r, f float64
		wrong   int
	}
	by := map[string]*sum{}
	for _, g := range pages {
		shell := asShell(load(t, g))
		e, ok, err := Embedded(context.Background(), Input{Body: []byte(shell), URL: g.URL, ContentType: "text/html"})
		if err != nil {
			t.Errorf("%s: %v", g.ID, err)
			continue
		}
		if !ok {
			continue
		}
		got := plainText(e.Document.Main)
		p, r, f := wcxb.Score(got, g.Main)
		key := e.From + ", other types"
		if g.Type == "article" {
			key = e.From + ", articles"
		}
		s := by[key]
		if s == nil {
			s = &sum{}
			by[key] = s
		}
		s.n++
		s.p += p
		s.r += r
		s.f += f
		if testing.Verbose() && f < .5 {
			t.Logf("%s %s %s p=%.2f r=%.2f f=%.2f %q %d words of %d %s", e.From, g.ID, g.Type, p, r, f, e.Document.Title, len(strings.Fields(got)), len(strings.Fields(g.Main)), g.URL)
			if p < .5 {
				t.Logf("    %q", cutTo(strings.Join(strings.Fields(got), " "), 300))
			}
		}
		if f < .5 {
			s.wrong++
		}
	}
	for from, s := range by {
		n := float64(s.n)
		if from == "state, articles" && s.n >= 30 && s.p/n < .85 {
			t.Errorf("of articles found in the state of a page %.3f is theirs, want .85", s.p/n)
		}
		t.Logf("%-21s %4d of %d pages: precision %.3f recall %.3f F1 %.3f; %d under .5", from, s.n, len(pages), s.p/n, s.r/n, s.f/n, s.wrong)
	}
}

func cutTo(s string, n int) string { return s[:min(len(s), n)] }
