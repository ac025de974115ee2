// Package pipeline is the way of one target: guard, cache or gate and fetch,
// extract, render, window, envelope. FetchTarget is the one method behind
// /v1/fetch, batches, MCP and the command line, and nothing else fetches.
package pipeline

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"sift.build/sift/internal/archive"
	"sift.build/sift/internal/dcache"
	"sift.build/sift/internal/digest"
	"sift.build/sift/internal/fetch"
	"sift.build/sift/internal/gate"
	"sift.build/sift/internal/guard"
	"sift.build/sift/internal/jq"
	"sift.build/sift/internal/model"
	"sift.build/sift/internal/narrow"
	"sift.build/sift/internal/pdfpool"
	"sift.build/sift/internal/sift"
)

// Config holds the parts a pipeline joins. Guard, Gate, Parse, Fetch and JQ are
// required.
type Config struct {
	Guard   *guard.Guard
	Gate    *gate.Gate
	Parse   *gate.Parse
	Fetch   *fetch.Client
	PDF     PDFReader     // nil: PDFs are unsupported
	PDFPool *pdfpool.Pool // required with PDF
	JQ      *jq.Runner
	Models  *model.Models // that are asked about questions; nil: none
	Store   *dcache.DB    // nil: nothing is kept beyond the answers in memory
	TTL     time.Duration // newest cached copy that will do when a target does not say
	Timeout time.Duration // one deadline for a whole call; a target may ask for less
	Memory  int64         // bytes of rendered answers kept in memory; 0: none
	Log     *slog.Logger  // nil: nothing is logged
	Trace   *Trace

	ArchiveURL        string // the archive that recover asks; "": none
	ArchiveRestricted bool   // it may be told what restricted callers read
}

// Trace lets a metrics package watch. Each hook may be nil.
type Trace struct {
	Done       func(Outcome)            // a target was answered
	Download   func(err error)          // a download ended, nil or a *sift.Failure
	Lookup     func(result CacheResult) // the cache was asked
	StoreError func()                   // a copy could not be kept
}

// Outcome is what one target came to.
type Outcome struct {
	Err    error // nil or a *sift.Failure
	Timing sift.Timing
	Total  time.Duration
	Bytes  int // of the content that was handed back
}

// CacheResult says what the cache had for a target.
type CacheResult string

// The cache results.
const (
	CacheHit         CacheResult = "hit"
	CacheMiss        CacheResult = "miss"
	CacheRevalidated CacheResult = "revalidated" // the server confirmed an older copy
	CacheShared      CacheResult = "shared"      // a download already under way
	CacheBypass      CacheResult = "bypass"      // the caller asked for a fresh copy
)

// CacheResults lists every cache result, for metrics.
func CacheResults() []CacheResult {
	return []CacheResult{CacheHit, CacheMiss, CacheRevalidated, CacheShared, CacheBypass}
}

// Pipeline answers targets. Make one with New and Close it to end what it
// started.
type Pipeline struct {
	cfg     Config
	memory  *memory
	flights *flights
	now     func() time.Time
	serial  atomic.Uint64 // of what must be told from everything else; see unique
	offers  offers        // PDFs that wait to be read
	archive *archive.Client
}

// New joins the parts. It starts nothing. The error is about ArchiveURL.
func New(cfg Config) (*Pipeline, error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Trace == nil {
		cfg.Trace = &Trace{}
	}
	p := &Pipeline{cfg: cfg, memory: newMemory(cfg.Memory), flights: newFlights(), now: time.Now}
	var err error
	p.archive, err = p.newArchive()
	return p, err
}

// Close cancels the downloads under way and waits for them to end. FetchTarget
// must not be called after it.
func (p *Pipeline) Close() { p.flights.close() }

// FetchTarget answers one target for one caller. The error is always a
// *sift.Failure with the target's URL in it.
func (p *Pipeline) FetchTarget(ctx context.Context, caller sift.Caller, target sift.Target) (*sift.Envelope, error) {
	start := p.now()
	env, err := p.fetchTarget(ctx, caller, target)
	total := p.now().Sub(start)
	out := Outcome{Total: total}
	if err != nil {
		f := *sift.AsFailure(err)
		f.URL = target.URL
		out.Err = &f
	} else {
		env.Timing.TotalMS = total.Milliseconds()
		out.Timing = env.Timing
		out.Bytes = len(env.Content)
	}
	if p.cfg.Trace.Done != nil {
		p.cfg.Trace.Done(out)
	}
	if out.Err != nil {
		return nil, out.Err
	}
	return env, nil
}

// Check finds what FetchTarget would refuse before it does anything: a URL that
// fails the guard's pre-check, an option that cannot be read. It answers the
// URL as the guard writes it, two spellings of one alike. The error is a
// *sift.Failure.
func (p *Pipeline) Check(target sift.Target) (url string, err error) {
	u, _, err := p.check(target)
	if err != nil {
		return "", err
	}
	return u.String(), nil
}

