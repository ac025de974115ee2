package pipeline

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"
	"time"

	"sift.build/sift/internal/extract"
	"sift.build/sift/internal/fetch"
	"sift.build/sift/internal/pdf"
	"sift.build/sift/internal/pdfpool"
	"sift.build/sift/internal/render"
	"sift.build/sift/internal/sift"
)

// PDFReader reads a PDF; *pdf.Reader is the real one.
type PDFReader interface {
	Read(ctx context.Context, r pdf.Request) (*sift.Document, error)
}

// busyFor is how long a caller whom the pool refuses is asked to wait. An
// ordinary PDF takes less than a second.
const busyFor = 2 * time.Second

// errPagesUnread says that pages were asked for that reading did not get to.
var errPagesUnread = errors.New("the pages asked for have not been read")

// lastWord is a document for which the pages asked for were read first: those
// that are missing in it cannot be had at once with the others.
func lastWord(doc *sift.Document) *sift.Document {
	d, info := *doc, *doc.PDF
	info.Stopped = false
	d.PDF = &info
	return &d
}

// isPDF says whether a response is a PDF, whatever its header calls it.
func (p *Pipeline) isPDF(resp *fetch.Response) (bool, error) {
	if p.cfg.PDF == nil {
		return false, nil
	}
	head := make([]byte, extract.PDFLook)
	n, err := io.ReadFull(resp.Body.Reader(), head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false, fmt.Errorf("read body: %w", err)
	}
	return extract.IsPDF(head[:n], resp.ContentType), nil
}

// pdfOfResponse gives the saved document of a PDF that was just downloaded.
func (p *Pipeline) pdfOfResponse(ctx context.Context, q query, resp *fetch.Response) ([]byte, error) {
	r := pdf.Request{Cut: resp.Partial}
	if resp.Body.OnDisk() {
		f, err := resp.Body.File()
		if err != nil {
			return nil, err
		}
		r.File = f
	} else {
		body, err := resp.Body.Bytes()
		if err != nil {
			return nil, fmt.Errorf("read body: %w", err)
		}
		r.Body = body
	}
	return p.readPDF(ctx, q, r, resp.Body.Reader())
}

// pdfOfStored reads a stored PDF again, the pages first that are asked for.
func (p *Pipeline) pdfOfStored(ctx context.Context, q query, c *copied) (*sift.Document, error) {
	if err := c.needBody(ctx); err != nil {
		return nil, err
	}
	if p.cfg.PDF == nil || len(c.entry.Body) == 0 {
		return nil, fmt.Errorf("%w: a PDF cannot be read again", errUnreadable)
	}
	saved, err := p.readPDF(ctx, q, pdf.Request{Body: c.entry.Body, Cut: c.entry.Partial}, bytes.NewReader(c.entry.Body))
	if err != nil {
		return nil, err
	}
	return extract.Load(saved, c.input())
}

// readPDF gives the saved document of the PDF in r, whose bytes body reads too.
// Callers that want the same pages of the same bytes at the same time share one
// extraction. It closes r.File.
func (p *Pipeline) readPDF(ctx context.Context, q query, r pdf.Request, body io.Reader) ([]byte, error) {
	sum := sha256.New()
	if _, err := io.Copy(sum, body); err != nil {
		closeFile(r)
		return nil, fmt.Errorf("read body: %w", err)
	}
	r.First, r.Password = q.pages, q.password
	key := hex.EncodeToString(sum.Sum(nil)) + " " + q.view.pages
	if r.Password != "" {
		key += " " + p.unique() // the password itself must not be in a key
	}
	caller := q.caller.Name
	if q.caller.Anonymous {
		caller += " " + p.unique()
	}
	offer := p.offers.add(key, r)
	defer p.offers.withdraw(key, offer)
	v, err := any(nil), errNobodyWaits
	for errors.Is(err, errNobodyWaits) {
		v, err = p.cfg.PDFPool.Do(ctx, key, caller, func(ctx context.Context) (any, error) {
			r, ok := p.offers.take(key)
			if !ok {
				return nil, errNobodyWaits
			}
			defer closeFile(r)
			doc, err := p.cfg.PDF.Read(ctx, r)
			if err != nil {
				return nil, err
			}
			return extract.Save(doc)
		})
	}
	if err == nil {
		return v.([]byte), nil
	}
	var refusal string
	switch {
	case errors.Is(err, pdfpool.ErrCallerBusy):
		refusal = "this caller already has a PDF being read; ask again when it is done"
	case errors.Is(err, pdfpool.ErrBusy):
		refusal = "the PDF readers are busy; ask again soon"
	default:
		return nil, err
	}
	return nil, &sift.Failure{Code: sift.CodeBusy, Message: refusal, Hint: sift.HintRetry, RetryAfter: busyFor, Cause: err}
}

