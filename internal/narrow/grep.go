package narrow

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"sift.build/sift/internal/render"
	"sift.build/sift/internal/sift"
)

// Bounds on what Grep gives.
const (
	hitsMax      = 200     // matching lines
	outMax       = 100_000 // characters
	hitChars     = 2000    // of a matching line
	contextChars = 500     // of a line near one
	headingChars = 100     // of each heading above
)

// around is how many lines are shown on each side of a matching line.
const around = 2

// Text is a content, and what is known of its structure. Of gives it.
type Text struct {
	Content string

	// Markdown says that Content is Markdown, whose lines are also tried as a
	// reader sees them.
	Markdown bool

	// Headings are the headings of Content, in its order, each with the offset of
	// its line in characters. Without them nothing stands under a heading.
	Headings []sift.Heading

	// Above are the headings around the whole of Content, outermost first: of a
	// part those of the parts that it is in.
	Above []sift.Heading

	// Pages are the offsets at which the pages of a PDF begin in Content, in its
	// order. The line there is the page's marker. The first offset is below 0 where
	// Content begins in the middle of a page.
	Pages []render.PageStart

	// Links and Outline are the entries of a Content that is a list of them, one a
	// line; nil for any other. What the offsets in Headings and Pages then count is
	// not in Content: for an outline characters of what it is the outline of, for
	// links places, as Places has them.
	Links   []sift.Link
	Places  []render.LinkPlace
	Outline []sift.Heading
}

// Of gives what was rendered as a Text.
func Of(r *render.Rendered) Text {
	s := r.Structure()
	return Text{
		Content: r.Content, Markdown: r.IsMarkdown(), Headings: s.Headings, Pages: s.Pages,
		Links: r.Links, Places: s.Links, Outline: r.Outline,
	}
}

// Result is what was found.
type Result struct {
	Content string // as the package documents it
	Hits    int    // matching lines, all of them
	Cut     bool   // Content shows the first of them only
	Pages   []int  // of a PDF: those that the lines shown stand on
}

// Grep gives the lines of t that match p, with what stands around them. That none
// does is a result. The error is a Failure: the time of ctx was up, or the caller
// went away.
func Grep(ctx context.Context, t Text, p *Pattern) (Result, error) {
	if t.Links != nil || t.Outline != nil {
		t.Headings, t.Above, t.Pages = nil, nil, nil // they are of another content
	}
	g := grep{p: p, t: t, trail: slices.Clone(t.Above)}
	lines := lineReader{s: t.Content}
	for l, ok := lines.next(); ok; l, ok = lines.next() {
		err := ctx.Err()
		if err == nil {
			err = g.line(ctx, l)
		}
		if err != nil {
			return Result{}, ended(err, l.at, t)
		}
	}
	g.res.Content = g.count() + g.out.String()
	return g.res, nil
}

func ended(err error, at int, t Text) error {
	if !errors.Is(err, context.DeadlineExceeded) {
		return sift.Fail(sift.CodeCancel, "the caller went away").WithCause(err)
	}
	f := sift.Fail(sift.CodeTimeout,
		"grep ran out of time when it had searched %d%% of the content; use a plainer pattern, with smaller repeat counts and fewer alternatives, or a longer timeout",
		int64(at)*100/int64(len(t.Content))).WithCause(err)
	if len(t.Pages) > 1 {
		return f.WithHint(sift.HintPages)
	}
	return f
}

// line is one line of a content.
type line struct {
	text   string
	number int // from 1
	at     int // byte of the content
	offset int // character of the content
	next   int // character at which the next line begins
}

// lineReader gives the lines of s. A line ends at a line feed, a carriage return
// or both, as Markdown has it.
type lineReader struct {
	s              string
	number, at     int
	offset         int
	lf, cr         int // where each stands next, if that is at or behind at
	lfSeen, crSeen bool
}

func (r *lineReader) next() (line, bool) {
	if r.at >= len(r.s) {
		return line{}, false
	}
	// Each is looked for again only when it was passed: a megabyte of the one
	// without the other stays linear.
	if !r.lfSeen || r.lf < r.at {
		r.lf, r.lfSeen = indexFrom(r.s, '\n', r.at), true
	}
	if !r.crSeen || r.cr < r.at {
		r.cr, r.crSeen = indexFrom(r.s, '\r', r.at), true
	}
	end := min(r.lf, r.cr)
	after := min(end+1, len(r.s))
	if end == r.cr && r.lf == r.cr+1 {
		after++
	}
	r.number++
	l := line{text: r.s[r.at:end], number: r.number, at: r.at, offset: r.offset}
	r.offset += utf8.RuneCountInString(l.text) + after - end
	r.at = after
	l.next = r.offset
	return l, true
}

func indexFrom(s string, c byte, from int) int {
	if i := strings.IndexByte(s[from:], c); i >= 0 {
		return from + i
	}
	return len(s)
}

// grep goes over the lines once, from the first to the last.
type grep struct {
	p    *Pattern
	t    Text // Headings and Pages: those that are still to come
	view view

	page  int
	trail []sift.Heading // the headings around, outermost first

	before  []line // the last lines that were not shown and may still be
	skipped int    // lines that were not shown since the last one that was
	inGroup bool   // a line was shown of this section
	after   int    // lines to show behind the last match

	out   strings.Builder
	chars int // of out
	shown int // matching lines in out
	res   Result
}

