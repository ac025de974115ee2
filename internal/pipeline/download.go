package pipeline

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"sift.build/sift/internal/archive"
	"sift.build/sift/internal/dcache"
	"sift.build/sift/internal/extract"
	"sift.build/sift/internal/fetch"
	"sift.build/sift/internal/gate"
	"sift.build/sift/internal/pdfpool"
	"sift.build/sift/internal/sift"
)

// copied is one copy of a page: an entry as the store has it, or would have
// it.
type copied struct {
	entry       dcache.Entry
	revalidated bool

	// answer and view are what the download's starter asked for, rendered
	// while the parsed page was in memory.
	answer *sift.Answer
	view   view

	timing sift.Timing

	// secret is a copy that a password has opened: it is kept nowhere.
	secret bool

	store *dcache.DB // where the body is, when it was not read along; may be nil

	// doc stays only while it is small, for those who share the download and
	// read it another way. Rendering may rearrange its trees, hence the lock.
	mu  sync.Mutex
	doc *sift.Document
}

// needBody sees to it that the body is in memory. The store leaves a long one
// out.
func (c *copied) needBody(ctx context.Context) error {
	if int64(len(c.entry.Body)) >= c.entry.BodySize || c.store == nil {
		return nil
	}
	body, ok, err := c.store.Body(ctx, c.entry.Class, c.entry.Snapshot)
	if err != nil {
		return err
	}
	if !ok {
		return fmt.Errorf("%w: its body has left the store", errUnreadable)
	}
	c.entry.Body = body
	return nil
}

func (c *copied) ref() copyRef {
	e := &c.entry
	return copyRef{
		class: e.Class, key: e.Key, finalURL: e.FinalURL, snapshot: e.Snapshot,
		checkedAt: e.CheckedAt, mustRevalidate: e.MustRevalidate, recovered: e.Recovered != nil,
	}
}

func (c *copied) input() extract.Input {
	asked := c.entry.Key
	if c.entry.Recovered != nil {
		asked = "" // it has not come from there
	}
	return extract.Input{
		Status: c.entry.Status, Asked: asked,
		Body: c.entry.Body, URL: c.entry.FinalURL, ContentType: c.entry.ContentType,
		ContentLanguage: c.entry.ContentLanguage, Partial: c.entry.Partial,
	}
}

// sharedDocLimit is the heaviest parsed page, in bytes of memory, that is kept
// beside a finished download for its other callers. A heavier one is read
// again from the store, in its turn.
const sharedDocLimit = 4 << 20

// download fetches a copy, or shares a download under way. stale is an older
// copy that the server may confirm; nil: none.
func (p *Pipeline) download(ctx context.Context, q query, stale *copied) (*sift.Envelope, error) {
	key := copyKey{q.caller.Class, q.key}
	if q.password != "" {
		key.key += "\x00" + p.unique() // what it opens is for nobody else
	}
	c, shared, err := p.flights.do(ctx, key, func() (func(context.Context) (*copied, error), error) {
		slot, err := p.cfg.Gate.Acquire(q.caller.Name, q.url.Host())
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context) (*copied, error) {
			// The configured time, not the starter's: others may be waiting.
			ctx, cancel := context.WithTimeout(ctx, p.cfg.Timeout)
			defer cancel()
			c, err := p.fetchCopy(ctx, q, stale, slot)
			if err != nil && ctx.Err() != nil {
				err = outOfTime(ctx, p.cfg.Timeout, err)
			}
			if p.cfg.Trace.Download != nil {
				p.cfg.Trace.Download(err)
			}
			return c, err
		}, nil
	})
	if shared && errors.Is(err, pdfpool.ErrCallerBusy) && ctx.Err() == nil {
		return p.download(ctx, q, stale) // the other caller has a PDF in work, not this one
	}
	switch {
	case shared:
		p.lookup(CacheShared)
	case err == nil && c.revalidated:
		p.lookup(CacheRevalidated)
	default:
		p.lookup(CacheMiss)
	}
	if err != nil {
		return nil, err
	}
	return p.answerCopy(ctx, q, c)
}

