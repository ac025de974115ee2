package pipeline

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/net/html"

	"sift.build/sift/internal/extract"
	"sift.build/sift/internal/model"
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
	leave, err := p.cfg.Parse.Enter(ctx, storedWeight(c, q.view))
	if err != nil {
		return nil, err
	}
	leave = sync.OnceFunc(leave)
	defer leave()
	renderStart := p.now()
	s, err := p.selectStored(ctx, q, c)
	if err != nil {
		return nil, err
	}
	if q.view.waits() {
		leave() // what follows waits for others, and holds no tree
		if err := p.ask(ctx, q, s); err != nil {
			return nil, err
		}
	}
	a, err := s.answer()
	if err != nil {
		return nil, err
	}
	ref := c.ref()
	if !s.passing {
		p.memory.put(ref, c.entry.Reusable, q.view, a)
	}
	env := p.hit(ref, a, c.revalidated)
	env.Timing.QueueMS = renderStart.Sub(start).Milliseconds()
	env.Timing.RenderMS = p.now().Sub(renderStart).Milliseconds()
	return env, nil
}

// selectStored selects from the document of a copy. The caller has the parser's
// turn.
func (p *Pipeline) selectStored(ctx context.Context, q query, c *copied) (*selection, error) {
	doc, unlock, err := c.document(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	s, err := selectFrom(ctx, c, doc, q.view)
	if errors.Is(err, errPagesUnread) {
		if doc, err = p.pdfOfStored(ctx, q, c); err == nil {
			s, err = selectFrom(ctx, c, lastWord(doc), q.view)
		}
	}
	return s, err
}

// narrowWeight is how many bytes of memory a byte of a content takes while it is
// searched: what package digest makes for it.
const narrowWeight = 16

// ask does what waits for others: it has a child run the jq program, and asks
// models about the question. The caller has no turn of the parser.
func (p *Pipeline) ask(ctx context.Context, q query, s *selection) error {
	turn := func(ctx context.Context) (leave func(), err error) {
		return p.cfg.Parse.Enter(ctx, narrowWeight*int64(len(s.text.Content)))
	}
	if q.view.jq != "" {
		r, err := p.cfg.JQ.Run(ctx, s.jqQuery(q.caller))
		if err != nil {
			return err
		}
		s.setJQ(r)
		if q.view.selects() {
			leave, err := turn(ctx)
			if err != nil {
				return err
			}
			err = s.narrow(ctx)
			leave()
			if err != nil {
				return err
			}
		}
	}
	if !q.view.models {
		return nil
	}
	d, warnings, err := p.cfg.Models.Digest(ctx, model.Ask{
		Class: q.caller.Class, Restricted: q.caller.Restricted, Secret: s.secret,
		Text: s.readable(), Question: q.view.question, Options: s.digestOptions(), Turn: turn,
	})
	if err != nil {
		return err
	}
	s.toPassages(d)
	s.a.Warnings = append(s.a.Warnings, warnings...)
	s.passing = len(warnings) > 0
	return nil
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
func storedWeight(c *copied, v view) int64 {
	saved := savedWeight * int64(len(c.entry.Document))
	whole := needsPage(v.mode) || saved == 0
	if !whole && !v.context && !v.recover {
		return saved
	}
	body := max(int64(len(c.entry.Body)), c.entry.BodySize)
	tree := bodyWeight * body // where it is not in memory yet, to count its tags
	if int64(len(c.entry.Body)) == body {
		tree = extract.Weight(c.input())
	}
	again := againWeight(v, tree, body)
	if whole {
		return saved + tree + again
	}
	return saved + again
}

// againWeight estimates what a view takes that reads the body a second time: its
// tree, and for the data embedded in it what package extract says of that.
func againWeight(v view, tree, body int64) int64 {
	var w int64
	if v.context || v.recover {
		w = tree
	}
	if v.recover {
		w += min(embeddedWeight*body, embeddedMost)
	}
	return w
}

// embeddedWeight is how many bytes of memory a byte of a page becomes while its
// embedded data is looked for, and embeddedMost all of them (measured with hostile
// pages of 9 MB).
const (
	embeddedWeight = 12
	embeddedMost   = 100 << 20
)

// bodyWeight is how many bytes of memory a byte of a page becomes: one with
// about as many tags as real pages have.
const bodyWeight = 16

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