func (g *grep) line(ctx context.Context, l line) error {
	heading, marker := g.enter(l)
	if marker || g.blank(l.text) {
		return nil
	}
	hit, plain, err := g.matches(ctx, l.text)
	switch {
	case err != nil:
		return err
	case hit:
		g.res.Hits++
		if g.res.Cut {
			return nil
		}
		return g.show(ctx, l, plain)
	case g.res.Cut, heading != "" && g.isOnly(l.text, heading):
		return nil
	case g.after > 0:
		if s := numbered(l, '-', clip(l.text, contextChars, false)); g.fits(s) {
			g.write(s)
			g.after--
			return nil
		}
		g.after = 0
	}
	g.skipped++
	if len(g.before) == around {
		g.before = append(g.before[:0], g.before[1:]...)
	}
	g.before = append(g.before, l)
	return nil
}

// enter takes note of the page and the headings that begin on a line: what is
// around a match ends there. It gives the last heading's text, and whether the
// line is a page's marker.
func (g *grep) enter(l line) (heading string, marker bool) {
	begins := false
	for len(g.t.Pages) > 0 && g.t.Pages[0].Offset < l.next {
		g.page = g.t.Pages[0].Number
		begins, marker = true, g.t.Pages[0].Offset >= 0
		g.t.Pages = g.t.Pages[1:]
	}
	for len(g.t.Headings) > 0 && g.t.Headings[0].Offset < l.next {
		h := g.t.Headings[0]
		g.t.Headings = g.t.Headings[1:]
		h.Level = min(max(h.Level, 1), 6)
		h.Text = strings.Join(strings.Fields(h.Text), " ")
		for len(g.trail) > 0 && g.trail[len(g.trail)-1].Level >= h.Level {
			g.trail = g.trail[:len(g.trail)-1]
		}
		g.trail = append(g.trail, h)
		begins, heading = true, h.Text
	}
	if begins {
		g.before, g.skipped, g.inGroup, g.after = g.before[:0], 0, false, 0
	}
	return heading, marker
}

// blank says that nothing is on a line: a quote's sign in Markdown is nothing.
func (g *grep) blank(s string) bool {
	if g.t.Markdown {
		s = strings.TrimLeft(s, "> \t")
	}
	return strings.TrimSpace(s) == ""
}

// isOnly says that a line holds a heading and nothing else.
func (g *grep) isOnly(s, heading string) bool {
	if g.t.Markdown {
		s = strings.TrimLeft(g.view.of(s), "#>-+* \t")
	}
	return strings.Join(strings.Fields(s), " ") == heading
}

// matches says whether a line matches, and whether only what a reader sees of it
// does.
func (g *grep) matches(ctx context.Context, s string) (hit, plain bool, err error) {
	if hit, err = g.p.match(ctx, s); hit || err != nil || !g.t.Markdown {
		return hit, false, err
	}
	seen := g.view.of(s)
	if seen == s {
		return false, false, nil
	}
	hit, err = g.p.match(ctx, seen)
	return hit, true, err
}

// show writes a matching line, with the group that it begins and the lines
// before it; nothing, when it is too much.
func (g *grep) show(ctx context.Context, l line, plain bool) error {
	text, start, err := g.excerpt(ctx, l.text, plain)
	if err != nil {
		return err
	}
	var b strings.Builder
	if !g.inGroup || g.skipped > len(g.before) {
		if g.out.Len() > 0 {
			b.WriteString("\n--")
		} else {
			b.WriteByte('\n')
		}
		at := l.offset
		switch {
		case start > 0: // the line is long, and so far into it is what matches
			at += utf8.RuneCountInString(l.text[:start])
		case len(g.before) > 0:
			at = g.before[0].offset
		}
		b.WriteByte('\n')
		b.WriteString(g.place(at))
	}
	for _, c := range g.before {
		b.WriteString(numbered(c, '-', clip(c.text, contextChars, true)))
	}
	b.WriteString(numbered(l, ':', text))
	s := b.String()
	if g.shown == hitsMax || !g.fits(s) {
		g.res.Cut = true
		return nil
	}
	g.write(s)
	g.shown++
	g.before, g.skipped, g.inGroup, g.after = g.before[:0], 0, true, around
	if n := len(g.res.Pages); g.page > 0 && (n == 0 || g.res.Pages[n-1] != g.page) {
		g.res.Pages = append(g.res.Pages, g.page)
	}
	return nil
}

// place is the line that begins a group.
func (g *grep) place(offset int) string {
	var b strings.Builder
	b.WriteByte('[')
	if g.page > 0 {
		b.WriteString("page " + strconv.Itoa(g.page) + ", ")
	}
	b.WriteString("offset " + strconv.Itoa(offset) + "]")
	for i, h := range g.trail {
		if i > 0 {
			b.WriteString(" >")
		}
		b.WriteString(" " + clip(h.Text, headingChars, false))
	}
	return b.String()
}

func numbered(l line, sign byte, text string) string {
	return "\n" + strconv.Itoa(l.number) + string(sign) + text
}

// countRoom is kept free for the first line.
const countRoom = 100

func (g *grep) fits(s string) bool {
	return g.chars+utf8.RuneCountInString(s) <= outMax-countRoom
}

func (g *grep) write(s string) {
	g.out.WriteString(s)
	g.chars += utf8.RuneCountInString(s)
}

// count is the first line.
func (g *grep) count() string {
	switch n := strconv.Itoa(g.res.Hits); {
	case g.res.Hits == 0:
		return "no line matches"
	case g.res.Cut:
		return "first " + strconv.Itoa(g.shown) + " of " + n + " matching lines"
	case g.res.Hits == 1:
		return "1 matching line"
	default:
		return n + " matching lines"
	}
}