// answerCopy answers from a copy that was just downloaded.
func (p *Pipeline) answerCopy(ctx context.Context, q query, c *copied) (*sift.Envelope, error) {
	if c.answer == nil || c.view != q.view {
		env, err := p.answerStored(ctx, q, c)
		if err != nil {
			return nil, err
		}
		env.Cache = c.cacheInfo()
		env.Timing.QueueMS += c.timing.QueueMS
		env.Timing.FetchMS = c.timing.FetchMS
		return env, nil
	}
	return &sift.Envelope{Answer: c.answer, Cache: c.cacheInfo(), Timing: c.timing}, nil
}

// cacheInfo says where a downloaded copy came from: the wire, or the store
// with the server's word that it is still right.
func (c *copied) cacheInfo() sift.CacheInfo {
	return sift.CacheInfo{Hit: c.revalidated, Revalidated: c.revalidated}
}

// fetchCopy downloads, extracts, stores and renders one copy. It owns the
// slot, which is free again as soon as the bytes are here.
func (p *Pipeline) fetchCopy(ctx context.Context, q query, stale *copied, slot *gate.Slot) (*copied, error) {
	defer slot.Release()
	start := p.now()
	req := fetch.Request{
		URL: q.url, Restricted: q.caller.Restricted,
		OnHost: func(_ context.Context, host string) error { return slot.Move(host) },
	}
	if stale != nil {
		req.ETag, req.LastModified = stale.entry.ETag, stale.entry.LastModified
	}
	resp, err := p.cfg.Fetch.Get(ctx, req)
	if err != nil {
		return nil, err
	}
	if resp.Body != nil {
		defer func() { _ = resp.Body.Close() }() // a spool file: closing it cannot lose anything
	}
	slot.Release()
	fetched := p.now()
	timing := sift.Timing{FetchMS: fetched.Sub(start).Milliseconds()}

	if resp.NotModified {
		return p.confirmed(ctx, q, stale, resp, timing)
	}
	if resp.Status >= 400 {
		return nil, p.pageError(q, resp)
	}
	return p.read(ctx, q, resp, timing, nil)
}

// confirmed keeps using the stale copy that the server says is still right.
func (p *Pipeline) confirmed(ctx context.Context, q query, stale *copied, resp *fetch.Response, timing sift.Timing) (*copied, error) {
	c := &copied{entry: stale.entry, revalidated: true, timing: timing}
	c.entry.CheckedAt = p.now()
	p.memory.superseded(q.caller.Class, q.key)
	// The copy may have been evicted meanwhile; the answer is right all the same.
	if _, err := p.cfg.Store.Revalidated(ctx, c.entry.Class, c.entry.Snapshot, c.entry.CheckedAt, resp.ETag, resp.LastModified); err != nil {
		p.storeError("recording a revalidation failed", err)
	}
	return c, nil
}