func (p *Pipeline) check(target sift.Target) (*guard.URL, sift.PageRanges, error) {
	url, err := p.cfg.Guard.CheckURL(target.URL)
	if err != nil {
		return nil, nil, err
	}
	pages, err := sift.ParsePages(target.Pages)
	if err != nil {
		return nil, nil, err
	}
	if target.Section != "" {
		if err := narrow.CheckSection(target.Section); err != nil {
			return nil, nil, err
		}
	}
	if target.JQ != "" {
		if err := jq.Parse(target.JQ); err != nil {
			return nil, nil, err
		}
	}
	if target.Question != "" {
		if err := digest.CheckQuestion(target.Question); err != nil {
			return nil, nil, err
		}
	}
	if _, err := sift.ParseDate(target.MinDate); err != nil {
		return nil, nil, err
	}
	if err := together(target); err != nil {
		return nil, nil, err
	}
	if target.Grep != "" {
		if _, err := narrow.ParsePattern(target.Grep); err != nil {
			return nil, nil, err
		}
	}
	return url, pages, nil
}

// together refuses options that do not go together. Of the others pages are chosen
// first, then jq or the section, then grep or the question, then the window.
func together(t sift.Target) error {
	switch m := t.Mode; {
	case t.MinDate != "" && !t.Recover:
		return sift.Fail(sift.CodeInvalid, "min_date says how old a recovered copy may be; ask for recover too, or leave it out")
	case t.Section != "" && m == sift.ModeRaw:
		return sift.Fail(sift.CodeInvalid, "section needs headings, and mode raw gives the body as it stands; ask for mode clean, full, text or html, or use grep")
	case t.JQ != "" && (m == sift.ModeLinks || m == sift.ModeOutline || m == sift.ModeHTML):
		return sift.Fail(sift.CodeInvalid, "jq runs on the body as it stands, and mode %s makes something else of it; leave one of them out", m)
	case t.JQ != "" && t.Section != "":
		return sift.Fail(sift.CodeInvalid, "jq runs on JSON, which has no headings; leave section out, and select in the program")
	case t.JQ != "" && t.Pages != "":
		return sift.Fail(sift.CodeInvalid, "jq runs on JSON, and pages chooses pages of a PDF; leave one of them out")
	case t.Question != "" && t.Grep != "":
		return sift.Fail(sift.CodeInvalid, "question and grep each choose what comes back; ask for one of them, then for the other with the snapshot")
	case t.Question != "" && m == sift.ModeHTML:
		return sift.Fail(sift.CodeInvalid, "question gives passages of text, and mode html would be cut inside its tags; ask for mode clean, full or text")
	}
	return nil
}

func (p *Pipeline) fetchTarget(ctx context.Context, caller sift.Caller, target sift.Target) (*sift.Envelope, error) {
	url, pages, err := p.check(target)
	if err != nil {
		return nil, err
	}
	timeout := p.cfg.Timeout
	if target.Timeout != nil {
		// Compared as floats: a huge number of seconds overflows a Duration.
		if s := *target.Timeout; s < timeout.Seconds() {
			timeout = time.Duration(s * float64(time.Second))
		}
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()

	minDate, err := sift.ParseDate(target.MinDate)
	if err != nil {
		return nil, err
	}
	q := query{
		minDate:  minDate,
		caller:   caller,
		url:      url,
		key:      url.String(),
		pages:    pages,
		password: target.Password,
		view: view{
			pages: pages.String(), section: target.Section, grep: target.Grep, jq: target.JQ, question: target.Question, models: target.Question != "" && p.cfg.Models != nil,
			context: target.Context, recover: target.Recover,
			url: target.URL, mode: target.Mode, offset: target.Offset, maxChars: target.MaxChars,
			restricted: caller.Restricted,
		},
	}
	if q.view.mode == "" {
		q.view.mode = sift.ModeClean
	}
	if q.view.maxChars == 0 {
		q.view.maxChars = sift.DefaultMaxChars
	}
	var env *sift.Envelope
	switch {
	case target.Snapshot != "":
		env, err = p.fromSnapshot(ctx, q, target.Snapshot)
	case target.Recover:
		env, err = p.fetchOrRecover(ctx, q, target.MaxAge)
	default:
		env, err = p.fromCacheOrNetwork(ctx, q, target.MaxAge)
	}
	if err != nil && ctx.Err() != nil {
		return nil, outOfTime(ctx, timeout, err)
	}
	if err == nil {
		p.label(env, target.Recover, target.Snapshot != "")
		return env, nil
	}
	return nil, p.hintRecover(q, target, err)
}

// query is one target on its way.
type query struct {
	caller sift.Caller
	url    *guard.URL
	key    string // the URL as the cache knows it: canonical, without fragment
	view   view

	pages    sift.PageRanges // of a PDF; the view has them in writing
	password string          // of a PDF
	minDate  time.Time       // what is recovered may not be older
}

// view is one way to read a copy. Two equal views of one copy have the same
// Answer.
type view struct {
	url        string // as the caller wrote it: the answer repeats it
	mode       sift.Mode
	offset     int
	maxChars   int
	restricted bool
	pages      string // as PageRanges writes them; "": all
	section    string // a heading; "": none
	grep       string // a pattern; "": none
	jq         string // a program; "": none
	question   string // "": none
	models     bool   // it goes to models
	context    bool   // say where the page sits
	recover    bool   // of a page that shows nothing, the data embedded in it
}

// selects says that only a part of the content is wanted.
func (v *view) selects() bool { return v.section != "" || v.grep != "" || v.question != "" }

// waits says that the way from the content to the answer waits for others: for a
// child that runs a jq program, or for models.
func (v *view) waits() bool { return v.jq != "" || v.models }

// outOfTime turns the error of a call whose context has ended into what the
// caller should hear. A failure that already says so keeps its words.
func outOfTime(ctx context.Context, timeout time.Duration, err error) error {
	if f, ok := errors.AsType[*sift.Failure](err); ok && f.Code != sift.CodeInternal {
		return f
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return sift.Fail(sift.CodeTimeout, "no answer within %s; try again, or with a longer timeout", timeout).
			WithHint(sift.HintRetry).WithCause(err)
	}
	return sift.Fail(sift.CodeCancel, "the caller went away").WithCause(err)
}

// fromSnapshot reads the very copy that an earlier answer named.
func (p *Pipeline) fromSnapshot(ctx context.Context, q query, id string) (*sift.Envelope, error) {
	gone := sift.Fail(sift.CodeGone, "this copy is no longer held; ask again without snapshot, from the start").WithHint(sift.HintFresh)
	if a, ref, ok := p.memory.bySnapshot(q.caller.Class, id, q.view); ok && ref.answers(q.key) {
		return p.hit(ref, a, false), nil
	}
	if p.cfg.Store == nil {
		return nil, gone
	}
	entry, ok, err := p.cfg.Store.BySnapshot(ctx, q.caller.Class, id)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, gone
	}
	if entry.Key != q.key && entry.FinalURL != q.key {
		return nil, sift.Fail(sift.CodeInvalid, "snapshot is a copy of another URL; send the URL it came with")
	}
	env, err := p.answerStored(ctx, q, &copied{entry: entry, store: p.cfg.Store})
	if errors.Is(err, errUnreadable) {
		return nil, gone.WithCause(err)
	}
	return env, err
}

