package narrow

import (
	"slices"
	"strings"

	"sift.build/sift/internal/render"
	"sift.build/sift/internal/sift"
)

// Part is what stands under one heading.
type Part struct {
	// Text is the part as a content of its own: offsets in it count from its
	// beginning, and all that is done to it later, such as Grep, is done as if it
	// were the whole.
	Text Text

	// Offset is where it begins in the whole content, in characters; of an outline
	// in the content that it is the outline of. Of a list of links it is 0.
	Offset int

	Heading sift.Heading // the heading, with its place in the whole; a long text is cut
	Trail   []string     // the headings around it, outermost first, each cut likewise
	Others  int          // further headings that answer to the name just as well
	Pages   []int        // of a PDF: those that it stands on, never nil then
}

// CheckSection finds what Section refuses whatever the content is: a name that is
// none, or too long. The error is a Failure with code invalid.
func CheckSection(want string) error {
	_, err := parseWant(want)
	return err
}

// Section gives the part of t under the heading that answers to want, as the
// package documents it. The error is a Failure with code invalid: it says which
// headings there are.
func Section(t Text, want string) (Part, error) {
	q, err := parseWant(want)
	if err != nil {
		return Part{}, err
	}
	if !slices.ContainsFunc(t.Headings, func(h sift.Heading) bool { return h.Text != "" || h.Anchor != "" }) {
		return Part{}, noHeadings(t)
	}
	found := q.find(t.Headings)
	if found.index < 0 {
		return Part{}, q.unknown(t, found)
	}
	p := Part{Heading: t.Headings[found.index], Others: found.others, Trail: []string{}}
	p.Heading.Text = clip(oneLine(p.Heading.Text), headingChars, false)
	p.Text.Markdown = t.Markdown
	for _, h := range above(t.Headings[:found.index+1]) {
		p.Text.Above = append(p.Text.Above, h)
		p.Trail = append(p.Trail, clip(oneLine(h.Text), headingChars, false))
	}
	start, end := p.Heading.Offset, p.Heading.Offset+p.Heading.Chars
	p.Text.Headings = headingsIn(t.Headings[found.index:], end)
	p.Text.Pages = pagesIn(t.Pages, start, end)
	switch {
	case t.Links != nil:
		p.Text.Links, p.Text.Places = linksIn(t, start, end)
		p.Text.Content = render.LinkList(p.Text.Links)
		p.Text.Pages = withoutEmptyPages(p.Text.Pages, end-start, func(int) int { return 1 })
	case t.Outline != nil:
		p.Offset = start
		p.Text.Outline = p.Text.Headings
		p.Text.Pages = withoutEmptyPages(p.Text.Pages, end-start, func(page int) int { return len(render.PageMarker(page)) + len("\n\n") })
		p.Text.Content = render.OutlineList(p.Text.Outline, p.Text.Pages)
	default:
		p.Offset = start
		from := forward(t.Content, 0, start)
		p.Text.Content = t.Content[from:forward(t.Content, from, end-start)]
		p.Text.Content, p.Text.Pages = withoutEmptyEnd(p.Text.Content, p.Text.Pages)
	}
	if t.Pages != nil {
		p.Pages = []int{}
		for _, s := range p.Text.Pages {
			p.Pages = append(p.Pages, s.Number)
		}
	}
	return p, nil
}

// above gives the headings around the last of heads, outermost first.
func above(heads []sift.Heading) []sift.Heading {
	n := len(heads) - 1
	level := levelOf(heads[n])
	var out []sift.Heading
	for i := n - 1; i >= 0 && level > 1; i-- {
		if l := levelOf(heads[i]); l < level {
			out = append(out, heads[i])
			level = l
		}
	}
	slices.Reverse(out)
	return out
}

func levelOf(h sift.Heading) int { return min(max(h.Level, 1), 6) }

// headingsIn gives the first of heads and those behind it in its section, with
// their places in it. Others that begin where the first does, and are not under
// it, share its text but are none of its headings.
func headingsIn(heads []sift.Heading, end int) []sift.Heading {
	first := heads[0]
	out := []sift.Heading{}
	for i, h := range heads {
		if h.Offset >= end && i > 0 {
			break
		}
		if i > 0 && levelOf(h) <= levelOf(first) {
			continue
		}
		h.Offset -= first.Offset
		out = append(out, h)
	}
	return out
}

// pagesIn gives the pages that a part stands on, with their places in it. The
// page on which it begins begins before it, unless both begin together.
func pagesIn(pages []render.PageStart, start, end int) []render.PageStart {
	var out []render.PageStart
	for i, p := range pages {
		if p.Offset >= end && p.Offset > start {
			break
		}
		if i+1 == len(pages) || pages[i+1].Offset > start {
			out = append(out, render.PageStart{Number: p.Number, Offset: p.Offset - start})
		}
	}
	return out
}

// linksIn gives the links that stand in a part, each once, and where.
func linksIn(t Text, start, end int) ([]sift.Link, []render.LinkPlace) {
	links, places := []sift.Link{}, []render.LinkPlace{}
	at := make(map[int]int) // by place in t.Links
	for _, p := range t.Places {
		if p.Place < start || p.Place >= end || p.Link < 0 || p.Link >= len(t.Links) {
			continue
		}
		i, ok := at[p.Link]
		if !ok {
			i = len(links)
			at[p.Link] = i
			links = append(links, t.Links[p.Link])
		}
		places = append(places, render.LinkPlace{Place: p.Place - start, Link: i})
	}
	return links, places
}

// withoutEmptyEnd takes white space off the end of a part, and the markers of
// pages of which nothing else is in it: the next heading stands on top of them.
func withoutEmptyEnd(s string, pages []render.PageStart) (string, []render.PageStart) {
	s = strings.TrimRight(s, " \t\r\n")
	at := make([]int, len(pages)) // bytes
	for i, chars, pos := 0, 0, 0; i < len(pages); i++ {
		pos = forward(s, pos, pages[i].Offset-chars)
		chars = max(pages[i].Offset, 0)
		at[i] = pos
	}
	for n := len(pages) - 1; n >= 0 && pages[n].Offset > 0 && strings.IndexByte(s[at[n]:], '\n') < 0; n-- {
		s = strings.TrimRight(s[:at[n]], " \t\r\n")
		pages = pages[:n]
	}
	return s, pages
}

// withoutEmptyPages does the same where the text is not at hand: marker gives the
// length of a page's marker.
func withoutEmptyPages(pages []render.PageStart, end int, marker func(page int) int) []render.PageStart {
	for n := len(pages) - 1; n >= 0 && pages[n].Offset > 0 && end-pages[n].Offset <= marker(pages[n].Number); n-- {
		end = pages[n].Offset
		pages = pages[:n]
	}
	return pages
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
