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
	"sift.build/sift/internal/sift"
)

// File is a page that is at hand already.
type File struct {
	Body        []byte
	BaseURL     string // what relative links are resolved against; "": they become text
	ContentType string // "": told from the bytes
	Mode        sift.Mode
}

// Convert reads a page that is at hand, whole: the same way from bytes to an
// answer as a fetched one, with no network and no cache. Its receipt says
// when it was read; status is 0, since no server was asked.
func Convert(ctx context.Context, parse *gate.Parse, f File) (*sift.Answer, error) {
	c := &copied{entry: dcache.Entry{
		FinalURL: f.BaseURL, ContentType: f.ContentType, Body: f.Body, FetchedAt: time.Now().UTC(),
	}}
	leave, err := parse.Enter(ctx, extract.Weight(c.input()))
	if err != nil {
		return nil, err
	}
	defer leave()
	doc, err := extract.Extract(ctx, c.input())
	if err != nil {
		return nil, err
	}
	if c.entry.Receipt, err = json.Marshal(receiptFor(&c.entry, doc)); err != nil {
		return nil, fmt.Errorf("encode receipt: %w", err)
	}
	return answerFrom(ctx, c, doc, view{url: f.BaseURL, mode: f.Mode, maxChars: math.MaxInt})
}
