package jq

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"sift.build/sift/internal/child"
	"sift.build/sift/internal/pdfpool"
	"sift.build/sift/internal/sift"
)

// What one run may take.
const (
	MaxBody   = 10 << 20 // bytes of JSON
	MaxOutput = 10 << 20 // bytes of output

	memory    = 320 << 20       // of a child; see docs/jq.md for how it was found
	overhead  = 76 << 20        // of that: what the Go runtime has besides its heap, and room to collect garbage in
	cpu       = 2 * time.Second // processor time of a child
	wall      = 10 * time.Second
	maxStdout = 2*MaxOutput + 1<<20 // what a child may write, its messages' heads included
	busyFor   = time.Second         // how long a caller whom the pool refuses is asked to wait
)

// Config says how programs are run. Only Launcher is required.
type Config struct {
	Launcher *child.Launcher
	Slots    int           // programs that run at once; 0: 2
	Queue    int           // programs that wait for a slot; 0: 8
	Wait     time.Duration // how long each waits for a slot, and then for memory; 0: 5 s
	// Memory is what a child may hold, and is taken from the launcher's budget
	// while it runs; 0: 320 MiB, in which nearly all JSON of 10 MiB fits.
	Memory int64
}

// Runner runs programs. Make one with New; it may be used from several
// goroutines.
type Runner struct {
	launcher *child.Launcher
	pool     *pdfpool.Pool
	wait     time.Duration
	limits   limits
	serial   atomic.Uint64

	mu      sync.Mutex
	flights map[string]*flight // by key: those that somebody waits for
}

// limits are what a run may take; tests lower them.
type limits struct {
	memory, heap int64
	cpu, wall    time.Duration
	output       int
}

// New makes a runner. It starts nothing.
func New(c Config) *Runner {
	if c.Slots <= 0 {
		c.Slots = 2
	}
	if c.Queue <= 0 {
		c.Queue = 8
	}
	if c.Wait <= 0 {
		c.Wait = 5 * time.Second
	}
	if c.Memory <= 0 {
		c.Memory = memory
	}
	return &Runner{
		launcher: c.Launcher, pool: pdfpool.New(c.Slots, c.Queue, c.Wait), wait: c.Wait,
		limits:  limits{memory: c.Memory, heap: max(c.Memory-overhead, c.Memory/4), cpu: cpu, wall: wall, output: MaxOutput},
		flights: make(map[string]*flight),
	}
}

// Load says how many programs run and how many wait for a slot.
func (r *Runner) Load() (running, queued int) { return r.pool.Running(), r.pool.Queued() }

// Query is one program to run on one body.
type Query struct {
	Program   string
	Body      []byte // in UTF-8
	MediaType string // what the server called the body, for errors
	Kind      string // what the body really is, for errors: "HTML", "PDF", …; "" and "JSON" say nothing
	Lines     bool   // the body is NDJSON: errors are about lines

	// Caller has one program running at a time; "" counts as another each time.
	Caller string
	// Key names the body: queries with the same program and key share one run.
	// "": the body's bytes are its name.
	Key string
}

// Result is what a program has made of a body.
type Result struct {
	Content string // each output as compact JSON on a line of its own
	Outputs int
	Cut     bool // there were more outputs than fit into MaxOutput; those that are here are whole
}

// Run runs a program. The error is a *sift.Failure:
//
//   - invalid: the program is broken, or fails on this body;
//   - unsupported: the body is no JSON;
//   - timeout, too_long: it took more than it may;
//   - busy: too many are running, or one of this caller;
//
// or the error of ctx. When Run returns, its child is gone, unless others wait
// for the same run.
func (r *Runner) Run(ctx context.Context, q Query) (Result, error) {
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	if err := Parse(q.Program); err != nil {
		return Result{}, err
	}
	if f := q.refuse(); f != nil {
		return Result{}, f
	}
	key, caller := q.key(), q.Caller
	if caller == "" {
		caller = "#" + strconv.FormatUint(r.serial.Add(1), 10)
	}
	for {
		out, err := r.fly(ctx, key, caller, q)
		switch {
		case err == nil:
			return out.judge(q)
		case errors.Is(err, errLeft) && ctx.Err() == nil:
			// This call joined a run in the moment in which the last who waited for
			// it had left.
			continue
		case errors.Is(err, pdfpool.ErrCallerBusy):
			return Result{}, busy("this caller already has a jq program running; ask again when it is done", err)
		case errors.Is(err, pdfpool.ErrBusy):
			return Result{}, busy("too many jq programs are running; ask again soon", err)
		case ctx.Err() != nil:
			return Result{}, ctx.Err()
		}
		return Result{}, sift.AsFailure(fmt.Errorf("run jq: %w", err))
	}
}

