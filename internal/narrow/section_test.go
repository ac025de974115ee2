package narrow

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sift.build/sift/internal/render"
	"sift.build/sift/internal/sift"
)

// rendered is a document in a mode, as a Text.
func rendered(t interface {
	Helper()
	Fatalf(string, ...any)
}, doc *sift.Document, mode sift.Mode) Text {
	t.Helper()
	r, err := render.Content(doc, mode)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return Of(&r)
}

func section(t *testing.T, text Text, want string) Part {
	t.Helper()
	p, err := Section(text, want)
	if err != nil {
		t.Fatalf("%s: %v", want, err)
	}
	return p
}

func refused(t *testing.T, text Text, want string) string {
	t.Helper()
	p, err := Section(text, want)
	if err == nil {
		t.Fatalf("%s is %q", want, p.Heading.Text)
	}
	f := sift.AsFailure(err)
	if f.Code != sift.CodeInvalid {
		t.Fatalf("%s: %v", want, err)
	}
	return f.Message
}

func markdown(s string) *sift.Document { return &sift.Document{Kind: sift.KindMarkdown, Text: s} }

func TestASectionReachesToTheNextHeadingOfItsLevelOrAbove(t *testing.T) {
	const text = "# A\n\né\n\n## B\n\nb\n\n```\n# no\n```\n\n#### C\n\nc\n\n## D\n\nd\n\nE\n=\n\ne\n\n\n"
	for want, content := range map[string]string{
		"A": "# A\n\né\n\n## B\n\nb\n\n```\n# no\n```\n\n#### C\n\nc\n\n## D\n\nd",
		"B": "## B\n\nb\n\n```\n# no\n```\n\n#### C\n\nc",
		"C": "#### C\n\nc",
		"D": "## D\n\nd",
		"E": "E\n=\n\ne",
	} {
		p := section(t, rendered(t, markdown(text), sift.ModeClean), want)
		if diff := cmp.Diff(content, p.Text.Content); diff != "" {
			t.Errorf("%s: %s", want, diff)
		}
		if whole := []rune(text); !strings.HasPrefix(string(whole[p.Offset:]), content) {
			t.Errorf("%s does not stand at %d", want, p.Offset)
		}
	}
	p := section(t, rendered(t, markdown(text), sift.ModeClean), "B")
	want := Part{
		Text: Text{Markdown: true, Content: p.Text.Content, Above: []sift.Heading{{Level: 1, Text: "A", Anchor: "a", Chars: 51}}, Headings: []sift.Heading{
			{Level: 2, Text: "B", Anchor: "b", Chars: 34}, {Level: 4, Text: "C", Anchor: "c", Offset: 23, Chars: 11},
		}},
		Offset: 8, Heading: sift.Heading{Level: 2, Text: "B", Anchor: "b", Offset: 8, Chars: 34}, Trail: []string{"A"},
	}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Error(diff)
	}
}

