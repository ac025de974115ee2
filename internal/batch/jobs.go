package batch

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"time"

	"sift.build/sift/internal/sift"
)

// notFound is the same for a job of another and for one that does not exist.
func notFound() *sift.Failure {
	return sift.Fail(sift.CodeNotFound, "you have no such job; one that has ended is deleted some time after it was last read. Submit the list again")
}

// Job reads a job with its targets behind index after; -1: with all. They come
// without their results, which Result reads. With wait it answers once the
// status or the number of finished targets is another than at the call, at once
// when nothing can change any more or too many calls of the caller wait already,
// and after wait in any case. Reading renews the lease.
func (r *Runner) Job(ctx context.Context, caller sift.Caller, id string, after int, wait time.Duration) (*sift.Job, error) {
	if wait > 0 && r.mayWait(caller) {
		err := r.await(ctx, caller.Name, id, wait)
		r.waitedFor(caller)
		if err != nil {
			return nil, err
		}
	}
	l, release := r.lease()
	defer release()
	var job sift.Job
	var found bool
	err := r.read(func(o overlay) (err error) {
		var p Progress
		if o.restart { // the running target may stand before those that are asked for
			if p, _, err = r.cfg.Store.JobProgress(ctx, caller.Name, id, l); err != nil {
				return err
			}
		}
		if job, found, err = r.cfg.Store.Job(ctx, caller.Name, id, after, l); err != nil {
			return err
		}
		o.showJob(&job, p.InFlight)
		return nil
	})
	if err != nil {
		return nil, failure(ctx, err)
	}
	if !found {
		return nil, notFound()
	}
	return &job, nil
}

// Result reads the result of a target that is done, of a job that Job has
// answered. It never changes.
func (r *Runner) Result(ctx context.Context, caller sift.Caller, id string, idx int) (json.RawMessage, error) {
	result, found, err := r.cfg.Store.Result(ctx, caller.Name, id, idx)
	switch {
	case err != nil:
		return nil, failure(ctx, err)
	case !found:
		return nil, notFound()
	}
	return result, nil
}

// await returns when the job has changed or cannot any more, or after wait.
func (r *Runner) await(ctx context.Context, caller, id string, wait time.Duration) error {
	timeout := time.NewTimer(wait)
	defer timeout.Stop()
	var first Progress
	for n := 0; ; n++ {
		// Watched before it is read, so that no change falls between.
		changed, leave := r.hub.watch(id)
		p, err := r.progress(ctx, caller, id)
		if n == 0 {
			first = p
		}
		settled := !p.Status.Live() && !p.InFlight
		if err != nil || settled || p.Status != first.Status || p.TargetsDone != first.TargetsDone {
			leave()
			return err
		}
		select {
		case <-changed:
			leave()
		case <-timeout.C:
			leave()
			return nil
		case <-ctx.Done():
			leave()
			return failure(ctx, ctx.Err())
		}
	}
}

// How many calls of one caller may wait at once. What is more is answered with
// what there is. Behind the one local caller there may be many.
const (
	maxWaiting      = 100
	maxWaitingLocal = 1000
)

func (r *Runner) mayWait(caller sift.Caller) bool {
	most := maxWaiting
	if caller.Anonymous {
		most = maxWaitingLocal
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.waiting[caller.Name] >= most {
		return false
	}
	r.waiting[caller.Name]++
	return true
}

func (r *Runner) waitedFor(caller sift.Caller) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.waiting[caller.Name]--; r.waiting[caller.Name] == 0 {
		delete(r.waiting, caller.Name)
	}
}

func (r *Runner) progress(ctx context.Context, caller, id string) (Progress, error) {
	l, release := r.lease()
	defer release()
	var p Progress
	var found bool
	err := r.read(func(o overlay) (err error) {
		p, found, err = r.cfg.Store.JobProgress(ctx, caller, id, l)
		o.showProgress(id, &p)
		return err
	})
	if err != nil {
		return Progress{}, failure(ctx, err)
	}
	if !found {
		return Progress{}, notFound()
	}
	return p, nil
}

// Jobs lists the caller's jobs, newest first, without their targets.
func (r *Runner) Jobs(ctx context.Context, caller sift.Caller) ([]sift.Job, error) {
	l, release := r.lease()
	defer release()
	var jobs []sift.Job
	err := r.read(func(o overlay) (err error) {
		if jobs, err = r.cfg.Store.Jobs(ctx, caller.Name, maxListed, l); err != nil {
			return err
		}
		for i := range jobs {
			var p Progress
			if o.restart && mayFly(jobs[i].Status) {
				if p, _, err = r.cfg.Store.JobProgress(ctx, caller.Name, jobs[i].ID, l); err != nil {
					return err
				}
			}
			o.showJob(&jobs[i], p.InFlight)
		}
		return nil
	})
	if err != nil {
		return nil, failure(ctx, err)
	}
	return jobs, nil
}

// Cancel stops a job before its next target and tells what the job is now: one
// that had ended stays what it was.
func (r *Runner) Cancel(ctx context.Context, caller sift.Caller, id string) (sift.JobStatus, error) {
	// A caller that leaves meanwhile must not keep the wait for a slot from
	// being broken.
	write, done := recording(ctx)
	defer done()
	c, found, err := r.cancel(write, caller.Name, id)
	switch {
	case err != nil:
		return "", failure(write, err)
	case !found:
		return "", notFound()
	case c.Changed:
		counts := r.stop(id)
		r.ended(id, caller.Name, c.Status, r.since(c.CreatedAt), counts...)
		r.hub.change(id)
	}
	return c.Status, nil
}

func (r *Runner) cancel(ctx context.Context, caller, id string) (c Cancelled, found bool, err error) {
	l, release := r.lease()
	defer release()
	// A job that is shown as failed already does not become cancelled after it.
	failing, letGo := r.lost.hold()
	defer letGo()
	if _, ok := failing[id]; ok || r.unmarked.Load() {
		p, found, err := r.cfg.Store.JobProgress(ctx, caller, id, l)
		if p.Status.Live() {
			p.Status = sift.JobFailed
		}
		return Cancelled{Status: p.Status}, found, err
	}
	return r.cfg.Store.CancelJob(ctx, caller, id, l)
}

// claimed is a job that is being worked on.
type claimed struct {
	targets   int
	done      atomic.Int64
	cancelled chan struct{} // closed when it is
}

// counts is what the log says of it.
func (c *claimed) counts() []any { return []any{"targets", c.targets, "done", c.done.Load()} }

// claim notes that a job is being worked on, until forget is called.
func (r *Runner) claim(job Claimed) (c *claimed, forget func()) {
	c = &claimed{targets: len(job.Targets), cancelled: make(chan struct{})}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.claimed[job.JobID] = c
	return c, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.claimed, job.JobID)
	}
}

// stop breaks the wait of a cancelled job for a slot. It tells what the log says
// of the job. The store has cancelled it, which happens once.
func (r *Runner) stop(id string) (counts []any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, ok := r.claimed[id]
	if !ok {
		return nil
	}
	close(c.cancelled)
	return c.counts()
}
