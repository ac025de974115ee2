// Package pdfpool decides when an expensive job may run: a few run at once, a
// few more wait their turn, identical requests share one job, and no caller
// has more than one. It was made for PDF extraction, where a job is a child
// process of a few hundred MB, and knows nothing of PDFs.
//
// Give Do the key under which requests are identical, the name of the caller
// and the work. Whoever asks for a key whose job is queued or runs already
// gets that job's result: it may not be changed, for others hold it too.
// Nothing is kept after a job has ended. If you cache results, let the work
// look into the cache once more before it begins: an identical job may have
// ended between your own look and Do.
//
// The work has no deadline but its own: it runs to its end even when everyone
// who waited for it has left, and there is no way to stop it from here. It
// must not call Do with its own key, for it would wait for itself.
//
// A pool starts no goroutine but one for each running job, and needs no
// closing.
package pdfpool

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"
)

// What Do answers when it does not run the work.
var (
	ErrBusy       = errors.New("pdf workers busy") // queue full, or waited longer than wait
	ErrCallerBusy = errors.New("busy")             // this caller already has a job in flight
)

var (
	errNoWork = errors.New("pdfpool: no job to join and no work to run")
	errGoexit = errors.New("pdfpool: the work ended its goroutine (runtime.Goexit)")
)

// panicError is what everyone who waited for a job gets when its work panicked.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string {
	return fmt.Sprintf("pdfpool: the work panicked: %v\n\n%s", e.value, e.stack)
}

// Unwrap lets errors.Is and errors.As see an error that was panicked with.
func (e *panicError) Unwrap() error {
	err, _ := e.value.(error)
	return err
}

// Pool runs jobs. Make one with New.
type Pool struct {
	slots, queue int
	wait         time.Duration

	mu      sync.Mutex
	jobs    map[string]*job // by key: every job that is queued or runs
	callers map[string]*job // by caller: the one that it started
	running int
	queued  []*job // the longest waiting first; empty unless every slot is taken
}

// job is one flight of one key. It leaves Pool.queued exactly once, whoever
// takes it out (a free slot, its timer, its last waiter) decides its fate
// under the lock, and the others find it gone.
type job struct {
	key, caller string
	work        func() (any, error)
	starter     *waiter
	timer       *time.Timer // ends the wait for a slot; nil if a slot was free

	waiters map[*waiter]struct{} // guarded by Pool.mu: who is in Do for it

	done chan struct{} // closed once val and err are set
	val  any
	err  error
}

// waiter is one call of Do.
type waiter struct {
	gone <-chan struct{} // its context's Done
}

// New makes a pool in which slots jobs run at once and queue jobs wait for a
// slot, each for wait at most.
//
// A pool without slots is closed: every job is ErrBusy. Without a queue, or
// with a wait of zero or less, nothing waits: a job that finds no slot free is
// ErrBusy at once. Negative numbers are zero.
func New(slots, queue int, wait time.Duration) *Pool {
	return &Pool{
		slots: slots, queue: queue, wait: wait,
		jobs:    make(map[string]*job),
		callers: make(map[string]*job),
	}
}

// Do answers what fn returns for key, running it unless a job for key is
// queued or runs already. A ctx that is over is answered with its error before
// anything else. Then, in this order:
//
//  1. A job for key is queued or runs: Do waits for its result. That takes no
//     slot and no place in the queue, is allowed though the caller has another
//     job, and needs no fn.
//  2. The caller has a job in flight for another key: ErrCallerBusy at once.
//  3. A slot is free: fn starts. The queue is full: ErrBusy at once. Else the
//     job waits for a slot, first come first served. When it has waited too
//     long it leaves the queue, and all who wait for it get ErrBusy, also
//     those who came late: the clock is the one of the call that queued it.
//
// Without an fn a call that is to start a job fails.
//
// A call whose ctx ends gets ctx.Err() at once, even if the result comes in
// the same moment. A job that runs goes on; one that is queued keeps its place
// and its clock for the others, and leaves the queue with the last of them. fn
// runs on a goroutine of its own with the values of ctx, not its end.
//
// The caller whose call made the job is its owner until the job has ended or
// has left the queue, even if that call has long returned: otherwise a caller
// could fill every slot with work that it walks away from. Until then it gets
// ErrCallerBusy for other keys and may join any job, this one again too. Those
// who join own nothing, and inherit nothing.
//
// Key, caller and slot are free before the result can be seen: who asks again
// starts anew. Whatever fn returns reaches all who wait, and so does a panic
// in it (an error with the value and the stack) or a runtime.Goexit.
func (p *Pool) Do(ctx context.Context, key, caller string, fn func(context.Context) (any, error)) (any, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	j, w, err := p.enter(ctx, key, caller, fn)
	if err != nil {
		return nil, err
	}
	select {
	case <-ctx.Done():
		p.leave(j, w)
		return nil, ctx.Err()
	case <-j.done:
		// select picks at random when both are ready.
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		return j.val, j.err
	}
}