func TestAHeadingAnswersToWhatOneWouldCallIt(t *testing.T) {
	text := Text{Headings: []sift.Heading{
		{Level: 1, Text: "User Guide", Anchor: "guide"},
		{Level: 2, Text: "2.1 Install the Client", Anchor: "install"},
		{Level: 3, Text: "Options", Anchor: "opt-client"},
		{Level: 2, Text: "2.2 Install the Server", Anchor: "sec-2-2"},
		{Level: 3, Text: "Options", Anchor: "opt-server"},
		{Level: 3, Text: "What's new?", Anchor: "Größe (m)"},
		{Level: 2, Text: "🚀 Getting started!"},
		{Level: 2, Text: "Ｆｕｌｌ-width ＳＴＲＡẞＥ"},
		{Level: 2, Text: "Cafe\u0301"},
		{Level: 2, Text: "install"},
		{Level: 2, Text: "C"},
		{Level: 2, Text: "C#"},
		{Level: 2, Text: "Input/Output"},
		{Level: 3, Text: "shared_ptr and *this"},
		{Level: 2, Text: "Chapter 3: Storage"},
		{Level: 2, Text: "iv. Backups"},
		{Level: 2, Text: "A.2 Licences"},
		{Level: 2, Text: "مرحبا\u200f"},
		{Level: 2, Text: "第一章 概要と目的"},
		{Level: 2, Text: "3.11 release notes"},
		{Level: 1, Text: "Appendix B"},
		{Level: 2, Text: "Options"},
		{Level: 2, Text: ""},
		{Level: 2, Text: "???"},
		{Level: 2, Text: "e.g. an example"},
		{Level: 2, Text: "Read more ->"},
	}}
	for i := range text.Headings {
		text.Headings[i].Offset = i
	}
	for _, c := range []struct {
		want   string
		index  int
		others int
	}{
		{"guide", 0, 0}, {"#guide", 0, 0}, {"https://docs.example/x?y#guide", 0, 0},
		{"install", 1, 0}, // the anchor goes before the text
		{"Install", 9, 0},
		{"#Gr%C3%B6%C3%9Fe%20(m)", 5, 0}, {"Gr%c3%b6%c3%9fe (m)", 5, 0}, {"Größe (m)", 5, 0},
		{"Options", 2, 2}, {" OPTIONS: ", 2, 2}, {"## Options", 2, 2}, {"**Options**", 2, 2},
		{"USER  guide", 0, 0}, {"“User\u00a0Guide”", 0, 0}, {"[User Guide](#x)", 0, 0},
		{"Getting Started", 6, 0}, {"getting-started", 6, 0}, {"#getting-started", 6, 0}, {"whats new", 5, 0}, {"what’s new", 5, 0},
		{"full-width strasse", 7, 0}, {"FULL-WIDTH STRASSE", 7, 0}, {"CAFÉ", 8, 0},
		{"c#", 11, 0}, {"C", 10, 0}, {"c", 10, 0},
		{"Input/Output", 12, 0}, {"input / output", 12, 0},
		{"`shared_ptr` and \\*this", 13, 0},
		{"install the server", 3, 0}, {"2.2", 3, 0}, {"§ 2.2", 3, 0}, {"section 2.2", 3, 0}, {"2.2. Install the server", 3, 0}, {"(2.2) Install the Server", 3, 0},
		{"Storage", 14, 0}, {"3 Storage", 14, 0}, {"Chapter 3", 14, 0}, {"chapter 3 – storage", 14, 0}, {"Backups", 15, 0}, {"Licences", 16, 0}, {"a.2", 16, 0},
		{"B", 20, 0}, {"release notes", 19, 0},
		{"مرحبا", 17, 0}, {"概要と目的", 18, 0}, {"概", 18, 0},
		{"2.2 Install the Server > Options", 4, 0}, {"Install the server/options", 4, 0}, {"User Guide > install the client > Options", 2, 0}, {"guide › #opt-server", 4, 0},
		{"User Guide > Options", 2, 1}, {"Appendix B > Options", 21, 0}, {"2.2 Inst… > Options", 4, 0},
		{"Appendix B > Read more ->", 25, 0}, {"Appendix B>Read more", 25, 0}, {"Appendix B → Options", 21, 0}, {"Guide > ", 0, 0},
		{"Input/Output > shared_ptr and *this", 13, 0},
		{"What's n", 5, 0}, {"2.2 Install the S…", 3, 0}, {"width", 7, 0}, {"???", 23, 0}, {"example", 24, 0},
	} {
		p, err := Section(text, c.want)
		if err != nil {
			t.Errorf("%s: %v", c.want, err)
			continue
		}
		if p.Heading.Offset != c.index || p.Others != c.others {
			t.Errorf("%s is %q (%d) with %d others, want %d with %d", c.want, p.Heading.Text, p.Heading.Offset, p.Others, c.index, c.others)
		}
	}
	for _, want := range []string{"3.1 Install the Client", "2.3", "C++", "a > Options", "Options > User Guide", "Install the", "in", "x", "Chapter 2.2 > Backups"} {
		if p, err := Section(text, want); err == nil {
			t.Errorf("%s is %q", want, p.Heading.Text)
		}
	}
}

