package pdf

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"sift.build/sift/internal/child"
	"sift.build/sift/internal/pdf/engine"
	"sift.build/sift/internal/sift"
)

// Bounds on what one file can make the parent hold.
const (
	maxText    = 10 << 20 // bytes of messages after which the child begins no page
	maxOutput  = 48 << 20 // bytes that a child may write
	maxMessage = 24 << 20 // bytes of one page, whose text the engine bounds
	memSpool   = 4 << 20  // a body up to this size is handed over in memory
)

// Config says how files are read. Launcher and CacheDirs are required.
type Config struct {
	Launcher  *child.Launcher
	CacheDirs []string      // where PDFium's machine code is kept: the first that can be used
	Memory    int64         // bytes at which a child is killed; 0: 320 MiB
	Children  int64         // the launcher's budget, which bounds what a warm-up may take; 0: 640 MiB
	CPU       time.Duration // processor time of a child; 0: 20 s
	Wall      time.Duration // time of a child on the clock, which it shares with others; 0: twice CPU
	MaxPages  int           // of one file; 0: 2000
	OCR       bool          // read pages that are pictures with tesseract
	TempDir   string        // for bodies of stored files on their way to a child; "": the system's
	Trace     *Trace        // nil: nothing is told
}

// Trace is told what happens. Any of its functions may be nil.
type Trace struct {
	Done    func(Outcome) // a file was read, or was not
	Warming func()        // PDFium is about to be compiled
	Warmed  func(time.Duration, error)
}

// Outcome is what reading one file came to.
type Outcome struct {
	Result  Result
	Killed  child.Reason // of the reading child; "": it ended by itself
	Elapsed time.Duration
	Usage   child.Usage
}

// Result is a class of outcomes, for metrics.
type Result string

// The results.
const (
	ResultOK       Result = "ok"
	ResultPartial  Result = "partial"  // some pages, or a part of them
	ResultNoText   Result = "no_text"  // pages without a text layer
	ResultPassword Result = "password" // it needs a password
	ResultDamaged  Result = "damaged"
	ResultTimeout  Result = "timeout"
	ResultMemory   Result = "memory"
	ResultError    Result = "error" // our fault, or the caller went away
)

// Results lists every result.
func Results() []Result {
	return []Result{ResultOK, ResultPartial, ResultNoText, ResultPassword, ResultDamaged, ResultTimeout, ResultMemory, ResultError}
}

// Reader reads files. Make one with New; it may be used from several
// goroutines. How many children run at once is the caller's business: package
// pdfpool.
type Reader struct {
	cfg  Config
	warm chan struct{}               // holds one token: who takes it may look after the machine code
	code atomic.Pointer[machineCode] // where it is, once it is known to be there
	bad  map[string]bool             // folders where it is damaged and stays so; with the token
	last lastFailure                 // to make it; with the token
	ocr  chan struct{}               // likewise: one file is recognised at a time
	tool atomic.Pointer[tesseract]

	mu      sync.Mutex
	closed  bool
	reading map[*context.CancelFunc]struct{}
	ended   sync.WaitGroup
}

// New makes a reader. It starts nothing.
func New(cfg Config) *Reader {
	if cfg.Memory == 0 {
		cfg.Memory = 320 << 20
	}
	if cfg.Children == 0 {
		cfg.Children = 640 << 20
	}
	if cfg.CPU == 0 {
		cfg.CPU = 20 * time.Second
	}
	if cfg.Wall == 0 {
		cfg.Wall = 2 * cfg.CPU
	}
	if cfg.MaxPages == 0 {
		cfg.MaxPages = 2000
	}
	if cfg.Trace == nil {
		cfg.Trace = &Trace{}
	}
	r := &Reader{cfg: cfg, warm: make(chan struct{}, 1), bad: make(map[string]bool), ocr: make(chan struct{}, 1), reading: make(map[*context.CancelFunc]struct{})}
	r.warm <- struct{}{}
	r.ocr <- struct{}{}
	return r
}

// Request is one file to read.
type Request struct {
	File *os.File // the file; the caller closes it afterwards
	Body []byte   // instead of File

	Password string          // of a protected file; "": none
	First    sift.PageRanges // pages to read before the others; nil: in order
	Cut      bool            // the download ended early
}

// Read reads a file. The error is a *sift.Failure: unsupported for one that
// cannot be read, with the hint password where a password would help; timeout
// and too_long for one that took more than it may before a page was read.
// Everything less is in the Document's warnings.
func (r *Reader) Read(ctx context.Context, req Request) (*sift.Document, error) {
	ctx, leave, err := r.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	start := time.Now()
	var out Outcome
	doc, err := r.read(ctx, req, &out)
	out.Elapsed = time.Since(start)
	if err != nil && out.Result == "" {
		out.Result = ResultError
	}
	if r.cfg.Trace.Done != nil {
		r.cfg.Trace.Done(out)
	}
	return doc, err
}