func busy(text string, cause error) *sift.Failure {
	return &sift.Failure{Code: sift.CodeBusy, Message: text, Hint: sift.HintRetry, RetryAfter: busyFor, Cause: cause}
}

func (q *Query) key() string {
	name := q.Key
	if name == "" {
		sum := sha256.Sum256(q.Body)
		name = hex.EncodeToString(sum[:])
	}
	return fmt.Sprintf("%d %s %t %s", len(name), name, q.Lines, q.Program)
}

// flight is one run, as those see it who wait for it.
type flight struct {
	waiters int
	cancel  context.CancelFunc // of the run, once it has begun
	landed  chan struct{}      // closed when it has ended; nil: it has not begun
}

// errLeft is what a run ends with when nobody waits for it any more.
var errLeft = errors.New("nobody waits for this jq program any more")

// fly waits for the run of a key, beginning it if there is none. The pool lets
// a run go on when everyone has left; this ends it then, and sees it end.
func (r *Runner) fly(ctx context.Context, key, caller string, q Query) (*outcome, error) {
	r.mu.Lock()
	f := r.flights[key]
	if f == nil {
		f = &flight{}
		r.flights[key] = f
	}
	f.waiters++
	r.mu.Unlock()
	defer r.leave(key, f)

	v, err := r.pool.Do(ctx, key, caller, func(ctx context.Context) (any, error) {
		// It may take as long as it runs, and wait for memory before that.
		ctx, cancel := context.WithTimeoutCause(ctx, r.wait+r.limits.wall+time.Second, errNoMemory)
		defer cancel()
		done, ok := r.begin(key, cancel)
		if !ok {
			return nil, errLeft
		}
		defer done()
		return r.run(ctx, q)
	})
	if err != nil {
		return nil, err
	}
	out, ok := v.(*outcome)
	if !ok {
		return nil, fmt.Errorf("a run came to %T", v)
	}
	return out, nil
}

// errNoMemory is why a run ends that did not get its part of the memory.
var errNoMemory = errors.New("there is no memory for a child")

// begin notes that the run of a key begins, if anybody waits for it.
func (r *Runner) begin(key string, cancel context.CancelFunc) (done func(), ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := r.flights[key]
	if f == nil || f.landed != nil {
		return nil, false
	}
	landed := make(chan struct{})
	f.cancel, f.landed = cancel, landed
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.flights[key] == f {
			delete(r.flights, key) // who comes now waits for another
		}
		close(landed)
	}, true
}

func (r *Runner) leave(key string, f *flight) {
	r.mu.Lock()
	f.waiters--
	last := f.waiters == 0
	if last && r.flights[key] == f {
		delete(r.flights, key)
	}
	cancel, landed := f.cancel, f.landed
	r.mu.Unlock()
	if last && landed != nil {
		cancel()
		<-landed // the time that it takes to kill a process
	}
}

// outcome is what a run came to, for all who waited for it. It is not changed.
type outcome struct {
	content string
	lines   int
	end     *end
	err     error // of the child
	limits  limits
	noRoom  bool // it did not get its memory
}

func (r *Runner) run(ctx context.Context, q Query) (*outcome, error) {
	o := order{Size: len(q.Body), Lines: q.Lines, Memory: r.limits.memory, Heap: r.limits.heap, Output: r.limits.output}
	config, err := o.encode(q.Program)
	if err != nil {
		return nil, err
	}
	h := &heard{}
	_, err = r.launcher.Run(ctx, child.Spec{
		Worker: workerName, Config: config, Data: q.Body,
		Procs:  2, // one of them can always look at the memory
		Memory: r.limits.memory, Addresses: r.limits.memory + 64<<20,
		CPU: r.limits.cpu, Wall: r.limits.wall, MaxOutput: maxStdout,
	}, func(stdout io.Reader) error { return h.hear(stdout) })
	if err != nil && errors.Is(context.Cause(ctx), context.Canceled) {
		return nil, errLeft
	}
	out := &outcome{content: h.outputs.String(), lines: h.lines, end: h.end, err: err, limits: r.limits}
	out.noRoom = err != nil && errors.Is(context.Cause(ctx), errNoMemory)
	if err == nil && h.end == nil {
		out.err = errors.New("the child ended without a word")
	}
	return out, nil
}