func TestWhatIsNoHeadingIsAnsweredWithThoseThatThereAre(t *testing.T) {
	const guide = "# Guide\n\n## Engine room\n\n### Fuel_oil\n\n### Fuel pump\n\n## \x1b[31mDeck\u202e\n"
	text := rendered(t, markdown(guide), sift.ModeClean)
	const list = "\n- \"Guide\"\n  - \"Engine room\"\n    - \"Fuel_oil\"\n    - \"Fuel pump\"\n  - \"\\x1b31mDeck\\u202e\""
	for want, message := range map[string]string{
		"Bridge":                           `section "Bridge" is no heading here. The headings are:` + list,
		"Enigne rom":                       `section "Enigne rom" is no heading here; did you mean "Engine room"? The headings are:` + list,
		"gudie":                            `section "gudie" is no heading here; did you mean "Guide"? The headings are:` + list,
		"\x07\n\u202eBridge":               `section "\a \u202eBridge" is no heading here. The headings are:` + list,
		"fuel":                             `section "fuel" is a part of 2 headings: "Fuel_oil", "Fuel pump"; name one of them`,
		strings.Repeat("x", 999):           `section "` + strings.Repeat("x", 40) + `…" is no heading here. The headings are:` + list,
		" \n":                              "section names no heading; give the text of one, or its anchor, or leave it out",
		strings.Repeat("é", wantMax) + "x": "section has 1001 characters, and at most 1000 can be looked for; the first words of a heading will do",
	} {
		if diff := cmp.Diff(message, refused(t, text, want)); diff != "" {
			t.Errorf("%.40q: %s", want, diff)
		}
		if err := CheckSection(want); (err != nil) != !strings.Contains(message, "Engine") && !strings.Contains(message, "Fuel") {
			t.Errorf("%.40q, whatever the content: %v", want, err)
		}
	}
}

