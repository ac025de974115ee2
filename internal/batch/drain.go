package batch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"sift.build/sift/internal/fanout"
	"sift.build/sift/internal/sift"
)

// How long a target waits for a slot before it asks again, and who takes jobs
// for a store that cannot be written to. The number of tries has no bound.
const (
	firstSlotWait, longestSlotWait   = 100 * time.Millisecond, 2 * time.Second
	firstStoreWait, longestStoreWait = time.Second, 15 * time.Second
)

// maxErrorText is how much of a failure's text is stored, in bytes.
const maxErrorText = 700

// maxRetrying is how many writes are tried again beside the jobs. With more, the
// job that has one more keeps its token, so that nothing else is fetched with it.
const maxRetrying = 64

// work takes jobs from the store as there are tokens for them, until ctx ends.
// Each is drained on a goroutine of jobs, its fetches in fetching.
func (r *Runner) work(ctx, fetching context.Context, jobs *sync.WaitGroup) {
	wait := firstStoreWait
	for ctx.Err() == nil {
		took, err := r.begin(ctx, fetching, jobs)
		rest := pollEvery
		switch {
		case took:
			wait = firstStoreWait
			continue
		case err != nil:
			rest = between(wait)
			wait = min(2*wait, longestStoreWait)
		default:
			wait = firstStoreWait
		}
		pause(ctx, rest, r.wake)
	}
}

// begin takes the next job, once there is a token for it, and sets out on it. It
// is false when there is none to take.
func (r *Runner) begin(ctx, fetching context.Context, jobs *sync.WaitGroup) (bool, error) {
	if err := r.settle(ctx); err != nil {
		return false, err // as was told at the start
	}
	if r.cfg.Workers <= 0 {
		return false, nil
	}
	select {
	case r.places <- struct{}{}:
	case <-ctx.Done():
		return false, nil
	}
	leave := func() { <-r.places }
	if !r.tokens.take(ctx, nil, forClaim) {
		leave()
		return false, nil
	}
	var job Claimed
	ok, err := false, error(nil)
	if ctx.Err() == nil {
		job, ok, err = r.claimJob(ctx)
	}
	if !ok {
		r.tokens.give()
		leave()
	}
	if err != nil {
		r.log.Error("no batch job could be taken from the store", "error", err)
		return false, err
	}
	if ok {
		jobs.Go(func() {
			defer leave()
			r.drain(ctx, fetching, jobs, job)
		})
	}
	return ok, nil
}

func (r *Runner) claimJob(ctx context.Context) (Claimed, bool, error) {
	write, done := recording(ctx)
	defer done()
	return r.cfg.Store.ClaimJob(write)
}

// pause waits for d, or for ctx to end, or for something to come from sooner.
func pause(ctx context.Context, d time.Duration, sooner <-chan struct{}) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-sooner:
	case <-ctx.Done():
	}
}

// between is a wait of about d, and d at most, so that those who began to wait
// together do not come back together.
func between(d time.Duration) time.Duration { return d/2 + rand.N(d/2) }

// drain is a job being worked on.
type drain struct {
	*Runner
	job    Claimed
	state  *claimed
	nbytes int64 // that the results of the job take
	others *sync.WaitGroup
	token  bool      // is held
	began  time.Time // the target that is worked on
}

// drain works on a job that was claimed with a token. It holds one while a
// target is fetched and written, and not while it waits for a slot.
func (r *Runner) drain(ctx, fetching context.Context, others *sync.WaitGroup, job Claimed) {
	state, forget := r.claim(job)
	defer forget()
	d := &drain{Runner: r, job: job, state: state, nbytes: job.NBytes, others: others, token: true}
	defer d.giveToken()
	r.logJob(job.JobID, job.Caller.Name, sift.JobRunning, "targets", len(job.Targets), "waited", r.since(job.CreatedAt))
	r.hub.change(job.JobID)
	for i, t := range job.Targets {
		if i > 0 {
			d.token = r.tokens.turn(ctx, state.cancelled)
		}
		if !d.token || ctx.Err() != nil {
			return // it was cancelled, or is left to the next Recover
		}
		if !d.known() {
			d.dismiss(ctx, t.Idx, false)
			return
		}
		if !d.target(ctx, fetching, t, len(job.Targets)-i-1) {
			return
		}
	}
}

