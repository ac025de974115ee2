package batch

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"sift.build/sift/internal/sift"
)

// What a caller over a cap is told to wait. A job takes minutes as a rule.
const capRetryAfter = 10 * time.Second

// And where the server's disk is full. That takes somebody.
const fullRetryAfter = time.Minute

// maxList is how much a list may take as it is stored, in bytes. The bodies
// that hold one are smaller; this is for the doors without a body.
const maxList = 1 << 20

// maxLists is what the lists of a caller's jobs may take, in bytes, where the
// configuration does not say it. At more the caller's own finished jobs go, so
// that nobody can push out the results of others with lists that nothing comes of.
const maxLists = 8 << 20

// Submit makes a job of a list, or finds the one that the same caller has made
// of the same list, and returns at once. With fresh a new one is made in any
// case.
func (r *Runner) Submit(ctx context.Context, caller sift.Caller, targets []sift.Target, fresh bool) (sift.Submitted, error) {
	j, err := r.newJob(caller, targets)
	if err != nil {
		return sift.Submitted{}, err
	}
	j.Fresh = fresh
	created, err := r.create(ctx, j)
	if err != nil {
		return sift.Submitted{}, r.refusal(ctx, err)
	}
	answer := sift.Submitted{JobID: created.ID, Status: created.Status, Targets: created.Targets, Reused: created.Reused}
	if !created.Reused {
		r.cfg.Trace.job("created", 0)
		r.logJob(created.ID, caller.Name, created.Status, "targets", created.Targets)
		select {
		case r.wake <- struct{}{}:
		default: // it will be looked for before anything rests
		}
		return answer, nil
	}
	r.cfg.Trace.job("reused", 0)
	if answer.Status == sift.JobFailed || answer.Status == sift.JobCancelled {
		answer.Hint = sift.HintFresh
	}
	return answer, nil
}

func (r *Runner) create(ctx context.Context, j NewJob) (Created, error) {
	for {
		err := r.settle(ctx)
		switch {
		case err == nil:
			return r.createNow(ctx, j, r.cfg.JobsPerCaller, r.cfg.JobsTotal)
		case ctx.Err() != nil:
			return Created{}, err
		}
		// A job that is there already can be told of, as it is shown. With these
		// caps none is created, fresh or not.
		c, found := r.createNow(ctx, j, 0, 0)
		if !r.unmarked.Load() {
			continue // what was live just now may have been created since
		}
		if found != nil {
			return Created{}, &unsettledError{err}
		}
		if c.Status.Live() {
			c.Status = sift.JobFailed
		}
		return c, nil
	}
}

func (r *Runner) createNow(ctx context.Context, j NewJob, perCaller, total int) (Created, error) {
	l, release := r.lease()
	defer release()
	j.CreatedAt = l.Now.UTC().Truncate(time.Millisecond)
	failing := r.lost.look()
	c, err := r.cfg.Store.CreateJob(ctx, j, Caps{PerCaller: perCaller, Total: total, ListBytes: cmp.Or(r.cfg.ListBytes, maxLists)}, l)
	if _, ok := failing[c.ID]; ok && c.Status.Live() {
		c.Status = sift.JobFailed
	}
	if over, ok := errors.AsType[*CapError](err); ok && over.Cap == CapPerCaller {
		f, ok := failing[over.JobID]
		if !ok { // or it came to be shown as failed meanwhile
			f, ok = r.lost.look()[over.JobID]
		}
		if ok {
			return Created{}, &lostError{over, f}
		}
	}
	return c, err
}

// unsettledError says that no job can be created, because those of the last
// process cannot be marked.
type unsettledError struct{ cause error }

func (e *unsettledError) Error() string {
	return fmt.Sprintf("jobs of the last process are not marked: %v", e.cause)
}

func (e *unsettledError) Unwrap() error { return e.cause }

// lostError says that the caller's place is taken by a job that is only shown as
// failed.
type lostError struct {
	over *CapError
	job  failing
}

func (e *lostError) Error() string { return e.over.Error() }

func (e *lostError) Unwrap() error { return e.over }