func TestAContentWithoutHeadingsSaysWhatToDoInstead(t *testing.T) {
	const message = "section finds nothing here: this content has no headings; search it with grep, or read it in windows with max_chars and offset"
	for name, text := range map[string]Text{
		"JSON":       rendered(t, &sift.Document{Kind: sift.KindJSON, Text: `{"# a":1}`}, sift.ModeClean),
		"plain text": rendered(t, &sift.Document{Kind: sift.KindText, Text: "# a\n"}, sift.ModeClean),
		"its links":  rendered(t, &sift.Document{Kind: sift.KindText, Text: "# a http://a.example/\n"}, sift.ModeLinks),
		"an outline": rendered(t, document(t, sift.KindHTML, "<p>x"), sift.ModeOutline),
		"a page":     rendered(t, document(t, sift.KindHTML, "<p>x"), sift.ModeClean),
		"nothing":    {},
	} {
		if got := refused(t, text, "a"); got != message {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := refused(t, rendered(t, document(t, sift.KindPDF, `<section data-page="1"><p>x</p></section>`), sift.ModeText), "a"); got != message+", or choose pages with pages" {
		t.Error(got)
	}
}

func TestALongListOfHeadingsShowsTheUpperLevels(t *testing.T) {
	var text Text
	for i := range 20 {
		text.Headings = append(text.Headings, sift.Heading{Level: 2, Text: fmt.Sprintf("Chapter of things %d", i), Offset: len(text.Headings)})
		for j := range 100 {
			text.Headings = append(text.Headings, sift.Heading{Level: 3, Text: fmt.Sprintf("%d sub %s %d", i, strings.Repeat("long ", 1000), j), Offset: len(text.Headings)})
		}
	}
	message := refused(t, text, "xyz")
	if n := strings.Count(message, "\n- \"Chapter"); n != 20 || strings.Contains(message, "sub") || !strings.HasSuffix(message, "\nand 2000 more, which mode outline lists") {
		t.Errorf("%d of 20 in\n%s", n, message)
	}
	text.Headings = text.Headings[:200] // two chapters are too little to show
	message = refused(t, text, "xyz")
	if n := strings.Count(message, "\n"); n != 41 || !strings.HasSuffix(message, "\nand 160 more, which mode outline lists") || utf8.RuneCountInString(message) > 3000 {
		t.Errorf("%d lines in\n%s", n, message)
	}
	if message = refused(t, text, "long"); strings.Count(message, `"`) != 2+20 || !strings.HasSuffix(message, " and 188 more; name one of them") {
		t.Error(message)
	}
}

const harbour = `<h1 id="top">Harbour</h1><p>é <a href="http://a.example/">A</a></p><h2 id="q">Quay &amp; <em>crane</em></h2><p>Its pump hums. <a href="http://b.example/">B</a></p>` +
	`<h3>Rules</h3><p>No pump at night. <a href="http://a.example/">A</a></p><h2>Deck</h2><p>z</p>`

func TestASectionIsTheSameInEveryMode(t *testing.T) {
	doc := document(t, sift.KindHTML, harbour)
	doc.Page = doc.Main
	for mode, want := range map[sift.Mode]string{
		sift.ModeClean:   "## Quay & *crane*\n\nIts pump hums. [B](http://b.example/)\n\n### Rules\n\nNo pump at night. [A](http://a.example/)",
		sift.ModeFull:    "## Quay & *crane*\n\nIts pump hums. [B](http://b.example/)\n\n### Rules\n\nNo pump at night. [A](http://a.example/)",
		sift.ModeText:    "Quay & crane\n\nIts pump hums. B\n\nRules\n\nNo pump at night. A",
		sift.ModeHTML:    "<h2>Quay &amp; <em>crane</em></h2>\n<p>Its pump hums. <a href=\"http://b.example/\" rel=\"nofollow\">B</a></p>\n<h3>Rules</h3>\n<p>No pump at night. <a href=\"http://a.example/\" rel=\"nofollow\">A</a></p>",
		sift.ModeOutline: "- [Quay & crane](#q) (offset 0, 111 characters)\n  - Rules (offset 58, 53 characters)",
		sift.ModeLinks:   "- [B](http://b.example/)\n- [A](http://a.example/)",
	} {
		whole := rendered(t, doc, mode)
		for _, name := range []string{"#q", "quay & crane", "Harbour > Quay & crane"} {
			p := section(t, whole, name)
			if diff := cmp.Diff(want, p.Text.Content); diff != "" {
				t.Errorf("%s, %s: %s", mode, name, diff)
			}
			if diff := cmp.Diff([]string{"Harbour"}, p.Trail); diff != "" || p.Heading.Text != "Quay & crane" || p.Pages != nil {
				t.Errorf("%s, %s: %s%+v", mode, name, diff, p)
			}
		}
		p := section(t, whole, "q")
		if mode == sift.ModeLinks {
			if diff := cmp.Diff([]sift.Link{{Text: "B", URL: "http://b.example/"}, {Text: "A", URL: "http://a.example/"}}, p.Text.Links); diff != "" {
				t.Error(diff)
			}
			if none := section(t, whole, "Deck"); none.Text.Links == nil || len(none.Text.Links) != 0 || none.Text.Content != "" {
				t.Errorf("a section without links: %+v", none)
			}
		} else if p.Text.Links != nil {
			t.Errorf("%s has links", mode)
		}
		if (p.Text.Outline != nil) != (mode == sift.ModeOutline) {
			t.Errorf("%s: outline %+v", mode, p.Text.Outline)
		}
	}
}

// pdfDoc has a heading in the middle of page 2 whose section ends on top of page
// 5, and pages with nothing on them.
func pdfDoc(t *testing.T) *sift.Document {
	t.Helper()
	doc := document(t, sift.KindPDF, `<section data-page="2"><h1>Größe</h1><p>a</p><h2>Rules</h2><p>The pump. <a href="http://a.example/">A</a></p></section>`+
		`<section data-page="3"><p>A second pump.</p></section><section data-page="4"></section><section data-page="5"><h2>Deck</h2><p>z</p></section><section data-page="6"><p>y</p></section>`)
	doc.PDF.Bookmarks = []sift.Bookmark{{Level: 1, Title: "Part", Page: 3}}
	return doc
}

func TestASectionOfAPDFKnowsItsPages(t *testing.T) {
	doc := pdfDoc(t)
	doc.PDF.Bookmarks = nil
	for mode, want := range map[sift.Mode]struct {
		content string
		starts  []render.PageStart
	}{
		sift.ModeClean:   {"## Rules\n\nThe pump. [A](http://a.example/)\n\n<!-- page 3 -->\n\nA second pump.", pages(2, -29, 3, 44)},
		sift.ModeText:    {"Rules\n\nThe pump. A\n\n[page 3]\n\nA second pump.", pages(2, -20, 3, 20)},
		sift.ModeOutline: {"- Rules (page 2, offset 0, 111 characters)", pages(2, -29, 3, 44)},
	} {
		p := section(t, rendered(t, doc, mode), "rules")
		if diff := cmp.Diff(want.content, p.Text.Content); diff != "" {
			t.Errorf("%s: %s", mode, diff)
		}
		if diff := cmp.Diff(want.starts, p.Text.Pages); diff != "" {
			t.Errorf("%s: %s", mode, diff)
		}
	}
	for mode, want := range map[sift.Mode][]int{sift.ModeClean: {5, 6}, sift.ModeText: {5, 6}, sift.ModeHTML: {5, 6}, sift.ModeOutline: {5, 6}, sift.ModeLinks: {5, 6}} {
		if p := section(t, rendered(t, doc, mode), "Deck"); !cmp.Equal(want, p.Pages) {
			t.Errorf("%s: the last section stands on %v", mode, p.Pages)
		}
	}
	if p := section(t, rendered(t, doc, sift.ModeLinks), "Rules"); p.Text.Content != "- [A](http://a.example/)" || !cmp.Equal([]int{2, 3}, p.Pages) {
		t.Errorf("links: %+v", p)
	}
	if p := section(t, rendered(t, doc, sift.ModeHTML), "Deck"); p.Text.Content != "<section data-page=\"5\">\n<h2>Deck</h2>\n<p>z</p>\n</section>\n<section data-page=\"6\">\n<p>y</p>\n</section>" {
		t.Errorf("html: %q", p.Text.Content)
	}
	if p := section(t, rendered(t, pdfDoc(t), sift.ModeClean), "part"); p.Text.Content != "<!-- page 3 -->\n\nA second pump.\n\n<!-- page 4 -->\n\n<!-- page 5 -->\n\n## Deck\n\nz\n\n<!-- page 6 -->\n\ny" || !cmp.Equal(pages(3, 0, 4, 33, 5, 50, 6, 79), p.Text.Pages) {
		t.Errorf("a bookmark: %q, %v", p.Text.Content, p.Text.Pages)
	}
	if got := refused(t, rendered(t, pdfDoc(t), sift.ModeClean), "Deckk"); got != "section \"Deckk\" is no heading here; did you mean \"Deck\"? The headings of the pages read are:\n- \"Größe\"\n  - \"Rules\"\n- \"Part\"\n  - \"Deck\"" {
		t.Error(got)
	}
}

// An outline of a section shows what is under it, the headings too that the PDF's
// own outline leaves out.
func TestTheOutlineOfAPDFsSectionIsFinerThanItsOwn(t *testing.T) {
	whole := rendered(t, pdfDoc(t), sift.ModeOutline)
	if whole.Content != "- Part (page 3, offset 73, 97 characters)" {
		t.Errorf("%q", whole.Content)
	}
	p := section(t, whole, "Part")
	if want := "- Part (page 3, offset 0, 97 characters)\n  - Deck (page 5, offset 67, 30 characters)"; p.Text.Content != want || p.Offset != 73 {
		t.Errorf("%q at %d", p.Text.Content, p.Offset)
	}
}

// An offset that any answer about a section has leads on in the section.
func TestOffsetsOfGrepAndOutlineInASectionAreOffsetsOfTheSection(t *testing.T) {
	p := section(t, rendered(t, document(t, sift.KindHTML, harbour), sift.ModeClean), "q")
	r, err := Grep(t.Context(), p.Text, pattern(t, "pump"))
	if err != nil {
		t.Fatal(err)
	}
	const want = "2 matching lines\n\n[offset 19] Harbour > Quay & crane\n3:Its pump hums. [B](http://b.example/)\n--\n[offset 69] Harbour > Quay & crane > Rules\n7:No pump at night. [A](http://a.example/)"
	if diff := cmp.Diff(want, r.Content); diff != "" {
		t.Error(diff)
	}
	if part, _, more := render.Window(p.Text.Content, 69, 18); part != "No pump at night. " || !more {
		t.Errorf("at 69: %q", part)
	}
	// The section that grep names, by the whole trail.
	if sub := section(t, rendered(t, document(t, sift.KindHTML, harbour), sift.ModeClean), "Harbour > Quay & crane > Rules"); sub.Offset != p.Offset+58 {
		t.Errorf("at %d", sub.Offset)
	}
	outline := section(t, rendered(t, document(t, sift.KindHTML, harbour), sift.ModeOutline), "q")
	if diff := cmp.Diff(p.Text.Headings, outline.Text.Outline); diff != "" {
		t.Error(diff)
	}
	// What is a list of headings is searched as a list.
	if r, err = Grep(t.Context(), outline.Text, pattern(t, "Rules")); err != nil || r.Content != "1 matching line\n\n[offset 0]\n1-- [Quay & crane](#q) (offset 0, 111 characters)\n2:  - Rules (offset 58, 53 characters)" {
		t.Errorf("%v: %s", err, r.Content)
	}
}

func TestGrepInASectionOfAPDFNamesThePageOnWhichItBegins(t *testing.T) {
	doc := pdfDoc(t)
	doc.PDF.Bookmarks = nil
	p := section(t, rendered(t, doc, sift.ModeClean), "Rules")
	r, err := Grep(t.Context(), p.Text, pattern(t, "pump|Rules|page"))
	if err != nil {
		t.Fatal(err)
	}
	const want = "3 matching lines\n\n[page 2, offset 0] Größe > Rules\n1:## Rules\n3:The pump. [A](http://a.example/)\n--\n[page 3, offset 61] Größe > Rules\n7:A second pump."
	if diff := cmp.Diff(want, r.Content); diff != "" || !cmp.Equal([]int{2, 3}, r.Pages) {
		t.Errorf("%v: %s", r.Pages, diff)
	}
}

func TestWindowsOfASectionJoinToIt(t *testing.T) {
	p := section(t, rendered(t, markdown("# A\n\n"+strings.Repeat("é word\n\n", 50)+"## B\n\n"+strings.Repeat("x\n\n", 100)+"# C\n"), sift.ModeClean), "A")
	var b strings.Builder
	for offset, more := 0, true; more; {
		var part string
		part, offset, more = render.Window(p.Text.Content, offset, 37)
		b.WriteString(part)
	}
	if b.String() != p.Text.Content || !strings.HasSuffix(b.String(), "x") {
		t.Errorf("%q", b.String())
	}
}

// A name and headings as a stranger would make them. A way that is not linear
// takes minutes on any of these.
func TestHostileHeadingsCostBoundedTimeAndText(t *testing.T) {
	many := func(n int, f func(i int) sift.Heading) []sift.Heading {
		out := make([]sift.Heading, n)
		for i := range out {
			out[i] = f(i)
			out[i].Offset = i
		}
		return out
	}
	zalgo := "a" + strings.Repeat("\u0301\u0327\u0323", 100_000)
	long := strings.Repeat("word ", 200_000)
	for name, heads := range map[string][]sift.Heading{
		"a million":          many(1_000_000, func(i int) sift.Heading { return sift.Heading{Level: i%6 + 1, Text: "heading"} }),
		"many in Chinese":    many(50_000, func(int) sift.Heading { return sift.Heading{Level: 3, Text: "標題"} }),
		"of a megabyte":      many(10, func(i int) sift.Heading { return sift.Heading{Level: i + 1, Text: long} }),
		"of combining marks": many(10, func(i int) sift.Heading { return sift.Heading{Level: i + 1, Text: zalgo} }),
		"under one of megabytes": many(50_000, func(i int) sift.Heading {
			return sift.Heading{Level: min(i+1, 2), Text: []string{zalgo, "b"}[min(i, 1)]}
		}),
		"of signs":             many(10, func(int) sift.Heading { return sift.Heading{Level: 1, Text: strings.Repeat("[*`\\", 250_000)} }),
		"nearly so":            many(50_000, func(int) sift.Heading { return sift.Heading{Level: 1, Text: strings.Repeat("x", 60)} }),
		"levels that are none": many(50_000, func(i int) sift.Heading { return sift.Heading{Level: i - 25_000, Text: "\u202e\x00"} }),
	} {
		t.Run(name, func(t *testing.T) {
			wants := []string{
				"heading", "b", "x > b", "word > b", strings.Repeat("x", 59), strings.Repeat("a/", 400), strings.Repeat("[", wantMax), "#" + strings.Repeat("%41", 300),
				strings.Repeat("e\u0301", 500), strings.Repeat("\u202e", 64), strings.Repeat("x", 64<<10), "a" + strings.Repeat("\u0301", 999), zalgo[:900] + " > b", "1." + strings.Repeat("1.", 499),
			}
			if len(heads) > 50_000 {
				wants = wants[:6]
			}
			for _, want := range wants {
				start := time.Now()
				p, err := Section(Text{Headings: heads, Content: "x"}, want)
				if took := time.Since(start); took > 5*time.Second {
					t.Errorf("%.20q took %v", want, took)
				}
				if err != nil && len(sift.AsFailure(err).Message) > 20_000 {
					t.Errorf("%.20q: an error of %d bytes", want, len(sift.AsFailure(err).Message))
				}
				if n := utf8.RuneCountInString(p.Heading.Text + strings.Join(p.Trail, "")); n > 7*headingChars {
					t.Errorf("%.20q: a trail of %d characters", want, n)
				}
			}
		})
	}
}

// Whatever the content, a part is a piece of it, and its headings stand in it.
func TestAPartIsAPieceOfTheContent(t *testing.T) {
	line := rapid.SampledFrom([]string{"# A\n", "## B\n", "### é\n", "x\n", "\n", "```\n", "C\n===\n", "## B #\n", "<!-- page 3 -->\n", "- [l](http://l.example/)\n"})
	rapid.Check(t, func(t *rapid.T) {
		content := strings.Join(rapid.SliceOfN(line, 1, 30).Draw(t, "lines"), "")
		text := rendered(t, markdown(content), sift.ModeClean)
		for i, h := range text.Headings {
			p, err := Section(text, "#"+h.Anchor)
			if err != nil {
				t.Fatalf("#%s of %q: %v", h.Anchor, content, err)
			}
			whole := []rune(content)
			part := []rune(p.Text.Content)
			if p.Offset != h.Offset || string(whole[p.Offset:p.Offset+len(part)]) != p.Text.Content || strings.TrimSpace(string(whole[p.Offset+len(part):h.Offset+h.Chars])) != "" {
				t.Fatalf("#%s of %q is %q at %d", h.Anchor, content, p.Text.Content, p.Offset)
			}
			for j, sub := range p.Text.Headings {
				if want := text.Headings[i+j]; sub.Text != want.Text || sub.Offset != want.Offset-h.Offset || sub.Offset > len(part) {
					t.Fatalf("heading %d of #%s of %q: %+v", j, h.Anchor, content, sub)
				}
			}
			if end := i + len(p.Text.Headings); end < len(text.Headings) && text.Headings[end].Level > h.Level {
				t.Fatalf("#%s of %q ends before %+v", h.Anchor, content, text.Headings[end])
			}
		}
	})
}

func FuzzSection(f *testing.F) {
	for _, s := range [][2]string{
		{"# A\n## B\n", "a > b"}, {"# 2.1 A\n", "2.1"}, {"# \u0301\n", "#%cc%81"}, {"A\n=\n", "http://h/#a"}, {"# [x](y) {#z}\n", "…"}, {"# chapter 3: x\n", "chapter iv"}, {"\xff\n-\n", "\xff/\xff"},
	} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, content, want string) {
		for _, mode := range []sift.Mode{sift.ModeClean, sift.ModeLinks, sift.ModeOutline} {
			text := rendered(t, markdown(content), mode)
			p, err := Section(text, want)
			if err != nil {
				if m := sift.AsFailure(err); m.Code != sift.CodeInvalid || utf8.RuneCountInString(m.Message) > 20_000 {
					t.Fatal(err)
				}
				continue
			}
			if mode == sift.ModeClean && !strings.Contains(content, p.Text.Content) {
				t.Fatalf("%q is not in %q", p.Text.Content, content)
			}
			if again, err := Section(p.Text, "#"+p.Heading.Anchor); p.Heading.Anchor != "" && len(p.Heading.Anchor) < wantMax-1 && !strings.ContainsAny(p.Heading.Anchor, " \t\n\v\f\r\u0085\u00a0") && (err != nil || again.Heading.Offset != 0) {
				t.Fatalf("the section of %q is not its own: %v", p.Text.Content, err)
			}
		}
	})
}

func TestAHeadingWithoutTextIsKnownByItsAnchorOrNotAtAll(t *testing.T) {
	text := Text{Headings: []sift.Heading{{Level: 1}, {Level: 2, Anchor: "logo"}, {Level: 3, Text: "A"}}}
	if got := refused(t, text, "xyz"); got != "section \"xyz\" is no heading here. The headings are:\n- \"#logo\"\n  - \"A\"" {
		t.Error(got)
	}
	if p := section(t, text, "#logo"); p.Heading.Anchor != "logo" {
		t.Errorf("%+v", p)
	}
	if got := refused(t, Text{Headings: []sift.Heading{{Level: 1}}}, "xyz"); !strings.Contains(got, "no headings") {
		t.Error(got)
	}
}