// enter counts a call and gives it a context that Close ends too: the caller's
// may have been detached from everything that ends.
func (r *Reader) enter(ctx context.Context) (context.Context, func(), error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, nil, sift.Fail(sift.CodeCancel, "sift is stopping; try again when it is back").WithHint(sift.HintRetry)
	}
	ctx, cancel := context.WithCancel(ctx)
	r.reading[&cancel] = struct{}{}
	r.ended.Add(1)
	return ctx, func() {
		cancel()
		r.mu.Lock()
		delete(r.reading, &cancel)
		r.mu.Unlock()
		r.ended.Done()
	}, nil
}

// Close kills the children at work and waits for them. Later calls of Read are
// refused.
func (r *Reader) Close() {
	r.mu.Lock()
	r.closed = true
	for cancel := range r.reading {
		(*cancel)()
	}
	r.mu.Unlock()
	r.ended.Wait()
}

func (r *Reader) read(ctx context.Context, req Request, out *Outcome) (*sift.Document, error) {
	file, size, done, err := r.input(req)
	if err != nil {
		return nil, err
	}
	defer done()
	if size == 0 {
		out.Result = ResultDamaged
		return nil, damaged(req.Cut)
	}
	c := &contents{}
	var o order
	for tries := 1; ; tries++ {
		code, err := r.compiled(ctx)
		if err != nil {
			return nil, err
		}
		*c = contents{}
		o = order{
			CacheDir: code.dir, Guest: r.guest(), Size: size, Password: req.Password,
			First: req.First, MaxPages: r.cfg.MaxPages, MaxText: maxText,
		}
		e, err := r.extract(ctx, file, o, c, out)
		if e.Fault == faultCache && code.mendable(tries) {
			r.spoiled(code)
			continue
		}
		if failure := r.judge(ctx, req, c, e, err, out); failure != nil {
			return nil, failure
		}
		break
	}
	if r.cfg.OCR {
		r.recognise(ctx, file, o, c)
	}
	doc := document(c)
	if out.Result == "" {
		out.Result = result(doc)
	}
	return doc, nil
}

// guest is what of a child's memory PDFium may use: the rest is the program's
// own, its collector's and the page's words.
func (r *Reader) guest() int64 { return r.cfg.Memory * 2 / 5 }

// input gives the file that a child reads, and what to call when it has.
func (r *Reader) input(req Request) (file *os.File, size int64, done func(), err error) {
	if req.File != nil {
		st, err := req.File.Stat()
		if err != nil {
			return nil, 0, nil, fmt.Errorf("read PDF: %w", err)
		}
		return req.File, st.Size(), func() {}, nil
	}
	if file, err = spool(req.Body, r.cfg.TempDir); err != nil {
		return nil, 0, nil, fmt.Errorf("spool PDF: %w", err)
	}
	return file, int64(len(req.Body)), func() { _ = file.Close() }, nil // nothing in it is wanted any more
}

// extract runs the child and fills c with what it says. e is its last word; an
// empty one means that it had none.
func (r *Reader) extract(ctx context.Context, file *os.File, o order, c *contents, out *Outcome) (e end, err error) {
	config, err := json.Marshal(o)
	if err != nil {
		return end{}, fmt.Errorf("encode order: %w", err)
	}
	ended := false
	out.Usage, err = r.cfg.Launcher.Run(ctx, child.Spec{
		Worker: workerRead, Config: config, Input: file, ReadPaths: []string{o.CacheDir},
		Memory: r.cfg.Memory, CPU: r.cfg.CPU, Wall: r.cfg.Wall, MaxOutput: maxOutput,
	}, func(stdout io.Reader) error {
		for m, err := range messages(stdout, maxMessage) {
			switch {
			case err != nil:
				return fmt.Errorf("decode what the child says: %w", err)
			case m.Info != nil:
				c.info = *m.Info
			case m.Page != nil:
				c.pages = append(c.pages, m.Page)
			case m.Bad > 0:
				c.failed = append(c.failed, m.Bad)
			case m.End != nil:
				e, ended = *m.End, true
			}
		}
		return nil
	})
	if errors.Is(err, child.ErrStart) && !engine.Filled(o.CacheDir) {
		e.Fault = faultCache // somebody has removed the folder
	}
	out.Killed = out.Usage.Killed
	if err == nil && !ended {
		err = errors.New("the child ended without a word")
	}
	return e, err
}