// read turns a fresh response into a stored copy and the starter's answer. from
// is nil where the response is the page's own.
func (p *Pipeline) read(ctx context.Context, q query, resp *fetch.Response, timing sift.Timing, from *origin) (*copied, error) {
	isPDF, err := p.isPDF(resp)
	if err != nil {
		return nil, err
	}
	start := p.now()
	var saved []byte // a PDF's document; that of another page is made below
	var weight int64
	if isPDF {
		saved, err = p.pdfOfResponse(ctx, q, resp)
		weight = savedWeight*int64(len(saved)) + 2*resp.Body.Size()
	} else {
		// A body on disk stays there until it is its turn.
		weight, err = extract.WeightOf(resp.Body.Reader(), resp.Body.Size())
	}
	if err != nil {
		return nil, err
	}
	waitStart := p.now()
	leave, err := p.cfg.Parse.Enter(ctx, weight+againWeight(q.view, weight, resp.Body.Size()))
	if err != nil {
		return nil, err
	}
	defer leave()
	renderStart := p.now()
	timing.QueueMS += renderStart.Sub(waitStart).Milliseconds()
	body, err := resp.Body.Bytes()
	if err != nil {
		return nil, fmt.Errorf("read body: %w", err)
	}

	c := &copied{timing: timing, view: q.view, secret: isPDF && q.password != ""}
	e := &c.entry
	cacheControl := directives(resp.CacheControl)
	*e = dcache.Entry{
		Class: q.caller.Class, Key: q.key, FinalURL: resp.FinalURL.String(), Status: resp.Status,
		ContentType: resp.ContentType, ContentLanguage: resp.ContentLanguage,
		ETag: resp.ETag, LastModified: resp.LastModified,
		Body: body, FetchedAt: p.now().UTC(), Partial: resp.Partial,
		Reusable: !resp.Partial && !cacheControl["no-store"], MustRevalidate: cacheControl["no-cache"],
	}
	e.CheckedAt = e.FetchedAt
	if from != nil {
		e.FinalURL, e.Body = from.finalURL, archive.Unrewrite(body, from.recovered.URL)
		if e.Recovered, err = json.Marshal(from.recovered); err != nil {
			return nil, fmt.Errorf("encode where a copy is from: %w", err)
		}
	}
	var doc *sift.Document
	if isPDF {
		e.Document = saved
		doc, err = extract.Load(saved, c.input())
	} else {
		doc, err = extract.Extract(ctx, c.input())
	}
	if err != nil {
		return nil, err
	}
	if resp.Partial {
		doc.Warnings = append(doc.Warnings, sift.Warning{
			Code: sift.WarnPartial, Message: "the body was cut short, so this is not the whole page: " + resp.PartialReason,
		})
		if doc.Hint == "" {
			doc.Hint = sift.HintRetry
		}
	}
	receipt := receiptFor(e, doc)
	receipt.Protocol, receipt.Address = resp.Protocol, resp.Address
	if resp.Hops != nil {
		receipt.Hops = resp.Hops
	}
	if e.Receipt, err = json.Marshal(storedReceipt{receipt, resp.Link}); err != nil {
		return nil, fmt.Errorf("encode receipt: %w", err)
	}
	if walled(doc.Warnings) != "" {
		e.Reusable = false // it may be read on, but the next request asks anew
	}
	p.keep(ctx, c, doc)
	if weight > sharedDocLimit && needsPage(q.view.mode) {
		doc.Main = nil // it is stored; beside the whole page it would be held for nothing
	}

	// Rendering happens inside the parser's turn, because the parsed page is
	// what holds the memory.
	// What is wrong with the starter's view alone, such as an offset past the
	// end, must not fail those who share the copy: they and the starter find
	// out when they read it.
	if !q.view.waits() {
		if c.answer, err = answerFrom(ctx, c, doc, q.view); err == nil {
			p.memory.put(c.ref(), e.Reusable, q.view, c.answer)
		}
	}
	if weight <= sharedDocLimit {
		c.doc = doc
	}
	c.timing.RenderMS = p.now().Sub(renderStart).Milliseconds() + waitStart.Sub(start).Milliseconds()
	return c, nil
}

// storedReceipt is a receipt as it is kept, with the Link header beside it.
type storedReceipt struct {
	sift.Receipt
	Link string `json:"link,omitempty"`
}

// receiptFor is what can be said of a body without knowing how it came.
func receiptFor(e *dcache.Entry, doc *sift.Document) sift.Receipt {
	sum := sha256.Sum256(e.Body)
	return sift.Receipt{
		FetchedAt: e.FetchedAt, SHA256: hex.EncodeToString(sum[:]), Bytes: len(e.Body),
		Charset: doc.Charset, CharsetFrom: doc.CharsetFrom, Hops: []sift.Hop{},
	}
}

