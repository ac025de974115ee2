package extract

import (
	"net/url"

	"golang.org/x/net/html"

	"sift.build/sift/internal/maincontent"
)

const (
	// shortPage is how many words, and fewBlocks how many blocks a page has at
	// least that the model chooses from. The pages that it was trained on have
	// more; of shorter ones the rules know as much.
	shortPage = 400
	fewBlocks = 25
	// manyBlocks bounds the time and the memory that a choice takes, manyElements
	// what cutting the page into blocks takes.
	manyBlocks   = 20_000
	manyElements = 200_000
)

// mainContent finds the main content of a page in normal form and gives a copy
// of it as a <body> element that shares nothing with the page. fallback is ""
// or the sentence that says why the usual way failed.
//
// With carve the main content is cut out of the page instead of copied, which
// leaves no page behind: a large one need not be held twice.
func mainContent(page *html.Node, meta *metadata, address *url.URL, m *maincontent.Model, carve bool) (main *html.Node, fallback string) {
	s := selectMain(page, meta.about(address))
	if len(s.cells) > manyElements {
		return s.body(carve), s.fallback
	}
	p := s.cut(meta.hints(address), m)
	if byRules(p) {
		return s.body(carve), s.fallback
	}
	c := p.Choose()
	if c.All {
		fallback = "no main content was found; this is the whole page"
	}
	if carve {
		main = p.Carve(c.Keep)
	} else {
		main = p.Copy(c.Keep)
	}
	tidy(main)
	return main, fallback
}

// cut gives the page cut into blocks, with what the rules choose of it.
func (s *selection) cut(h maincontent.Hints, m *maincontent.Model) *maincontent.Page {
	h.Rules = s.reading()
	return maincontent.Scan(s.cells[0].node, h, m)
}

// byRules says whether the rules choose instead of the model.
func byRules(p *maincontent.Page) bool {
	return p.Words() < shortPage || len(p.Blocks) < fewBlocks || len(p.Blocks) > manyBlocks
}
