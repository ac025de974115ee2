package render

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"

	"sift.build/sift/internal/normalize"
	"sift.build/sift/internal/sift"
)

// Rendered is a Document in one mode.
type Rendered struct {
	Content string
	Links   []sift.Link    // ModeLinks: every link of the page, never nil then
	Outline []sift.Heading // ModeOutline: every heading of the main content, never nil then
	Pages   []PageStart    // of a PDF: where each page begins in Content, nil for links and outline
	Chars   int            // characters (code points) of Content

	// VisibleChars counts the characters, white space left out, of the
	// page's visible text that Content holds: the share of
	// Document.VisibleChars that it makes is the coverage.
	VisibleChars int

	markdown bool
	heads    []head
	starts   []pageStart // of a PDF
	places   []LinkPlace // ModeLinks

	// measured is what the positions in heads and starts are bytes of: Content,
	// or for ModeOutline the clean content that it is the outline of. Those of
	// ModeLinks are places already, end of them in all.
	measured string
	end      int
}

// IsMarkdown says whether Content is Markdown.
func (r *Rendered) IsMarkdown() bool { return r.markdown }

// PageStart says at which character of a content a page of a PDF begins.
type PageStart struct{ Number, Offset int }

// LinkPlace says that Links[Link] stands at a place of the page. Places are
// numbers that grow from its beginning to its end.
type LinkPlace struct{ Place, Link int }

// Structure says what stands where. The offsets are characters of Content; for
// ModeOutline characters of the clean content, for ModeLinks places.
//
// A PDF's headings are the entries of its own outline, as ModeOutline has them,
// and under each the headings of its pages that are not among them.
type Structure struct {
	Headings []sift.Heading
	Pages    []PageStart // of a PDF
	Links    []LinkPlace // ModeLinks: each time that a link stands on the page, in order
}

// Structure gives the structure of Content.
func (r *Rendered) Structure() Structure {
	if r.Links == nil {
		return Structure{Headings: outline(r.measured, r.heads), Pages: pageStarts(r.measured, r.starts)}
	}
	s := Structure{Headings: make([]sift.Heading, len(r.heads)), Links: r.places}
	for i, h := range r.heads {
		s.Headings[i] = sift.Heading{Level: h.level, Text: h.text, Anchor: h.anchor, Offset: h.at}
	}
	measureSections(s.Headings, r.end)
	for _, p := range r.starts {
		s.Pages = append(s.Pages, PageStart{Number: p.number, Offset: p.at})
	}
	return s
}

// Content renders doc. ModeFull and ModeLinks of an HTML document need
// doc.Page, the other modes, and all modes of the other kinds with a tree,
// doc.Main. ModeRaw is not rendered: it is an error, as is any mode that is not one.
//
// JSON, Markdown and plain text are handed on verbatim in every mode but three,
// and source code in those and ModeClean and ModeFull, which put a fence around it:
// ModeHTML escapes them into one <pre>, and ModeLinks and ModeOutline read the
// links and headings of Markdown, and the bare links of the others, which have
// no headings. Links of a Markdown document are as it writes them.
func Content(doc *sift.Document, mode sift.Mode) (Rendered, error) {
	switch mode {
	case sift.ModeClean, sift.ModeFull, sift.ModeText, sift.ModeHTML, sift.ModeLinks, sift.ModeOutline:
	default:
		return Rendered{}, fmt.Errorf("render: mode %q is not rendered", mode)
	}
	var r Rendered
	if doc.Kind.HasTree() {
		body := doc.Main
		if doc.Kind == sift.KindHTML && (mode == sift.ModeFull || mode == sift.ModeLinks) {
			body = doc.Page
		}
		if body == nil {
			return Rendered{}, fmt.Errorf("render: the document has no tree for mode %s", mode)
		}
		r = page(body, mode, doc.PDF)
	} else {
		r = verbatim(doc, mode)
	}
	r.Chars = utf8.RuneCountInString(r.Content)
	return r, nil
}

func page(body *html.Node, mode sift.Mode, pdf *sift.PDF) (r Rendered) {
	var marks []head // the PDF's own outline
	locate := func(heads []head, pages []pageStart) {
		if pdf != nil {
			marks = bookmarked(heads, pages, pdf.Bookmarks)
		}
		r.heads, r.starts = merged(heads, marks), pages
	}
	switch mode {
	case sift.ModeLinks:
		l := pageLinks(body)
		r.Links, r.places, r.end = l.links, l.places, l.end
		locate(l.heads, l.pages)
		r.Content = LinkList(r.Links)
		r.markdown = true
		for _, l := range r.Links {
			r.VisibleChars += visibleChars(l.Text)
		}
		return r
	case sift.ModeOutline:
		w := newWriter(body, false)
		r.measured = w.document(body)
		locate(w.heads, w.pages)
		if marks == nil {
			marks = r.heads
		}
		r.Outline = outline(r.measured, marks)
		r.Content = OutlineList(r.Outline, pageStarts(r.measured, w.pages))
		r.markdown = true
		for _, h := range r.Outline {
			r.VisibleChars += visibleChars(h.Text)
		}
		return r
	case sift.ModeHTML:
		w := sanitised(body)
		r.Content = strings.TrimSpace(string(w.out))
		locate(w.heads, w.pages)
	default:
		w := newWriter(body, mode == sift.ModeText)
		r.Content = w.document(body)
		locate(w.heads, w.pages)
		r.markdown = mode != sift.ModeText
	}
	r.measured = r.Content
	r.Pages = pageStarts(r.Content, r.starts)
	r.VisibleChars = normalize.CountVisible(body)
	return r
}