// newJob checks a list.
func (r *Runner) newJob(caller sift.Caller, targets []sift.Target) (NewJob, error) {
	switch n := len(targets); {
	case n == 0:
		return NewJob{}, sift.Fail(sift.CodeInvalid, "targets is empty; a batch has at least one")
	case n > r.cfg.TargetsPerJob:
		over := &CapError{Cap: CapTargets, Limit: int64(r.cfg.TargetsPerJob)}
		return NewJob{}, sift.Fail(sift.CodeCap, "%d targets, and a batch has at most %d; submit them as several batches, one after the other", n, r.cfg.TargetsPerJob).WithCause(over)
	}
	j := NewJob{ID: newID(), Caller: caller, Targets: make([]NewTarget, 0, len(targets))}
	list := make([]canonical, 0, len(targets))
	size := 0
	for i, t := range targets {
		url, err := r.check(i, t)
		if err != nil {
			return NewJob{}, err
		}
		o := optionsOf(t)
		list = append(list, r.cfg.canonical(url, o))
		stored, err := sift.EncodeJSON(o)
		if err != nil {
			return NewJob{}, sift.AsFailure(err)
		}
		j.Targets = append(j.Targets, NewTarget{URL: t.URL, Options: stored})
		size += len(t.URL) + len(stored)
	}
	if size > maxList {
		return NewJob{}, sift.Fail(sift.CodeTooLong, "the list takes %d bytes, and a batch takes at most %d; submit it as several batches, one after the other", size, maxList)
	}
	key, err := idemKey(caller.Name, list)
	if err != nil {
		return NewJob{}, sift.AsFailure(err)
	}
	j.IdemKey = key
	return j, nil
}

// check refuses a target before anything is done, and says which it was.
func (r *Runner) check(i int, t sift.Target) (url string, err error) {
	if err := storable(t); err != nil {
		f := sift.Fail(sift.CodeInvalid, "targets[%d]: %s", i, err)
		f.URL = strings.ToValidUTF8(t.URL, "�")
		return "", f
	}
	url, err = r.cfg.Check(t)
	if err != nil {
		f := *sift.AsFailure(err)
		f.Message = fmt.Sprintf("targets[%d]: %s", i, f.Message)
		f.URL = t.URL
		return "", &f
	}
	return url, nil
}

// newID is 130 random bits as lower-case letters and digits.
func newID() string { return strings.ToLower(rand.Text()) }

// refusal is why no job was made, for its caller.
func (r *Runner) refusal(ctx context.Context, err error) error {
	var text string
	retryAfter := capRetryAfter
	over, isCap := errors.AsType[*CapError](err)
	lost, isLost := errors.AsType[*lostError](err)
	_, unsettled := errors.AsType[*unsettledError](err)
	switch {
	case ctx.Err() != nil:
		return failure(ctx, err)
	case errors.Is(err, ErrFull):
		text = "the disk of the server is full, so that no batch can be taken; fetches go on. Try again once there is room"
		retryAfter = fullRetryAfter
	case unsettled:
		text = "the server cannot write to its store, so that no batch can be taken; fetches go on. Try again later"
		retryAfter = fullRetryAfter
	case isLost:
		why := "the server cannot write to its store"
		if lost.job.full {
			why = "the disk of the server is full"
		}
		text = fmt.Sprintf("your batch job %s has failed, but its end cannot be recorded yet because %s, so that it counts as one of the %d that jobs_per_caller allows; try again later",
			over.JobID, why, over.Limit)
		retryAfter = fullRetryAfter
	case !isCap:
		return failure(ctx, err)
	case over.Cap == CapPerCaller:
		text = fmt.Sprintf("%s, and jobs_per_caller allows %d; %s", liveJobs(over), over.Limit, wayOut(over))
	case over.Cap == CapTotal:
		text = fmt.Sprintf("all %d places for batch jobs (jobs_total) are taken by jobs that have not ended; try again in a while", over.Limit)
	default:
		text = fmt.Sprintf("the lists of your batch jobs that have not ended take all the room there is for lists, %d bytes; try again when one has ended", over.Limit)
	}
	f := sift.Fail(sift.CodeCap, "%s", text).WithHint(sift.HintRetry).WithCause(err)
	f.RetryAfter = retryAfter
	return f
}

func liveJobs(over *CapError) string {
	if over.JobID == "" {
		return "a caller's batch jobs are limited" // to none
	}
	return "your batch job " + over.JobID + " has not ended"
}

func wayOut(over *CapError) string {
	if over.JobID == "" {
		return "ask the operator"
	}
	return "wait for it or cancel it, then submit again"
}

// failure is an error of the store for a caller.
func failure(ctx context.Context, err error) *sift.Failure {
	switch ctx.Err() {
	case context.Canceled:
		return sift.Fail(sift.CodeCancel, "the caller went away").WithCause(err)
	case context.DeadlineExceeded:
		return sift.Fail(sift.CodeTimeout, "the batch store did not answer in time; try again").WithHint(sift.HintRetry).WithCause(err)
	}
	return sift.AsFailure(err)
}