func (d *drain) takeToken(ctx context.Context) {
	d.token = d.tokens.take(ctx, d.state.cancelled, forJob)
}

func (d *drain) giveToken() {
	if d.token {
		d.token = false
		d.tokens.give()
	}
}

// known says whether there still is a caller to fetch for.
func (d *drain) known() bool { return d.cfg.Known == nil || d.cfg.Known(d.job.Caller.Name) }

// target fetches one target and writes down what came of it. It says whether
// the job goes on.
func (d *drain) target(ctx, fetching context.Context, t ClaimedTarget, toCome int) bool {
	d.began = time.Now()
	started, err := d.startTarget(ctx, t.Idx)
	if err != nil {
		d.lose(ctx, t.Idx, false, err)
		return false
	}
	if !started {
		return false // cancelled
	}
	limit := min(maxResult, maxJob-d.nbytes-int64(toCome)*keptForOthers)
	// With more targets than a job has room for failures, which is for the
	// operator to configure, the failures still find room.
	limit = max(limit, keptForOthers)
	got, end := d.fetch(ctx, fetching, t, int(limit))
	switch end {
	case noSlot:
		d.release(ctx, t.Idx)
		return false
	case unknown:
		d.dismiss(ctx, t.Idx, true)
		return false
	case cutOff:
		return false // left to the next Recover
	}
	f, err := d.finishTarget(ctx, got.outcome(t.Idx, d.cfg.MaxBytes))
	if errors.Is(err, ErrNoRoom) && got.failure == nil {
		got = failed(sift.Fail(sift.CodeTooLong, "the answer of %d bytes finds no room within what batch results may take in all (max_bytes); ask for it with /v1/fetch, or submit it again later", len(got.result)))
		f, err = d.finishTarget(ctx, got.outcome(t.Idx, d.cfg.MaxBytes))
	}
	if err != nil {
		d.lose(ctx, t.Idx, true, err)
		return false
	}
	defer d.hub.change(d.job.JobID)
	if !f.Stored {
		return false // the job was cancelled, and is gone
	}
	d.nbytes = f.NBytes
	d.finished(t.Idx, got, time.Since(d.began))
	if f.Job.Live() {
		return true
	}
	if f.Job != sift.JobCancelled { // that was told when it happened
		d.ended(d.job.JobID, d.job.Caller.Name, f.Job, d.since(d.job.CreatedAt), d.state.counts()...)
	}
	return false
}

// finished tells of a target that has been stored.
func (d *drain) finished(idx int, got outcome, took time.Duration) {
	d.state.done.Add(1)
	d.cfg.Trace.target(got.code(), took)
	if got.failure == nil {
		d.cfg.Trace.stored(len(got.result))
	}
	d.log.Info("batch target", "job", d.job.JobID, "idx", idx, "outcome", got.code(), "took", took, "bytes", len(got.result))
}

// outcome is what a fetch came to: a result or a failure.
type outcome struct {
	result  json.RawMessage
	failure *sift.Failure
}

func failed(f *sift.Failure) outcome { return outcome{failure: f} }

// code is the outcome's short word, for logs and metrics.
func (o outcome) code() string {
	if o.failure != nil {
		return string(o.failure.Code)
	}
	return "ok"
}

func (o outcome) outcome(idx int, maxBytes int64) Outcome {
	if o.failure == nil {
		return Outcome{Idx: idx, Result: o.result, MaxBytes: maxBytes}
	}
	return Outcome{Idx: idx, Error: cut(o.failure.Error(), maxErrorText), Hint: o.failure.Hint, MaxBytes: maxBytes}
}

// cut shortens a text to at most limit bytes, between two characters.
func cut(s string, limit int) string {
	s = strings.ToValidUTF8(s, "�")
	if len(s) <= limit {
		return s
	}
	const more = "…"
	end := limit - len(more)
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + more
}

// ending is how the work on a target ended.
type ending int

const (
	came    ending = iota // to an outcome
	noSlot                // the job was cancelled while it waited for one: nothing was fetched
	cutOff                // by the end of Run
	unknown               // the job's caller is not known any more
)

