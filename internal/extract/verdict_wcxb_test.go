package extract

import (
	"context"
	"testing"
)

// TestVerdictsOnWCXB lists the benchmark's pages that are told to stand in the
// place of others. They were chosen because they have a main content, so that
// there should be next to none.
func TestVerdictsOnWCXB(t *testing.T) {
	pages := readWCXB(t)
	told := 0
	for i := range pages {
		g := &pages[i]
		in := Input{Body: g.load(t), URL: g.URL, Asked: g.URL, ContentType: "text/html", Status: 200}
		doc, err := Extract(context.Background(), in)
		if err != nil {
			t.Fatal(g.ID, err)
		}
		for _, w := range verdicts(doc) {
			told++
			t.Logf("%s %s, %d visible characters, %d of main content: %s: %s", g.ID, g.URL, doc.VisibleChars, len(g.MainContent), w.Code, w.Message)
			if testing.Verbose() && *wcxbWorst != 0 {
				t.Logf("%q\n%q\n%s", cutTo(g.MainContent, 600), cutTo(squash(plainText(doc.Page)), 1500), explain(in))
			}
		}
	}
	t.Logf("%d of %d pages", told, len(pages))
	if told > 1+len(pages)/200 {
		t.Errorf("%d of %d pages are told to be none", told, len(pages))
	}
}
