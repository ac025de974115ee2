package batch

import (
	"context"
	"errors"
	"sync/atomic"

	"sift.build/sift/internal/sift"
)

// unmarked is whether jobs of the last process still have to be marked as
// failed, which the store did not let happen. Until then every job that is live
// in the store is one of them: none is created or claimed before. They are shown
// as they will be.
type unmarked struct {
	atomic.Bool
	marking chan struct{} // one place: who holds it marks
}

// Recover marks as failed what was live when the last process ended. It is
// called once, before anybody can submit and before Run. Where the store can be
// read and not written to, as on a full disk, that is not an error: those jobs
// are shown as failed, Run and Submit try again, and until they come through no
// job is taken.
func (r *Runner) Recover(ctx context.Context) error {
	err := r.mark(ctx)
	if err == nil || ctx.Err() != nil || errors.Is(err, ErrDamaged) {
		return err
	}
	if _, _, unreadable := r.cfg.Store.LiveJobs(ctx); unreadable != nil {
		return err
	}
	r.unmarked.Store(true)
	r.log.Error("batch jobs that were cut off by a restart cannot be marked yet; they are shown as failed, and no batch is taken until they are marked", "error", err)
	return nil
}

// settle marks what Recover could not mark. Nothing that is live is the work of
// this process before it has returned nil.
func (r *Runner) settle(ctx context.Context) error {
	if !r.unmarked.Load() {
		return nil
	}
	select {
	case r.unmarked.marking <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-r.unmarked.marking }()
	if !r.unmarked.Load() {
		return nil // by another, meanwhile; once more would mark what was created since
	}
	if err := record(ctx, r.mark); err != nil {
		return err
	}
	r.log.Info("batch jobs that were cut off by a restart are marked now")
	return nil
}

func (r *Runner) mark(ctx context.Context) error {
	l, release := r.lease()
	defer release()
	marked, err := r.cfg.Store.MarkInFlightFailed(ctx, reasonRestart, l.Now)
	if err != nil {
		return err
	}
	r.unmarked.Store(false)
	for _, m := range marked {
		status := sift.JobCancelled
		if m.Live {
			status = sift.JobFailed
			r.cfg.Trace.job(reasonRestart, 0)
		}
		for range m.Targets {
			r.cfg.Trace.target(reasonRestart, 0)
		}
		r.logJob(m.JobID, m.Caller, status, "reason", reasonRestart, "in_flight", m.Targets)
	}
	return nil
}

// overlay is what is known of jobs and could not be written yet. Whoever reads
// the store looks here first.
type overlay struct {
	restart bool // whatever is live or in flight was cut off by a restart
	failing failingJobs
}

// read reads from the store. fn may be called twice, and the second call counts:
// what was marked during the first may have been read before that or after it.
func (r *Runner) read(fn func(overlay) error) error {
	for {
		o := overlay{restart: r.unmarked.Load(), failing: r.lost.look()}
		if err := fn(o); err != nil || !o.restart || r.unmarked.Load() {
			return err
		}
	}
}

// showJob makes a job that the store gave look as it will when what is known of
// it has been written. inFlight says whether a target of it is running.
func (o overlay) showJob(j *sift.Job, inFlight bool) {
	f, lost := o.failing[j.ID]
	switch {
	case o.restart:
		f = failing{reason: reasonRestart, flying: inFlight}
	case !lost || !j.Status.Live():
		return
	}
	if j.Status.Live() {
		j.Status, j.Error = sift.JobFailed, f.reason
	}
	if f.flying {
		j.TargetsDone++
	}
	for i := range j.Targets {
		if t := &j.Targets[i]; t.Status == sift.TargetRunning {
			t.Status, t.Error, t.Hint = sift.TargetFailed, f.reason, sift.HintFresh
		}
	}
}

func (o overlay) showProgress(id string, p *Progress) {
	_, lost := o.failing[id]
	if !o.restart && !(lost && p.Status.Live()) {
		return
	}
	p.InFlight = false // so that nobody waits for it
	if p.Status.Live() {
		p.Status = sift.JobFailed
	}
}

// mayFly says whether a target of a job in that state may be running.
func mayFly(s sift.JobStatus) bool { return s == sift.JobRunning || s == sift.JobCancelled }