// fromCacheOrNetwork answers from a copy that is new enough, or downloads one.
func (p *Pipeline) fromCacheOrNetwork(ctx context.Context, q query, maxAge *int) (*sift.Envelope, error) {
	if maxAge != nil && *maxAge == 0 {
		p.lookup(CacheBypass)
		return p.download(ctx, q, nil)
	}
	limit, explicit := p.ageLimit(maxAge), maxAge != nil
	fresh := func(ref copyRef) bool {
		return p.age(ref) <= limit && (explicit || !ref.mustRevalidate)
	}

	if a, ref, ok := p.memory.latest(q.caller.Class, q.key, q.view); ok && fresh(ref) {
		p.touch(ref)
		p.lookup(CacheHit)
		return p.hit(ref, a, false), nil
	}
	if p.cfg.Store == nil {
		p.lookup(CacheMiss)
		return p.download(ctx, q, nil)
	}
	entry, ok, err := p.cfg.Store.Latest(ctx, q.caller.Class, q.key)
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		// A cache that cannot be read must not stop a fetch.
		p.storeError("reading the cache failed", err)
		ok = false
	}
	if !ok {
		return p.download(ctx, q, nil)
	}
	c := &copied{entry: entry, store: p.cfg.Store}
	if fresh(c.ref()) {
		env, err := p.answerStored(ctx, q, c)
		if !errors.Is(err, errUnreadable) {
			if err == nil {
				p.lookup(CacheHit)
			}
			return env, err
		}
		return p.download(ctx, q, nil)
	}
	return p.download(ctx, q, c)
}

// ageLimit is how old a copy may be, for a caller who says so or not.
func (p *Pipeline) ageLimit(maxAge *int) time.Duration {
	if maxAge == nil {
		return p.cfg.TTL
	}
	return time.Duration(min(*maxAge, int(maxDuration/time.Second))) * time.Second
}

// maxDuration keeps a caller's seconds inside a Duration.
const maxDuration = 100 * 365 * 24 * time.Hour

func (p *Pipeline) age(ref copyRef) time.Duration { return max(p.now().Sub(ref.checkedAt), 0) }

func (p *Pipeline) touch(ref copyRef) {
	if p.cfg.Store != nil {
		p.cfg.Store.Touch(ref.snapshot)
	}
}

func (p *Pipeline) lookup(r CacheResult) {
	if p.cfg.Trace.Lookup != nil {
		p.cfg.Trace.Lookup(r)
	}
}

func (p *Pipeline) storeError(what string, err error) {
	p.cfg.Log.Warn(what, "error", err)
	if p.cfg.Trace.StoreError != nil {
		p.cfg.Trace.StoreError()
	}
}

// hit wraps an answer that cost no download.
func (p *Pipeline) hit(ref copyRef, a *sift.Answer, revalidated bool) *sift.Envelope {
	return &sift.Envelope{Answer: a, Cache: sift.CacheInfo{
		Hit: true, Age: int(p.age(ref) / time.Second), Revalidated: revalidated,
	}}
}
