package extract

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
)

const (
	// maxMarkdown is the longest text that is read as Markdown, in bytes, and
	// maxMarkdowns what all of a page may be together: its parser cannot be
	// stopped, and some texts take it more than linear time. What is longer
	// becomes paragraphs of its lines.
	maxMarkdown  = 128 << 10
	maxMarkdowns = 512 << 10
)

// markdown renders a text. HTML inside is kept: the page is cleaned as a whole.
func (r *reader) markdown(s string) string {
	if len(s) > maxMarkdown || r.marked+len(s) > maxMarkdowns || !tameMarkdown(s) {
		return textHTML(s)
	}
	r.marked += len(s)
	if strings.HasPrefix(s, "---\n") { // front matter
		if _, rest, ok := strings.Cut(s[4:], "\n---\n"); ok {
			s = rest
		}
	}
	var b bytes.Buffer
	if r.md == nil { // of each its own would cost more than most texts
		r.md = goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe()))
	}
	if err := r.md.Convert([]byte(s), &b); err != nil {
		return textHTML(s)
	}
	return b.String()
}

// tameMarkdown says whether a text has no run of signs that is longer than any
// that a person writes, and is nested no deeper.
func tameMarkdown(s string) bool {
	run, signs := 0, 0
	for i := range len(s) {
		switch c := s[i]; {
		case strings.IndexByte("[]()*_`<>!#~|\\", c) >= 0:
			signs++
			if run++; run > 200 {
				return false
			}
		case c == ' ' || c == '\n' || c == '\t' || c == '>':
		default:
			run = 0
		}
	}
	return signs < 2000 || signs*4 < len(s)
}

// moreMarkdown says whether a text with tags in it is Markdown all the same:
// its paragraphs are divided by empty lines, not by tags.
func moreMarkdown(s string) bool {
	tags := 0
	for _, tag := range []string{"<p", "<div", "<li", "<h2", "<h3", "<br", "<td"} {
		tags += strings.Count(s, tag)
	}
	return strings.Count(s, "\n\n") > 2*tags && isMarkdown(s)
}

// isMarkdown says whether a text has marks of Markdown of at least two kinds,
// or headings.
func isMarkdown(s string) bool {
	if strings.Contains(s, "](http") || strings.Contains(s, "](/") || strings.Contains(s, "\n```") || strings.HasPrefix(s, "```") {
		return true
	}
	kinds := 0
	if strings.Count(s, "**") >= 2 || strings.Count(s, "__") >= 2 {
		kinds++
	}
	heading, item, quote := false, 0, false
	n := 0
	for line := range strings.Lines(s) {
		if n++; n > 2000 {
			break
		}
		line = strings.TrimRight(line, "\r\n")
		trimmed := strings.TrimLeft(line, " ")
		switch {
		case strings.HasPrefix(line, "# "), strings.HasPrefix(line, "## "), strings.HasPrefix(line, "### "), strings.HasPrefix(line, "#### "):
			heading = true
		case strings.HasPrefix(trimmed, "- "), strings.HasPrefix(trimmed, "* "), strings.HasPrefix(trimmed, "1. "), strings.HasPrefix(trimmed, "2. "):
			item++
		case strings.HasPrefix(line, "> "):
			quote = true
		case strings.HasPrefix(line, "|") && strings.HasSuffix(line, "|"):
			kinds = 2
		}
	}
	if item >= 2 {
		kinds++
	}
	if quote {
		kinds++
	}
	return heading || kinds >= 2 || item >= 3
}
