package pipeline

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"sift.build/sift/internal/digest"
	"sift.build/sift/internal/extract"
	"sift.build/sift/internal/jq"
	"sift.build/sift/internal/narrow"
	"sift.build/sift/internal/render"
	"sift.build/sift/internal/sift"
)

// selection is what was asked for of one copy, on its way from the rendered
// content to an answer: pages, then jq, section, grep or question, then the
// window.
type selection struct {
	view view
	a    *sift.Answer
	text narrow.Text // what is left of the content

	isPDF  bool
	total  int                // of a PDF: how many pages the file has
	all    []int              // of a PDF: the pages of the whole content
	starts []render.PageStart // where pages begin in the content; nil: pages says
	pages  []int              // of a PDF: those that the content is of; nil: all

	secret bool // nothing of it may be kept, by models either

	// passing says that the answer may be another a moment later, as a model did
	// not answer now. It is not kept.
	passing bool

	kind      sift.Kind // what jq would run on
	mediaType string
}

// selectFrom renders a document in the way that v asks for and selects from
// it, but for what waits for others: see Pipeline.ask.
func selectFrom(ctx context.Context, c *copied, doc *sift.Document, v view) (*selection, error) {
	e := &c.entry
	a := &sift.Answer{
		URL: v.url, FinalURL: e.FinalURL, Status: e.Status, ContentType: e.ContentType, Mode: v.mode, Snapshot: e.Snapshot,
	}
	var receipt storedReceipt
	if err := json.Unmarshal(e.Receipt, &receipt); err != nil {
		return nil, fmt.Errorf("decode receipt: %w", err)
	}
	a.Receipt = receipt.Receipt
	if e.Recovered != nil {
		if err := json.Unmarshal(e.Recovered, &a.Origin); err != nil {
			return nil, fmt.Errorf("decode where a copy is from: %w", err)
		}
	}
	if v.restricted {
		a.Receipt.Address = ""
	}
	if v.recover || e.Recovered != nil {
		var err error
		if doc, err = embedded(ctx, c, doc, v.mode, a); err != nil {
			return nil, err
		}
	}
	a.Title, a.Author, a.Site, a.Published, a.Language, a.Description = doc.Title, doc.Author, doc.Site, doc.Published, doc.Language, doc.Description
	a.Warnings, a.Hint = append([]sift.Warning{}, doc.Warnings...), doc.Hint
	if doc.Kind != sift.KindPDF && v.pages != "" {
		return nil, sift.Fail(sift.CodeInvalid, "pages chooses pages of a PDF, and this is %s; leave it out", doc.MediaType)
	}
	s := &selection{view: v, a: a, secret: c.secret, kind: doc.Kind, mediaType: doc.MediaType, isPDF: doc.Kind == sift.KindPDF}
	if err := s.render(ctx, c, doc); err != nil {
		return nil, err
	}
	if v.context {
		if err := s.surroundings(ctx, c, doc, receipt.Link); err != nil {
			return nil, err
		}
	}
	if v.jq != "" {
		return s, nil
	}
	return s, s.narrow(ctx)
}

// embedded gives what a page that shows nothing has as data, and notes in a where
// that is from. Where there is no such data it is doc again, and a says why the
// page will not do.
func embedded(ctx context.Context, c *copied, doc *sift.Document, mode sift.Mode, a *sift.Answer) (*sift.Document, error) {
	if doc.Kind != sift.KindHTML || mode == sift.ModeRaw || !extract.Shell(doc) {
		if a.Origin == nil && extract.Blank(doc) {
			a.Origin = &sift.Recovered{Source: sift.SourceLive, Reason: showsNothing}
		}
		return doc, nil
	}
	if err := c.needBody(ctx); err != nil {
		return nil, err
	}
	found, ok, err := extract.Embedded(ctx, c.input())
	switch {
	case err != nil:
		return nil, err
	case ok && a.Origin != nil:
		a.Origin.From = found.From
	case ok:
		a.Origin = &sift.Recovered{
			Source: sift.SourcePage, CapturedAt: a.Receipt.FetchedAt, URL: c.entry.FinalURL, From: found.From, Reason: showsNothing,
		}
	case a.Origin == nil && extract.Blank(doc): // a short page that is one is what it is
		a.Origin = &sift.Recovered{Source: sift.SourceLive, Reason: showsNothing}
	}
	if !ok {
		return doc, nil
	}
	for _, w := range doc.Warnings {
		if w.Code == sift.WarnPartial { // it is of the body, whatever is read of it
			found.Document.Warnings = append(found.Document.Warnings, w)
		}
	}
	if found.Document.Page == nil {
		found.Document.Page = found.Document.Main // it is all there is
	}
	return found.Document, nil
}