// narrower is what to do about a program that takes too much.
const narrower = "narrow it: choose a part early (.items[:100][]), use first(…) or limit(10; …), and leave out recursion (.., repeat, range) that has no end"

// judge says what an outcome means to one who waited for it.
func (o *outcome) judge(q Query) (Result, error) {
	fail := func(code sift.Code, format string, args ...any) (Result, error) {
		return Result{}, sift.Fail(code, format, args...).WithCause(o.err)
	}
	before := ""
	if o.lines > 0 {
		before = fmt.Sprintf(" after %s", count(o.lines, "output"))
	}
	switch err := o.err; {
	case o.noRoom:
		return Result{}, busy("there is no memory for a jq program now; ask again soon", err)
	case errors.Is(err, child.ErrCPU):
		return fail(sift.CodeTimeout, "the jq program was ended%s: it takes more than %s of processor time; %s", before, o.limits.cpu, narrower)
	case errors.Is(err, child.ErrTimeout):
		return fail(sift.CodeTimeout, "the jq program was ended%s: it takes longer than %s; %s", before, o.limits.wall, narrower)
	case errors.Is(err, child.ErrMemory), crashedOverMemory(err):
		return fail(sift.CodeTooLong, "the jq program was ended%s: with this JSON of %s it takes more than %d MiB of memory; %s", before, size(len(q.Body)), o.limits.memory>>20, narrower)
	case errors.Is(err, child.ErrOutput), errors.Is(err, errLong):
		return fail(sift.CodeTooLong, "the jq program was ended: it writes more than %s; %s", size(o.limits.output), narrower)
	case endedByOthers(err):
		return Result{}, busy("the system has ended the jq program, perhaps for want of memory; ask again", err)
	case errors.Is(err, child.ErrCrashed):
		return fail(sift.CodeInvalid, "jq has a program that makes its interpreter crash; write it in another way")
	case err != nil:
		return Result{}, sift.AsFailure(fmt.Errorf("run jq: %w", err))
	}
	switch e := o.end; e.Fault {
	case faultJSON:
		return Result{}, q.notJSON(e)
	case faultEmpty:
		return Result{}, q.empty()
	case faultProgram:
		return fail(sift.CodeInvalid, "jq has %s", clean(e.Text, maxQuoted))
	case faultOutput:
		return fail(sift.CodeTooLong, "the first output of the jq program is longer than %s; %s", size(o.limits.output), narrower)
	case faultHalt:
		return fail(sift.CodeInvalid, "the jq program ended itself%s%s: %s", before, where(e), clean(e.Text, maxQuoted))
	case faultRuntime:
		if q.isOther() && !q.beginsLikeJSON() {
			return Result{}, q.other() // its first word is JSON by chance
		}
		text := clean(e.Text, maxQuoted)
		if text == "break" {
			text = "there are no more documents for input to read"
		}
		return fail(sift.CodeInvalid, "the jq program failed%s%s: %s; “?” or try … catch … passes over such values", before, where(e), text)
	}
	return Result{Content: strings.TrimSuffix(o.content, "\n"), Outputs: o.lines, Cut: o.end.Cut}, nil
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func size(n int) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}

// where says at which of several documents something was.
func where(e *end) string {
	if !e.Docs {
		return ""
	}
	return fmt.Sprintf(", at document %d (line %d)", e.Doc, e.Line)
}

// crashedOverMemory tells a crash for want of memory from one by a mistake. A Go
// program has no end of ways to run into its limit, one more in each version:
// the runtime may be denied a page anywhere. A mistake in the interpreter is a
// panic and says so.
func crashedOverMemory(err error) bool {
	e, ok := errors.AsType[*child.Error](err)
	return ok && e.Reason == child.ReasonCrash && e.ExitCode == exitFatal && !strings.Contains(e.Stderr, "panic: ")
}

// endedByOthers says that a child was killed by somebody else: where memory is
// short the kernel does that, to children first.
func endedByOthers(err error) bool {
	e, ok := errors.AsType[*child.Error](err)
	return ok && e.Reason == child.ReasonCrash && e.Signal == syscall.SIGKILL.String()
}