// fetch tries a target until there is a slot for it.
func (d *drain) fetch(ctx, fetching context.Context, t ClaimedTarget, limit int) (outcome, ending) {
	target, err := t.target()
	if err != nil {
		return failed(d.internal(t.Idx, err)), came
	}
	for wait := firstSlotWait; ; wait = min(2*wait, longestSlotWait) {
		select {
		case <-d.state.cancelled:
			return outcome{}, noSlot
		default:
		}
		switch {
		case ctx.Err() != nil:
			return outcome{}, cutOff
		case !d.known():
			return outcome{}, unknown
		case !d.token:
			// What was asked just now may be otherwise when there is a token.
			if d.takeToken(ctx); !d.token || !d.known() {
				continue
			}
		}
		o := d.once(fetching, t.Idx, Target{Target: target, Caller: d.job.Caller, MaxBytes: limit})
		switch {
		case o.failure == nil:
			return o, came
		case fetching.Err() != nil:
			return outcome{}, cutOff // whatever it says: it was not let finish
		case o.failure.Code != sift.CodeBusy:
			return o, came
		}
		d.giveToken()
		pause(ctx, between(wait), d.state.cancelled)
	}
}

// once calls Fetch and sees to it that something comes of it.
func (d *drain) once(ctx context.Context, idx int, t Target) outcome {
	d.inFlight.Add(1)
	defer d.inFlight.Add(-1)
	// On a goroutine of its own, whose end by a panic or runtime.Goexit is an
	// error. It is begun in any case: ctx is for Fetch to heed.
	results, errs := fanout.All(context.WithoutCancel(ctx), []Target{t}, 1, func(_ context.Context, t Target) (Result, error) {
		return d.cfg.Fetch(ctx, t)
	})
	if errs != nil {
		return failed(d.failure(idx, errs[0]))
	}
	got := results[0].JSON
	switch {
	case !json.Valid(got):
		return failed(d.internal(idx, errNotJSON))
	case len(got) > t.MaxBytes:
		return failed(sift.Fail(sift.CodeTooLong, "the answer takes %d bytes, and a batch has room for %d of this target; ask for a smaller part of it, or for all of it with /v1/fetch", len(got), t.MaxBytes))
	}
	return outcome{result: got}
}

var errNotJSON = errors.New("the result is not JSON")

// failure is the failure that an error of Fetch is.
func (d *drain) failure(idx int, err error) *sift.Failure {
	if p, ok := errors.AsType[*fanout.PanicError](err); ok {
		// The value may be made of what the page says, or name it.
		kind := fmt.Sprintf("%T", p.Value)
		if p.Value == fanout.ErrGoexit {
			kind = "runtime.Goexit"
		}
		d.log.Error("a batch target panicked", "job", d.job.JobID, "idx", idx, "panic", kind, "stack", string(p.Stack))
		return sift.AsFailure(errPanic)
	}
	if f := sift.AsFailure(err); f.Code != sift.CodeInternal {
		return f
	}
	return d.internal(idx, err)
}

var errPanic = errors.New("panic")

// internal is our own fault. The log gets no more of it than the types of its
// errors: their texts may name what was fetched.
func (d *drain) internal(idx int, err error) *sift.Failure {
	d.log.Error("a batch target failed inside sift", "job", d.job.JobID, "idx", idx, "types", types(err))
	return sift.AsFailure(err)
}

// types names the types of an error and of those that it wraps.
func types(err error) string {
	var names []string
	for ; err != nil && len(names) < 10; err = errors.Unwrap(err) {
		names = append(names, fmt.Sprintf("%T", err))
	}
	return strings.Join(names, " ")
}

func (d *drain) startTarget(ctx context.Context, idx int) (bool, error) {
	write, done := recording(ctx)
	defer done()
	return d.cfg.Store.StartTarget(write, d.job.Claim, idx)
}

func (d *drain) finishTarget(ctx context.Context, o Outcome) (Finished, error) {
	write, done := recording(ctx)
	defer done()
	l, release := d.lease()
	defer release()
	return d.cfg.Store.FinishTarget(write, d.job.Claim, o, l)
}