func closeFile(r pdf.Request) {
	if r.File != nil {
		_ = r.File.Close() // a spool file: closing it cannot lose anything
	}
}

// errNobodyWaits is what an extraction ends with that was begun in the moment
// in which the last who waited for it left. Who has joined it after that begins
// another, with a file of its own.
var errNobodyWaits = errors.New("nobody waits for this PDF any more")

// offers are the files of all who wait for an extraction. Each has one of its
// own with the same bytes, and may leave while the extraction waits for its
// turn: when it begins it takes the file of any who are still there, and closes
// it when it is done. The zero value holds none.
type offers struct {
	mu    sync.Mutex
	byKey map[string][]*pdf.Request
}

func (o *offers) add(key string, r pdf.Request) *pdf.Request {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.byKey == nil {
		o.byKey = make(map[string][]*pdf.Request)
	}
	o.byKey[key] = append(o.byKey[key], &r)
	return &r
}

// take takes one away.
func (o *offers) take(key string) (pdf.Request, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.byKey[key]) == 0 {
		return pdf.Request{}, false
	}
	first := o.byKey[key][0]
	o.removeLocked(key, first)
	return *first, true
}

// withdraw ends an offer. It closes the file that nobody has taken.
func (o *offers) withdraw(key string, r *pdf.Request) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.removeLocked(key, r) {
		closeFile(*r)
	}
}

func (o *offers) removeLocked(key string, r *pdf.Request) bool {
	all := o.byKey[key]
	i := slices.Index(all, r)
	if i < 0 {
		return false
	}
	if o.byKey[key] = slices.Delete(all, i, i+1); len(o.byKey[key]) == 0 {
		delete(o.byKey, key)
	}
	return true
}

// unique is a word that was not used before.
func (p *Pipeline) unique() string { return "#" + strconv.FormatUint(p.serial.Add(1), 10) }

// chosenPages gives the document with the pages asked for.
func chosenPages(doc *sift.Document, pages string) (*sift.Document, error) {
	choice, err := sift.ParsePages(pages)
	if err != nil || len(choice) == 0 {
		return doc, err
	}
	if err := choice.Within(doc.PDF.Total); err != nil {
		return nil, err
	}
	read := render.PagesOf(doc)
	if doc.PDF.Stopped {
		have := make(map[int]bool, len(read))
		for _, n := range read {
			have[n] = true
		}
		for n := 1; n <= doc.PDF.Total; n++ {
			if choice.Has(n) && !have[n] {
				return nil, errPagesUnread
			}
		}
	}
	some := render.SelectPages(doc, choice.Has)
	if some.Main.FirstChild == nil {
		return nil, sift.Fail(sift.CodeUnsupported, "none of the pages asked for could be read; the PDF has %d in all", doc.PDF.Total)
	}
	return some, nil
}

// pagesIn lists the pages that a window on the content shows a part of. A mode
// whose content has no pages is about all of them.
func pagesIn(all []int, starts []render.PageStart, offset, chars int) []int {
	if starts == nil {
		return all
	}
	in := []int{}
	for i, s := range starts {
		if s.Offset >= offset+chars {
			break
		}
		if i+1 == len(starts) || starts[i+1].Offset > offset {
			in = append(in, s.Number)
		}
	}
	return in
}
