package pipeline

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"sift.build/sift/internal/dcache"
	"sift.build/sift/internal/extract"
	"sift.build/sift/internal/gate"
	"sift.build/sift/internal/pdf"
	"sift.build/sift/internal/sift"
)

// File is a page or a PDF that is at hand already.
type File struct {
	Body        []byte
	BaseURL     string // what relative links are resolved against; "": they become text
	ContentType string // "": told from the bytes
	Mode        sift.Mode
	Pages       sift.PageRanges // of a PDF; nil: all
	Password    string          // of a PDF
}

// Converter reads files that are at hand. It may be used from many goroutines.
type Converter struct {
	Parse *gate.Parse
	PDF   PDFReader // nil: PDFs are unsupported
}

// Convert reads a file, whole: the same way from bytes to an answer as a
// fetched one, with no network and no cache. Its receipt says when it was read;
// status is 0, since no server was asked.
func (v *Converter) Convert(ctx context.Context, f File) (*sift.Answer, error) {
	c := &copied{entry: dcache.Entry{
		FinalURL: f.BaseURL, ContentType: f.ContentType, Body: f.Body, FetchedAt: time.Now().UTC(),
	}}
	var doc *sift.Document
	var err error
	isPDF := v.PDF != nil && extract.IsPDF(f.Body, f.ContentType)
	weight := extract.Weight(c.input())
	if isPDF { // its memory is the child's
		if doc, err = v.PDF.Read(ctx, pdf.Request{Body: f.Body, Password: f.Password, First: f.Pages}); err != nil {
			return nil, err
		}
		weight = int64(doc.VisibleChars) * savedWeight
	}
	leave, err := v.Parse.Enter(ctx, weight)
	if err != nil {
		return nil, err
	}
	defer leave()
	if !isPDF {
		if doc, err = extract.Extract(ctx, c.input()); err != nil {
			return nil, err
		}
	}
	if c.entry.Receipt, err = json.Marshal(receiptFor(&c.entry, doc)); err != nil {
		return nil, fmt.Errorf("encode receipt: %w", err)
	}
	if isPDF { // the pages asked for came first
		doc = lastWord(doc)
	}
	return answerFrom(ctx, c, doc, view{url: f.BaseURL, mode: f.Mode, maxChars: math.MaxInt, pages: f.Pages.String()})
}