// keep stores the copy. A store that cannot take it costs the snapshot, never
// the answer.
func (p *Pipeline) keep(ctx context.Context, c *copied, doc *sift.Document) {
	if c.entry.Recovered == nil {
		p.memory.superseded(c.entry.Class, c.entry.Key)
	}
	if p.cfg.Store == nil || c.secret || !storable(doc) {
		return
	}
	if c.entry.Document == nil {
		saved, err := extract.Save(doc)
		if err != nil {
			p.storeError("encoding a document failed", err)
			return
		}
		c.entry.Document = saved
	}
	c.entry.Snapshot = dcache.NewSnapshot()
	if err := p.cfg.Store.Put(ctx, c.entry); err != nil {
		c.entry.Snapshot = ""
		if !errors.Is(err, dcache.ErrTooBig) && ctx.Err() == nil { // nobody waits for it any more
			p.storeError("keeping a copy failed", err)
		}
	}
}

// storable says whether a page may be kept at all. A bot check must not be handed
// to the next caller as the page, whatever they ask by.
func storable(doc *sift.Document) bool { return walled(doc.Warnings) != sift.WarnChallenge }

// walled says what stands in the place of the page that was asked for; "": it is the
// page itself.
func walled(warnings []sift.Warning) sift.WarningCode {
	for _, w := range warnings {
		switch w.Code {
		case sift.WarnChallenge, sift.WarnConsent, sift.WarnLogin, sift.WarnJSShell, sift.WarnSoft404, sift.WarnEmpty:
			return w.Code
		}
	}
	return ""
}

// directives reads the names of a Cache-Control header.
func directives(header string) map[string]bool {
	out := make(map[string]bool)
	for d := range strings.SplitSeq(header, ",") {
		name, _, _ := strings.Cut(d, "=")
		out[strings.ToLower(strings.TrimSpace(name))] = true
	}
	return out
}

// excerptChars bounds how much of an error page is passed on.
const excerptChars = 2000

// pageError is what a status of 400 or more becomes, with the page in it.
func (p *Pipeline) pageError(q query, resp *fetch.Response) error {
	f := upstreamFailure(resp)
	body, err := resp.Body.Bytes()
	if err != nil || !q.view.recover {
		return f
	}
	e := dcache.Entry{
		Class: q.caller.Class, Key: q.key, FinalURL: resp.FinalURL.String(), Status: resp.Status,
		ContentType: resp.ContentType, ContentLanguage: resp.ContentLanguage,
		Body: body, BodySize: int64(len(body)), FetchedAt: p.now().UTC(), Reusable: true,
	}
	e.CheckedAt = e.FetchedAt
	receipt := receiptFor(&e, &sift.Document{})
	receipt.Protocol, receipt.Address = resp.Protocol, resp.Address
	if resp.Hops != nil {
		receipt.Hops = resp.Hops
	}
	if e.Receipt, err = json.Marshal(receipt); err != nil {
		return f
	}
	return &pageError{failure: f, entry: e}
}

// upstreamFailure is what a status of 400 or more becomes.
func upstreamFailure(resp *fetch.Response) *sift.Failure {
	code := sift.CodeUpstream4xx
	if resp.Status >= 500 {
		code = sift.CodeUpstream5xx
	}
	f := sift.Fail(code, "the server answered %d", resp.Status)
	if text := http.StatusText(resp.Status); text != "" {
		f.Message += " " + text
	}
	f.Status = resp.Status
	f.RetryAfter = resp.RetryAfter
	switch resp.Status {
	case http.StatusUnauthorized, http.StatusProxyAuthRequired:
		f.Hint = sift.HintAuth
	case http.StatusForbidden:
		f.Hint = sift.HintBrowser
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		f.Hint = sift.HintRetry
	default:
		if resp.Status >= 500 {
			f.Hint = sift.HintRetry
		}
	}
	if f.RetryAfter > 0 {
		f.Message += fmt.Sprintf("; it asks to wait %s", f.RetryAfter.Round(time.Second))
	}
	if body, err := resp.Body.Bytes(); err == nil {
		in := extract.Input{Body: body, URL: resp.FinalURL.String(), ContentType: resp.ContentType, Partial: true, Status: resp.Status}
		f.UpstreamBody = extract.Excerpt(in, excerptChars)
		if _, what, hint, ok := extract.Wall(in); ok {
			f.Message += "; " + what
			f.Hint = hint
		}
	}
	return f
}