func verbatim(doc *sift.Document, mode sift.Mode) (r Rendered) {
	markdown := doc.Kind == sift.KindMarkdown
	switch mode {
	case sift.ModeLinks:
		r.Links, r.places = textLinks(doc.Text, markdown)
		if markdown {
			r.heads, r.end = markdownHeads(doc.Text), len(doc.Text)
		}
		r.Content = LinkList(r.Links)
		r.markdown = true
		for _, l := range r.Links {
			r.VisibleChars += visibleChars(l.Text)
		}
		return r
	case sift.ModeOutline:
		r.measured = doc.Text
		if markdown {
			r.heads = markdownHeads(doc.Text)
		}
		r.Outline = outline(doc.Text, r.heads)
		r.Content = OutlineList(r.Outline, nil)
		r.markdown = true
		for _, h := range r.Outline {
			r.VisibleChars += visibleChars(h.Text)
		}
		return r
	case sift.ModeHTML:
		if doc.Kind == sift.KindCode {
			r.Content = codeHTML(doc)
		} else {
			r.Content = "<pre>" + html.EscapeString(doc.Text) + "</pre>"
		}
	case sift.ModeClean, sift.ModeFull:
		r.Content = doc.Text
		if doc.Kind == sift.KindCode {
			if s, ok := fenced(doc); ok {
				r.Content, r.markdown = s, true
			}
		}
		r.measured = r.Content
		if markdown {
			r.markdown, r.heads = true, markdownHeads(doc.Text)
		}
	default:
		r.Content, r.measured = doc.Text, doc.Text
		if r.markdown = markdown; markdown {
			r.heads = markdownHeads(doc.Text)
		}
	}
	r.VisibleChars = visibleChars(doc.Text)
	return r
}

// visibleChars counts the characters of s that are not white space.
func visibleChars(s string) int {
	total := 0
	for i := 0; i < len(s); i++ {
		if c := s[i]; c > ' ' && (c < 0x80 || c >= 0xc0) {
			total++
		}
	}
	return total
}

// head is a heading of what was written: its line begins at byte at.
type head struct {
	level  int
	text   string
	anchor string
	at     int
}

// outline turns byte positions in content into characters and measures the
// sections.
func outline(content string, heads []head) []sift.Heading {
	out := make([]sift.Heading, len(heads))
	pos, chars := 0, 0
	for i, h := range heads {
		at := min(max(h.at, pos), len(content))
		chars += utf8.RuneCountInString(content[pos:at])
		pos = at
		out[i] = sift.Heading{Level: h.level, Text: h.text, Anchor: h.anchor, Offset: chars}
	}
	measureSections(out, chars+utf8.RuneCountInString(content[pos:]))
	return out
}

// measureSections fills in how long the section of each heading is, total being the
// length of all. A section ends where the next heading of its level or above
// begins. Those that begin at one place, as bookmarks of one page do, share what
// follows it: none is empty because another is there too.
func measureSections(heads []sift.Heading, total int) {
	// Backwards: next keeps for each level where the nearest such heading is.
	var next [7]int
	for l := range next {
		next[l] = total
	}
	for end := len(heads); end > 0; {
		start := end - 1
		for start > 0 && heads[start-1].Offset == heads[start].Offset {
			start--
		}
		highest := len(next)
		for i := start; i < end; i++ {
			level := min(max(heads[i].Level, 1), 6)
			heads[i].Chars = next[level] - heads[i].Offset
			highest = min(highest, level)
		}
		for l := highest; l < len(next); l++ {
			next[l] = heads[start].Offset
		}
		end = start
	}
}

// OutlineList writes an outline as a nested list, with the page of each heading
// where there are pages.
func OutlineList(heads []sift.Heading, pages []PageStart) string {
	var b strings.Builder
	var stack []int // the levels of the headings around
	page := 0
	for _, h := range heads {
		for len(stack) > 0 && stack[len(stack)-1] >= h.Level {
			stack = stack[:len(stack)-1]
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		for range stack {
			b.WriteString("  ")
		}
		stack = append(stack, h.Level)
		b.WriteString("- ")
		if text := escapeInline(h.Text, h.Anchor != ""); h.Anchor != "" {
			b.WriteString("[" + text + "](" + destination("#"+h.Anchor, false) + ")")
		} else {
			b.WriteString(text)
		}
		b.WriteString(" (")
		for len(pages) > 0 && pages[0].Offset <= h.Offset {
			page, pages = pages[0].Number, pages[1:]
		}
		if page > 0 {
			b.WriteString("page " + strconv.Itoa(page) + ", ")
		}
		b.WriteString("offset " + strconv.Itoa(h.Offset) + ", " + strconv.Itoa(h.Chars) + " characters)")
	}
	return b.String()
}

// LinkList writes links one a line.
func LinkList(links []sift.Link) string {
	var b strings.Builder
	for i, l := range links {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString("- [")
		b.WriteString(escapeInline(l.Text, true))
		b.WriteString("](")
		b.WriteString(destination(l.URL, false))
		b.WriteByte(')')
	}
	return b.String()
}