// release gives back a target that waited for a slot when its job was cancelled.
func (d *drain) release(ctx context.Context, idx int) {
	write := func(ctx context.Context) error {
		_, err := d.cfg.Store.ReleaseTarget(ctx, d.job.Claim, idx)
		if err == nil {
			d.hub.change(d.job.JobID)
		}
		return err
	}
	if err := record(ctx, write); err != nil {
		d.log.Error("a batch target was not given back in the store", "job", d.job.JobID, "idx", idx, "error", err)
		d.retry(ctx, write)
	}
}

// lose ends a job because of an error of the store: nothing that would follow
// could be relied on. flying says that the target idx is running.
func (d *drain) lose(ctx context.Context, idx int, flying bool, cause error) {
	d.log.Error("a batch job cannot go on, the store failed", "job", d.job.JobID, "idx", idx, "error", cause)
	f := failing{reason: storeReason(cause), flying: flying}
	d.fail(ctx, idx, f, "store", func(ctx context.Context) error {
		// What is left is its target in flight.
		_, err := d.finishTarget(ctx, Outcome{Idx: idx, Error: f.reason, Hint: sift.HintFresh, MaxBytes: d.cfg.MaxBytes})
		return err
	})
}

// reasonUnknown is the error of a job whose caller may not ask for anything any
// more.
const reasonUnknown = string(sift.CodeUnauthorized) + ": this caller is not known to the service any more"

// dismiss ends a job whose caller is not known any more. flying says that the
// target idx waits for a slot.
func (d *drain) dismiss(ctx context.Context, idx int, flying bool) {
	d.fail(ctx, idx, failing{reason: reasonUnknown, flying: flying}, string(sift.CodeUnauthorized), func(ctx context.Context) error {
		_, err := d.cfg.Store.ReleaseTarget(ctx, d.job.Claim, idx)
		return err
	})
}

// fail ends a job for a reason of our own, now or once that can be written. Of
// one that was cancelled meanwhile, cancelled writes what is left. kind is the
// reason in a word, for log and metrics.
func (d *drain) fail(ctx context.Context, idx int, f failing, kind string, cancelled func(context.Context) error) {
	id, took := d.job.JobID, time.Since(d.began)
	write := func(ctx context.Context) error {
		ok, err := d.failJob(ctx, f.reason)
		if err == nil && !ok {
			err = cancelled(ctx)
		}
		if err != nil {
			return err
		}
		if ok {
			if f.flying {
				d.cfg.Trace.target(kind, took)
				d.log.Info("batch target", "job", id, "idx", idx, "outcome", kind, "took", took, "bytes", 0)
			}
			d.ended(id, d.job.Caller.Name, sift.JobFailed, d.since(d.job.CreatedAt), append(d.state.counts(), "reason", kind)...)
		}
		d.lost.remove(id)
		d.hub.change(id)
		return nil
	}
	err := record(ctx, write)
	if err == nil {
		return
	}
	f.full = errors.Is(err, ErrFull)
	d.lost.add(id, f)
	d.hub.change(id)
	d.retry(ctx, write)
}

func (d *drain) failJob(ctx context.Context, reason string) (bool, error) {
	l, release := d.lease()
	defer release()
	return d.cfg.Store.FailJob(ctx, d.job.Claim, reason, l)
}

// storeReason is the error of a job that the store has failed.
func storeReason(err error) string {
	if errors.Is(err, ErrFull) {
		return `store: the disk of the server is full, so that results cannot be kept; what was finished before can be read. Submit the list again with "fresh": true once there is room`
	}
	return `store: a result could not be kept; what was finished before can be read. Submit the list again with "fresh": true`
}

// record writes what must be written although ctx may have ended.
func record(ctx context.Context, write func(context.Context) error) error {
	ctx, done := recording(ctx)
	defer done()
	return write(ctx)
}

// retry writes until that succeeds or ctx ends. It does so beside the job, whose
// token goes to others.
func (d *drain) retry(ctx context.Context, write func(context.Context) error) {
	try := func() {
		defer d.retrying.Add(-1)
		for wait := firstStoreWait; ; wait = min(2*wait, longestStoreWait) {
			pause(ctx, between(wait), nil)
			if ctx.Err() != nil || record(ctx, write) == nil {
				return
			}
		}
	}
	if d.retrying.Add(1) > maxRetrying {
		try()
		return
	}
	d.others.Go(try)
}