// judge decides what became of a file: nil when there is something to show.
// It notes in c why there is not more.
func (r *Reader) judge(ctx context.Context, req Request, c *contents, e end, err error, out *Outcome) error {
	fail := func(result Result, f *sift.Failure) error {
		out.Result = result
		cause := err
		if e.Text != "" {
			cause = errors.Join(err, errors.New(e.Text))
		}
		return f.WithCause(cause)
	}
	some := len(c.pages) > 0
	// tooMuch is for a file that has been too much for its reader before there
	// was a page to show.
	tooMuch := func(result Result, code sift.Code, what string) error {
		f := sift.Fail(code, "%s", what)
		if c.info.Pages != 1 {
			f.Message += "; ask for a few pages with pages"
			f.Hint = sift.HintPages
		}
		return fail(result, f)
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, child.ErrTimeout):
		limit := fmt.Sprintf("more than %s of processor time", r.cfg.CPU)
		if !errors.Is(err, child.ErrCPU) {
			limit = fmt.Sprintf("longer than %s", r.cfg.Wall)
		}
		c.stopped = "the file takes " + limit
		if !some {
			return tooMuch(ResultTimeout, sift.CodeTimeout, "reading the PDF takes "+limit)
		}
	case errors.Is(err, child.ErrMemory), e.Fault == faultEngine:
		c.stopped = "the file takes more memory than a reader may have, or is damaged"
		if !some {
			return tooMuch(ResultMemory, sift.CodeTooLong, "reading the PDF takes more memory than a reader may have")
		}
	case errors.Is(err, child.ErrOutput), errors.Is(err, errTooLong), e.Fault == faultText:
		c.stopped = "the file has more text than is read at once"
		if !some {
			return tooMuch(ResultMemory, sift.CodeTooLong, "the PDF has more text than is read at once")
		}
	case endedByOthers(err):
		c.stopped = "the system has ended the reader, perhaps for want of memory"
		if !some {
			f := sift.Fail(sift.CodeBusy, "the system has ended the reader of the PDF, perhaps for want of memory; ask again").WithHint(sift.HintRetry)
			f.RetryAfter = wantOfMemory
			return fail(ResultError, f)
		}
	case errors.Is(err, child.ErrCrashed):
		c.stopped = "the file is damaged in a way that stops its reader"
		if !some {
			return fail(ResultDamaged, sift.Fail(sift.CodeUnsupported, "the PDF is damaged in a way that stops its reader"))
		}
	case err != nil:
		return fail(ResultError, sift.AsFailure(fmt.Errorf("read PDF: %w", err)))
	case e.Fault == faultPages:
		c.stopped = fmt.Sprintf("at most %d are read at once", r.cfg.MaxPages)
	case e.Fault == faultPassword && req.Password != "":
		return fail(ResultPassword, sift.Fail(sift.CodeUnsupported, "the password does not open this PDF; send the right one as password").WithHint(sift.HintPassword))
	case e.Fault == faultPassword:
		return fail(ResultPassword, sift.Fail(sift.CodeUnsupported, "the PDF is encrypted and needs a password; send it as password").WithHint(sift.HintPassword))
	case e.Fault == faultSecurity:
		return fail(ResultDamaged, sift.Fail(sift.CodeUnsupported, "the PDF is encrypted by a method that is not known here"))
	case e.Fault == faultCache:
		return fail(ResultError, sift.AsFailure(errors.New("the PDF engine's machine code does not run, though it was just made")))
	case e.Fault == faultFormat:
		return fail(ResultDamaged, damaged(req.Cut))
	}
	switch {
	case some:
		return nil
	case req.Cut:
		return fail(ResultDamaged, damaged(true))
	case c.info.Pages == 0:
		return fail(ResultDamaged, sift.Fail(sift.CodeUnsupported, "the PDF is damaged: it has no pages"))
	default:
		return fail(ResultDamaged, sift.Fail(sift.CodeUnsupported, "the PDF is damaged: none of its %d pages can be read", c.info.Pages))
	}
}

// wantOfMemory is how long a host that is short of memory is left alone.
const wantOfMemory = 10 * time.Second

// endedByOthers says that a child was killed by somebody else: where memory is
// short the kernel does that, to children first.
func endedByOthers(err error) bool {
	e, ok := errors.AsType[*child.Error](err)
	return ok && e.Reason == child.ReasonCrash && e.Signal == syscall.SIGKILL.String()
}

func damaged(cut bool) *sift.Failure {
	if cut {
		return sift.Fail(sift.CodeUnsupported, "the PDF is incomplete and cannot be opened: the download ended early; ask again").WithHint(sift.HintRetry)
	}
	return sift.Fail(sift.CodeUnsupported, "the PDF is damaged or incomplete and cannot be opened")
}

// result is the class of a document that was read.
func result(doc *sift.Document) Result {
	r := ResultOK
	for _, w := range doc.Warnings {
		switch w.Code {
		case sift.WarnPartial:
			return ResultPartial
		case sift.WarnNoText:
			r = ResultNoText
		}
	}
	return r
}