// showsNothing is why a page's own text will not do.
const showsNothing = "the page shows next to no text by itself"

// surroundings says where the page sits.
func (s *selection) surroundings(ctx context.Context, c *copied, doc *sift.Document, links string) error {
	if doc.Kind == sift.KindHTML {
		if err := c.needBody(ctx); err != nil {
			return err
		}
	}
	around, err := extract.Context(ctx, c.input(), links)
	if err != nil {
		return err
	}
	if doc.Kind.HasTree() {
		r, err := render.Content(doc, sift.ModeOutline)
		if err != nil {
			return fmt.Errorf("render: %w", err)
		}
		around.Outline = slices.Clone(r.Outline[:min(len(r.Outline), outlineMax)])
		if len(r.Outline) > outlineMax {
			around.Cut = append(around.Cut, "outline")
		}
	}
	if len(around.Authors) == 0 && doc.Author != "" { // of a PDF
		around.Authors = append(around.Authors, doc.Author)
	}
	if around.Published == "" {
		around.Published = doc.Published
	}
	if s.view.mode == sift.ModeFull && doc.Kind == sift.KindHTML {
		if around.Hidden, err = extract.Hidden(ctx, c.input()); err != nil {
			return err
		}
	}
	s.a.Context = around
	return nil
}

// outlineMax is how many headings are part of a context.
const outlineMax = 200

// answerFrom reads a document in one way, which waits for nobody.
func answerFrom(ctx context.Context, c *copied, doc *sift.Document, v view) (*sift.Answer, error) {
	s, err := selectFrom(ctx, c, doc, v)
	if err != nil {
		return nil, err
	}
	return s.answer()
}

// render gives the content in the mode asked for.
func (s *selection) render(ctx context.Context, c *copied, doc *sift.Document) error {
	switch {
	case s.view.jq != "":
		return s.forJQ(ctx, c, doc)
	case s.view.mode == sift.ModeRaw && s.isPDF:
		return sift.Fail(sift.CodeUnsupported, "a PDF has no text as it stands; ask for mode clean or text")
	case s.view.mode == sift.ModeRaw:
		if err := c.needBody(ctx); err != nil {
			return err
		}
		text, _, _, err := extract.Decode(ctx, c.input())
		s.text.Content, s.a.Coverage = text, 1
		return err
	}
	if s.isPDF {
		var err error
		if doc, err = chosenPages(doc, s.view.pages); err != nil {
			return err
		}
		s.total, s.all = doc.PDF.Total, render.PagesOf(doc)
	}
	if needsPage(s.view.mode) && doc.Kind == sift.KindHTML && doc.Page == nil {
		if err := c.needBody(ctx); err != nil {
			return err
		}
		page, visible, err := extract.Page(ctx, c.input())
		if err != nil {
			return err
		}
		doc = withPage(doc, page, visible)
	}
	r, err := render.Content(doc, s.view.mode)
	if err != nil {
		return fmt.Errorf("render: %w", err)
	}
	s.starts = r.Pages
	s.a.Coverage = coverage(r.VisibleChars, doc)
	if s.view.selects() {
		s.text = narrow.Of(&r)
	} else {
		s.text = narrow.Text{Content: r.Content, Links: r.Links, Outline: r.Outline}
	}
	return nil
}

// forJQ gives the text that a jq program runs on: what the body says, whatever
// the mode.
func (s *selection) forJQ(ctx context.Context, c *copied, doc *sift.Document) error {
	s.text.Content, s.a.Coverage = doc.Text, 1
	switch {
	case s.kind == sift.KindFeed && strings.HasSuffix(s.mediaType, "json"): // a JSON Feed is JSON
		if err := c.needBody(ctx); err != nil {
			return err
		}
		var err error
		s.kind = sift.KindJSON
		s.text.Content, _, _, err = extract.Decode(ctx, c.input())
		return err
	case s.kind.HasTree():
		return jq.NotJSON(kindName(s.kind), s.mediaType)
	}
	return nil
}

// kindName is what a caller calls a kind.
func kindName(k sift.Kind) string {
	switch k {
	case sift.KindHTML:
		return "HTML"
	case sift.KindPDF:
		return "PDF"
	case sift.KindJSON:
		return "JSON"
	case sift.KindMarkdown:
		return "Markdown"
	case sift.KindFeed:
		return "a feed"
	case sift.KindSitemap:
		return "a sitemap"
	case sift.KindOPML:
		return "OPML"
	case sift.KindTable:
		return "a table (CSV)"
	case sift.KindDrawing:
		return "a drawing (SVG)"
	case sift.KindCode:
		return "source code"
	default:
		return "plain text"
	}
}

