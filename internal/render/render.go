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

	heads    []head
	markdown bool
}

// IsMarkdown says whether Content is Markdown.
func (r *Rendered) IsMarkdown() bool { return r.markdown }

// Headings lists the headings of a content that is Markdown, by where they
// stand in it. Other contents have none.
func (r *Rendered) Headings() []sift.Heading { return outline(r.Content, r.heads) }

// PageStart says at which character of a content a page of a PDF begins.
type PageStart struct{ Number, Offset int }

// Content renders doc. ModeFull and ModeLinks of an HTML document need
// doc.Page, the other modes, and all modes of a PDF, doc.Main. ModeRaw is not rendered: it is an error,
// as is any mode that is not one.
//
// JSON, Markdown and plain text are handed on verbatim in every mode but three:
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
	switch mode {
	case sift.ModeText:
		w := newWriter(body, true)
		r.Content = w.document(body)
		r.Pages = pageStarts(r.Content, w.pages)
	case sift.ModeHTML:
		var pages []pageStart
		r.Content, pages = sanitised(body)
		r.Pages = pageStarts(r.Content, pages)
	case sift.ModeLinks:
		r.Links = pageLinks(body)
		r.Content = linkList(r.Links)
		r.markdown = true
		for _, l := range r.Links {
			r.VisibleChars += visibleChars(l.Text)
		}
		return r
	case sift.ModeOutline:
		w := newWriter(body, false)
		content := w.document(body)
		heads := w.heads
		if pdf != nil {
			heads = bookmarked(heads, w.pages, pdf.Bookmarks)
		}
		r.Outline = outline(content, heads)
		r.Content = outlineList(r.Outline, pageStarts(content, w.pages))
		r.markdown = true
		for _, h := range r.Outline {
			r.VisibleChars += visibleChars(h.Text)
		}
		return r
	default:
		w := newWriter(body, false)
		r.Content = w.document(body)
		r.Pages = pageStarts(r.Content, w.pages)
		r.heads, r.markdown = w.heads, true
	}
	r.VisibleChars = normalize.CountVisible(body)
	return r
}

func verbatim(doc *sift.Document, mode sift.Mode) (r Rendered) {
	markdown := doc.Kind == sift.KindMarkdown
	switch mode {
	case sift.ModeLinks:
		r.Links = textLinks(doc.Text, markdown)
		r.Content = linkList(r.Links)
		r.markdown = true
		for _, l := range r.Links {
			r.VisibleChars += visibleChars(l.Text)
		}
		return r
	case sift.ModeOutline:
		r.Outline = []sift.Heading{}
		if markdown {
			r.Outline = outline(doc.Text, markdownHeads(doc.Text))
		}
		r.Content = outlineList(r.Outline, nil)
		r.markdown = true
		for _, h := range r.Outline {
			r.VisibleChars += visibleChars(h.Text)
		}
		return r
	case sift.ModeHTML:
		r.Content = "<pre>" + html.EscapeString(doc.Text) + "</pre>"
	default:
		r.Content = doc.Text
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

// head is a heading of the Markdown that was written: its line begins at byte
// at.
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
	total := chars + utf8.RuneCountInString(content[pos:])
	// A section ends where the next heading of its level or above begins: go
	// backwards, and keep for each level the nearest such heading.
	var next [7]int
	for l := range next {
		next[l] = total
	}
	for i := len(out) - 1; i >= 0; i-- {
		h := &out[i]
		level := min(max(h.Level, 1), 6)
		h.Chars = next[level] - h.Offset
		for l := level; l < len(next); l++ {
			next[l] = h.Offset
		}
	}
	return out
}

// outlineList writes an outline as a nested list, with the page of each heading
// where there are pages.
func outlineList(heads []sift.Heading, pages []PageStart) string {
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

// linkList writes links one a line.
func linkList(links []sift.Link) string {
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
