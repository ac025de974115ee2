package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/net/html"

	"sift.build/sift/internal/extract"
	"sift.build/sift/internal/narrow"
	"sift.build/sift/internal/render"
	"sift.build/sift/internal/sift"
)

// errUnreadable is a stored copy that this build cannot read, such as one
// written by a newer one. It counts as not stored.
var errUnreadable = errors.New("stored document is unreadable")

// answerStored reads a copy that is in the store, or was just downloaded, in
// the way q asks for.
func (p *Pipeline) answerStored(ctx context.Context, q query, c *copied) (*sift.Envelope, error) {
	if a, ref, ok := p.memory.bySnapshot(q.caller.Class, c.entry.Snapshot, q.view); ok {
		ref.checkedAt = c.entry.CheckedAt
		p.touch(ref)
		p.memory.put(ref, c.entry.Reusable, q.view, a)
		return p.hit(ref, a, c.revalidated), nil
	}
	start := p.now()
	leave, err := p.cfg.Parse.Enter(ctx, storedWeight(c, q.view.mode))
	if err != nil {
		return nil, err
	}
	defer leave()
	renderStart := p.now()
	doc, unlock, err := c.document(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	a, err := answerFrom(ctx, c, doc, q.view)
	if errors.Is(err, errPagesUnread) {
		if doc, err = p.pdfOfStored(ctx, q, c); err == nil {
			a, err = answerFrom(ctx, c, lastWord(doc), q.view)
		}
	}
	if err != nil {
		return nil, err
	}
	ref := c.ref()
	p.memory.put(ref, c.entry.Reusable, q.view, a)
	env := p.hit(ref, a, c.revalidated)
	env.Timing.QueueMS = renderStart.Sub(start).Milliseconds()
	env.Timing.RenderMS = p.now().Sub(renderStart).Milliseconds()
	return env, nil
}

// document gives the copy's Document: the one of its download while that is
// still held, else the stored one, else (the store took nothing) a new one
// from the body. The caller calls unlock when it has read it.
func (c *copied) document(ctx context.Context) (doc *sift.Document, unlock func(), err error) {
	c.mu.Lock()
	if c.doc != nil {
		return c.doc, c.mu.Unlock, nil
	}
	c.mu.Unlock()
	unlock = func() {}
	if len(c.entry.Document) == 0 {
		if err := c.needBody(ctx); err != nil {
			return nil, nil, err
		}
		doc, err := extract.Extract(ctx, c.input())
		return doc, unlock, err
	}
	if doc, err = extract.Load(c.entry.Document, c.input()); err == nil && !doc.Kind.HasTree() {
		if err := c.needBody(ctx); err != nil {
			return nil, nil, err
		}
		doc, err = extract.Load(c.entry.Document, c.input())
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", errUnreadable, err)
	}
	return doc, unlock, nil
}

// needsPage reports whether a mode reads the whole page, not only its main
// content.
func needsPage(m sift.Mode) bool { return m == sift.ModeFull || m == sift.ModeLinks }

// savedWeight is how many bytes of memory a byte of a saved document becomes,
// once it is a tree again.
const savedWeight = 24

// storedWeight estimates what reading a stored copy holds in memory: its
// saved document as a tree, and the whole page where the mode needs it.
func storedWeight(c *copied, m sift.Mode) int64 {
	w := savedWeight * int64(len(c.entry.Document))
	switch body := max(int64(len(c.entry.Body)), c.entry.BodySize); {
	case !needsPage(m) && len(c.entry.Document) > 0:
	case int64(len(c.entry.Body)) == body:
		w += extract.Weight(c.input())
	default:
		w += bodyWeight * body // it is not in memory yet, to count its tags
	}
	return w
}

// bodyWeight is how many bytes of memory a byte of a page becomes: one with
// about as many tags as real pages have.
const bodyWeight = 16

// answerFrom reads a document in one way.
func answerFrom(ctx context.Context, c *copied, doc *sift.Document, v view) (*sift.Answer, error) {
	e := &c.entry
	a := &sift.Answer{
		URL: v.url, FinalURL: e.FinalURL, Status: e.Status, ContentType: e.ContentType, Mode: v.mode,
		Title: doc.Title, Author: doc.Author, Site: doc.Site, Published: doc.Published,
		Language: doc.Language, Description: doc.Description,
		Snapshot: e.Snapshot, Warnings: append([]sift.Warning{}, doc.Warnings...), Hint: doc.Hint,
	}
	if err := json.Unmarshal(e.Receipt, &a.Receipt); err != nil {
		return nil, fmt.Errorf("decode receipt: %w", err)
	}
	if v.restricted {
		a.Receipt.Address = ""
	}

	if doc.Kind != sift.KindPDF && v.pages != "" {
		return nil, sift.Fail(sift.CodeInvalid, "pages chooses pages of a PDF, and this is %s; leave it out", doc.MediaType)
	}
	var content string
	var pages []int // of a PDF: those that the answer holds; nil: starts says
	var starts []render.PageStart
	var text narrow.Text // what grep looks at, beside the content
	switch {
	case v.mode == sift.ModeRaw && doc.Kind == sift.KindPDF:
		return nil, sift.Fail(sift.CodeUnsupported, "a PDF has no text as it stands; ask for mode clean or text")
	case v.mode == sift.ModeRaw:
		if err := c.needBody(ctx); err != nil {
			return nil, err
		}
		text, _, _, err := extract.Decode(ctx, c.input())
		if err != nil {
			return nil, err
		}
		content, a.Coverage = text, 1
	default:
		if doc.Kind == sift.KindPDF {
			var err error
			if doc, err = chosenPages(doc, v.pages); err != nil {
				return nil, err
			}
		}
		if needsPage(v.mode) && doc.Kind == sift.KindHTML && doc.Page == nil {
			if err := c.needBody(ctx); err != nil {
				return nil, err
			}
			page, visible, err := extract.Page(ctx, c.input())
			if err != nil {
				return nil, err
			}
			doc = withPage(doc, page, visible)
		}
		r, err := render.Content(doc, v.mode)
		if err != nil {
			return nil, fmt.Errorf("render: %w", err)
		}
		content, a.Links, a.Outline, starts = r.Content, r.Links, r.Outline, r.Pages
		a.Coverage = coverage(r.VisibleChars, doc)
		if text.Markdown = r.IsMarkdown(); v.grep != "" {
			text.Headings, text.Pages = r.Headings(), r.Pages
		}
	}
	if v.grep != "" {
		text.Content = content
		found, err := grep(ctx, text, v.grep)
		if err != nil {
			return nil, err
		}
		a.Coverage = rounded(a.Coverage * float64(len(found.Content)) / float64(max(len(content), len(found.Content), 1)))
		a.Links, a.Outline = nil, nil // the lists are of the whole
		content, starts = found.Content, nil
		pages = append([]int{}, found.Pages...)
	}

	a.TotalChars = utf8.RuneCountInString(content)
	if v.offset > a.TotalChars {
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
	if doc.Kind == sift.KindPDF {
		if pages == nil {
			pages = pagesIn(doc, starts, v.offset, a.Chars)
		}
		a.Pages = &sift.Pages{Total: doc.PDF.Total, Returned: pages}
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

// withPage is a copy of doc that also has the whole page.
func withPage(doc *sift.Document, page *html.Node, visible int) *sift.Document {
	d := *doc
	d.Page, d.VisibleChars = page, visible
	return &d
}

// coverage is the share of the page's visible text that was rendered, rounded
// to two digits. Kinds without a tree are handed on whole.
func coverage(rendered int, doc *sift.Document) float64 {
	if !doc.Kind.HasTree() || doc.VisibleChars == 0 {
		return 1
	}
	return rounded(min(float64(rendered)/float64(doc.VisibleChars), 1))
}

func rounded(share float64) float64 { return float64(int(share*100+0.5)) / 100 }

// grepTime is how long one search may take. Half a second is a long one.
const grepTime = 5 * time.Second

// grep searches a content.
func grep(ctx context.Context, t narrow.Text, pattern string) (narrow.Result, error) {
	p, err := narrow.ParsePattern(pattern)
	if err != nil {
		return narrow.Result{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, grepTime)
	defer cancel()
	return narrow.Grep(ctx, t, p)
}