// jqQuery is the program to run on the body.
func (s *selection) jqQuery(caller sift.Caller) jq.Query {
	q := jq.Query{Program: s.view.jq, Body: []byte(s.text.Content), MediaType: s.mediaType, Kind: kindName(s.kind)}
	switch s.mediaType {
	case "application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines", "application/jsonlines":
		q.Lines = true
	}
	if !caller.Anonymous {
		q.Caller = caller.Name
	}
	return q
}

// setJQ takes what a program has made of the body as the content.
func (s *selection) setJQ(r jq.Result) {
	s.take(narrow.Text{Content: r.Content})
	if r.Cut {
		s.a.Warnings = append(s.a.Warnings, sift.Warning{
			Code: sift.WarnPartial, Message: fmt.Sprintf("the jq program had more to say than %d MiB: these are its first %d outputs; select less", jq.MaxOutput>>20, r.Outputs),
		})
	}
}

// take goes on with a part of the content, or with what was made of it.
func (s *selection) take(t narrow.Text) {
	before, after := len(s.text.Content), len(t.Content)
	s.a.Coverage = rounded(s.a.Coverage * float64(after) / float64(max(before, after, 1)))
	s.text, s.starts = t, nil
}

// narrow selects the section, and in it the lines or the passages.
func (s *selection) narrow(ctx context.Context) error {
	if s.view.section != "" {
		if err := s.toSection(); err != nil {
			return err
		}
	}
	if s.view.grep != "" {
		return s.toLines(ctx)
	}
	if s.view.question != "" && !s.view.models {
		d, err := digest.Extract(ctx, s.readable(), s.view.question, s.digestOptions())
		if err != nil {
			return err
		}
		s.toPassages(d)
	}
	return nil
}

func (s *selection) toSection() error {
	part, err := narrow.Section(s.text, s.view.section)
	if err != nil {
		return err
	}
	s.a.Section = &sift.Section{
		Text: part.Heading.Text, Level: part.Heading.Level, Anchor: part.Heading.Anchor, Trail: part.Trail,
		Offset: part.Offset, Chars: utf8.RuneCountInString(part.Text.Content), Others: part.Others,
	}
	s.take(part.Text)
	if s.text.Links != nil || s.text.Outline != nil {
		s.pages = part.Pages
	} else {
		s.starts = s.text.Pages
	}
	return nil
}

// grepTime is how long one search may take. Half a second is a long one.
const grepTime = 5 * time.Second

func (s *selection) toLines(ctx context.Context) error {
	p, err := narrow.ParsePattern(s.view.grep)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, grepTime)
	defer cancel()
	found, err := narrow.Grep(ctx, s.text, p)
	if err != nil {
		return err
	}
	s.take(narrow.Text{Content: found.Content})
	s.pages = append([]int{}, found.Pages...)
	return nil
}

// readable is the content as package digest reads it.
func (s *selection) readable() digest.Text {
	t := digest.Text{Content: s.text.Content, Markdown: s.text.Markdown, Language: s.a.Language}
	if s.text.Links == nil && s.text.Outline == nil { // else they are of another content
		t.Headings, t.Pages = s.text.Headings, s.text.Pages
	}
	return t
}

func (s *selection) digestOptions() digest.Options {
	return digest.Options{MaxChars: s.passagesMax()}
}

// passagesMax is how many characters of passages may be handed back, the lines
// above them included.
func (s *selection) passagesMax() int { return min(s.view.maxChars, digest.DefaultChars) }

// fit leaves out the weakest passages until a digest, written out, is not longer
// than it may be. One is always left, and all that a model has cited.
func (s *selection) fit(d *sift.Digest) {
	for d.Method != sift.DigestLLM && len(d.Passages) > 1 && utf8.RuneCountInString(passagesText(*d)) > s.passagesMax() {
		weakest := 0
		for i, p := range d.Passages {
			if p.Score < d.Passages[weakest].Score {
				weakest = i
			}
		}
		d.Passages = slices.Delete(d.Passages, weakest, weakest+1)
		for i := range d.Passages {
			d.Passages[i].N = i + 1
		}
	}
}