// Running is how many jobs hold a slot.
func (p *Pool) Running() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.running
}

// Queued is how many jobs wait for a slot.
func (p *Pool) Queued() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.queued)
}

// Waiting is how many calls share key's job, not counting the one that
// started it.
func (p *Pool) Waiting(key string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	j, ok := p.jobs[key]
	if !ok {
		return 0
	}
	n := len(j.waiters)
	if _, ok := j.waiters[j.starter]; ok {
		n--
	}
	return n
}

// enter makes the caller one who waits for key's job, or says why not.
func (p *Pool) enter(ctx context.Context, key, caller string, fn func(context.Context) (any, error)) (*job, *waiter, error) {
	w := &waiter{gone: ctx.Done()}
	p.mu.Lock()
	defer p.mu.Unlock()
	if j, ok := p.jobs[key]; ok {
		j.waiters[w] = struct{}{}
		return j, w, nil
	}
	if _, ok := p.callers[caller]; ok {
		return nil, nil, ErrCallerBusy
	}
	if fn == nil {
		return nil, nil, errNoWork
	}
	free := p.running < p.slots
	if !free && (p.slots <= 0 || p.wait <= 0 || len(p.queued) >= p.queue) {
		return nil, nil, ErrBusy
	}

	ctx = context.WithoutCancel(ctx)
	j := &job{
		key: key, caller: caller,
		work:    func() (any, error) { return fn(ctx) },
		starter: w,
		waiters: map[*waiter]struct{}{w: {}},
		done:    make(chan struct{}),
	}
	p.jobs[key] = j
	p.callers[caller] = j
	if free {
		p.startLocked(j)
	} else {
		p.queued = append(p.queued, j)
		j.timer = time.AfterFunc(p.wait, func() { p.expire(j) })
	}
	return j, w, nil
}

// leave ends one call's wait for a job. A queued job goes with the last one.
func (p *Pool) leave(j *job, w *waiter) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(j.waiters, w)
	if len(j.waiters) == 0 && p.dequeueLocked(j) {
		p.endLocked(j, nil, context.Canceled) // nobody is left to see it
	}
}

// expire is called when a job has waited for its slot long enough. A job that
// was given one in the meantime is not concerned.
func (p *Pool) expire(j *job) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dequeueLocked(j) {
		p.endLocked(j, nil, ErrBusy)
	}
}

// run does a job's work and gives its slot to the next, whatever becomes of
// the work.
func (p *Pool) run(j *job) {
	var val any
	var err error
	returned := false
	defer func() {
		if !returned {
			if v := recover(); v != nil {
				err = &panicError{value: v, stack: debug.Stack()}
			} else {
				err = errGoexit
			}
		}
		p.finish(j, val, err)
	}()
	val, err = j.work()
	returned = true
}

func (p *Pool) finish(j *job, val any, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running--
	p.endLocked(j, val, err)
	for p.running < p.slots && len(p.queued) > 0 {
		next := p.queued[0]
		p.dequeueLocked(next)
		if next.abandoned() {
			p.endLocked(next, nil, context.Canceled)
			continue
		}
		p.startLocked(next)
	}
}

// abandoned says that everyone who waits for the job is about to leave: their
// contexts are over, only they have not got the lock yet. To start it now
// would be work for nobody.
func (j *job) abandoned() bool {
	for w := range j.waiters {
		select {
		case <-w.gone:
		default:
			return false
		}
	}
	return true
}

func (p *Pool) startLocked(j *job) {
	p.running++
	go p.run(j)
}

// dequeueLocked takes a job out of the queue and says whether it was there.
func (p *Pool) dequeueLocked(j *job) bool {
	i := slices.Index(p.queued, j)
	if i < 0 {
		return false
	}
	p.queued = slices.Delete(p.queued, i, i+1)
	j.timer.Stop() // too late at times; then expire does not find the job
	return true
}

// endLocked forgets a job that holds no slot and no place any more, then lets
// its result be seen. It is called once a job, so that what it forgets is
// never a newer job's.
func (p *Pool) endLocked(j *job, val any, err error) {
	delete(p.jobs, j.key)
	delete(p.callers, j.caller)
	j.val, j.err = val, err
	close(j.done)
}
