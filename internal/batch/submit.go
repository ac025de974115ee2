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
// configuration does not say it. At more the
// caller's own finished jobs go, so that nobody can push out the results of
// others with lists that nothing comes of.
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
	created, err := r.createAfterRecovery(ctx, j)
	if err != nil {
		return sift.Submitted{}, r.refusal(ctx, err)
	}
	answer := sift.Submitted{JobID: created.ID, Status: created.Status, Targets: created.Targets, Reused: created.Reused}
	if !created.Reused {
		r.cfg.Trace.job("created", 0)
		r.logJob(created.ID, caller.Name, created.Status, "targets", created.Targets)
		select {
		case r.wake <- struct{}{}:
		default: // every worker will look for a job before it rests
		}
		return answer, nil
	}
	r.cfg.Trace.job("reused", 0)
	if answer.Status == sift.JobFailed || answer.Status == sift.JobCancelled {
		answer.Hint = sift.HintFresh
	}
	return answer, nil
}

// createAfterRecovery sees to it that no job is made as long as those of before
// are not marked: it would be marked with them.
func (r *Runner) createAfterRecovery(ctx context.Context, j NewJob) (Created, error) {
	if r.unmarked.Load() {
		if err := record(ctx, r.mark); err != nil {
			return Created{}, err
		}
	}
	return r.create(ctx, j)
}

func (r *Runner) create(ctx context.Context, j NewJob) (Created, error) {
	l, release := r.lease()
	defer release()
	j.CreatedAt = l.Now.UTC().Truncate(time.Millisecond)
	failing := r.overlay()
	c, err := r.cfg.Store.CreateJob(ctx, j, Caps{PerCaller: r.cfg.JobsPerCaller, Total: r.cfg.JobsTotal, ListBytes: cmp.Or(r.cfg.ListBytes, maxLists)}, l)
	if _, ok := failing.of(c.ID); ok && c.Status.Live() {
		c.Status = sift.JobFailed
	}
	return c, err
}

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
		list = append(list, canonical{URL: url, options: r.defaults(o)})
		stored, err := encode(o)
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
	over, ok := errors.AsType[*CapError](err)
	switch {
	case errors.Is(err, ErrFull):
		f := sift.Fail(sift.CodeCap, "the disk of the server is full, so that no batch can be taken; fetches go on. Try again once there is room").
			WithHint(sift.HintRetry).WithCause(err)
		f.RetryAfter = fullRetryAfter
		return f
	case !ok:
		return failure(ctx, err)
	}
	var f *sift.Failure
	_, lost := r.overlay().of(over.JobID)
	switch {
	case over.Cap == CapPerCaller && lost:
		f = sift.Fail(sift.CodeCap, "that your batch job %s has failed cannot be written down yet, and until then it counts as one that has not ended; "+
			"the server's store cannot be written to, perhaps because its disk is full. Try again once there is room", over.JobID)
	case over.Cap == CapPerCaller:
		f = sift.Fail(sift.CodeCap, "%s, and jobs_per_caller allows %d; %s", liveJobs(over), over.Limit, wayOut(over))
	case over.Cap == CapTotal:
		f = sift.Fail(sift.CodeCap, "all %d places for batch jobs (jobs_total) are taken by jobs that have not ended; try again in a while", over.Limit)
	default:
		f = sift.Fail(sift.CodeCap, "the lists of your batch jobs that have not ended take all the room there is for lists, %d bytes; try again when one has ended", over.Limit)
	}
	f = f.WithHint(sift.HintRetry).WithCause(over)
	f.RetryAfter = capRetryAfter
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