// toPassages takes the passages that answer a question as the content. What
// digest says counts in the text that it was given; in the answer it counts in
// the whole content, so that a caller can read on there.
func (s *selection) toPassages(d sift.Digest) {
	var above []string
	for _, h := range s.text.Above {
		above = append(above, strings.Join(strings.Fields(h.Text), " "))
	}
	offset := 0
	if s.a.Section != nil {
		offset = s.a.Section.Offset
	}
	pages := []int{}
	d.Passages = slices.Clone(d.Passages)
	s.fit(&d)
	for i := range d.Passages {
		p := &d.Passages[i]
		p.Start += offset
		p.End += offset
		if len(above) > 0 {
			p.Heading = strings.TrimSuffix(strings.Join(append(slices.Clone(above), p.Heading), " > "), " > ")
		}
		if p.Page > 0 && !slices.Contains(pages, p.Page) {
			pages = append(pages, p.Page)
		}
	}
	s.take(narrow.Text{Content: passagesText(d)})
	s.a.Digest = &d
	s.pages = pages
}

// passagesText is a digest for a reader. A line in brackets begins each passage,
// so that no page can make one up: every line of a passage that begins so too is
// set off by a blank.
func passagesText(d sift.Digest) string {
	var b strings.Builder
	if d.Method == sift.DigestLLM || len(d.Passages) == 0 {
		b.WriteString(d.Answer)
	}
	for _, p := range d.Passages {
		if b.Len() > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString("[" + strconv.Itoa(p.N))
		if p.Page > 0 {
			b.WriteString(", page " + strconv.Itoa(p.Page))
		}
		b.WriteString(", offset " + strconv.Itoa(p.Start) + "]")
		if p.Heading != "" {
			b.WriteString(" " + p.Heading)
		}
		b.WriteString("\n\n")
		for i, line := range strings.Split(p.Text, "\n") {
			if i > 0 {
				b.WriteByte('\n')
			}
			if looksLikeMark(line) {
				b.WriteByte(' ')
			}
			b.WriteString(line)
		}
	}
	return b.String()
}

// looksLikeMark says that a line could be taken for one that begins a passage.
func looksLikeMark(line string) bool {
	rest, ok := strings.CutPrefix(line, "[")
	return ok && strings.TrimLeft(rest, "0123456789") != rest
}

// answer gives the window asked for on what was selected.
func (s *selection) answer() (*sift.Answer, error) {
	a, v, content := s.a, s.view, s.text.Content
	a.Links, a.Outline = s.text.Links, s.text.Outline
	a.TotalChars = utf8.RuneCountInString(content)
	if v.offset > 0 && v.offset >= a.TotalChars { // an empty window would look like an empty page
		return nil, sift.Fail(sift.CodeInvalid, "offset %d is past the end of the content, which has %d characters; there is no more to read", v.offset, a.TotalChars)
	}
	part, next, more := render.Window(content, v.offset, v.maxChars)
	if a.Links != nil || a.Outline != nil {
		from, to := entries(content, part, v.offset)
		a.Links, a.Outline = window(a.Links, from, to), window(a.Outline, from, to)
	}
	// An answer may be kept. A part of a string would keep the whole of it.
	a.Content = strings.Clone(part)
	for _, s := range []*string{&a.Title, &a.Author, &a.Site, &a.Published, &a.Language, &a.Description} {
		*s = strings.Clone(*s)
	}
	a.Hint = sift.Hint(strings.Clone(string(a.Hint))) // even an empty part holds the whole
	for i, w := range a.Warnings {
		a.Warnings[i] = sift.Warning{Code: sift.WarningCode(strings.Clone(string(w.Code))), Message: strings.Clone(w.Message)}
	}
	a.Chars = utf8.RuneCountInString(part)
	if s.isPDF {
		pages := s.pages
		if pages == nil {
			pages = pagesIn(s.all, s.starts, v.offset, a.Chars)
		}
		a.Pages = &sift.Pages{Total: s.total, Returned: pages}
	}
	a.Tokens = render.Tokens(part)
	if more {
		a.Truncated = true
		a.NextOffset = &next
	}
	return a, nil
}

// entries says which lines of content begin in the part at the character
// offset, as a range. Links and outlines have one entry a line.
func entries(content, part string, offset int) (from, to int) {
	start := 0
	for range offset {
		_, size := utf8.DecodeRuneInString(content[start:])
		start += size
	}
	from = strings.Count(content[:start], "\n")
	if start > 0 && content[start-1] != '\n' {
		from++ // its line began in the window before
	}
	to = strings.Count(content[:start+len(part)], "\n")
	if end := start + len(part); end > 0 && content[end-1] != '\n' {
		to++
	}
	return from, to
}

// window is the part of a list whose lines begin in the window of the content,
// in memory of its own. A list that was not asked for stays nil.
func window[T any](list []T, from, to int) []T {
	if list == nil {
		return nil
	}
	to = min(to, len(list))
	from = min(from, to)
	return append(make([]T, 0, to-from), list[from:to]...)
}
