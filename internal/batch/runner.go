package batch

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"sift.build/sift/internal/sift"
)

// Bounds that are not for the operator to choose.
const (
	maxResult     = 256 << 10 // bytes of one stored result
	maxJob        = 8 << 20   // bytes of a job, as the store counts
	keptForOthers = 1 << 10   // bytes kept back for each target still to come, so that a failure can be told
	maxListed     = 10_000    // jobs of one caller in a list; what their lists may take is bounded

	sweepEvery = time.Minute
	pollEvery  = 15 * time.Second // for a job that nobody was woken for
	storeTime  = 10 * time.Second // for what must be recorded, whoever has left
)

// reasonRestart is the error of what was live or in flight when the process
// ended.
const reasonRestart = "restart"

// Config is what a Runner is made from. With the zero value of a cap or of
// Workers nothing is accepted, or nothing done.
type Config struct {
	Store Store
	Fetch FetchFunc
	Check CheckFunc

	// Known says whether there is still a caller of that name. A job of one who
	// is not is given up before its next target. nil: all are known.
	Known func(caller string) bool

	// What the service uses where a target says nothing, in seconds, and Timeout
	// where it says more. They are for the canonical form alone. With a Timeout of
	// 0 timeouts are told apart as they are written.
	MaxAge  int
	Timeout float64

	TargetsPerJob int
	JobsPerCaller int // live at once
	JobsTotal     int // live at once
	Workers       int // targets fetched at once, each holding one slot at most

	TTL      time.Duration // of the lease
	MaxBytes int64         // of all results together, as Store.BatchNbytes counts

	// ListBytes is what the lists of one caller's jobs may take. 0: 8 MiB.
	ListBytes int64

	// Grace is how long the targets in flight may go on after Run's context has
	// ended.
	Grace time.Duration

	Log   *slog.Logger // nil: nothing is logged
	Trace *Trace       // nil: nobody is told
}

// Trace is told what becomes of jobs and targets. Each may be nil.
type Trace struct {
	// Job is told of created, reused, done, partial, failed, cancelled and
	// restart. took runs from the job's creation, and is 0 where it has not
	// ended or when that is not known.
	Job func(outcome string, took time.Duration)
	// Target is told of every target that was finished: "ok" or the code of its
	// failure, or restart, store or unauthorized where it failed with its job.
	// took has the wait for a slot in it, and is 0 for restart.
	Target func(outcome string, took time.Duration)
	// Stored is told how large a result is.
	Stored func(bytes int)
}

func (t *Trace) job(outcome string, took time.Duration) {
	if t != nil && t.Job != nil {
		t.Job(outcome, took)
	}
}

func (t *Trace) target(outcome string, took time.Duration) {
	if t != nil && t.Target != nil {
		t.Target(outcome, took)
	}
}

func (t *Trace) stored(bytes int) {
	if t != nil && t.Stored != nil {
		t.Stored(bytes)
	}
}

// Runner works on batch jobs. Make one with New.
type Runner struct {
	cfg   Config
	log   *slog.Logger
	clock *clock
	hub   hub
	wake  chan struct{} // one place, filled when there is a job to claim
	lost  lost

	unmarked unmarked
	tokens   tokens
	places   chan struct{} // of jobs that are claimed

	inFlight atomic.Int64
	retrying atomic.Int64

	mu      sync.Mutex
	claimed map[string]*claimed // by job
	waiting map[string]int      // calls that wait, by caller
}

// New makes a Runner. It starts nothing.
func New(c Config) *Runner {
	log := c.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Runner{
		cfg: c, log: log, clock: newClock(),
		hub:      hub{jobs: make(map[string]*watched)},
		wake:     make(chan struct{}, 1),
		lost:     lost{jobs: make(map[string]failing)},
		unmarked: unmarked{marking: make(chan struct{}, 1)},
		tokens:   tokens{free: max(c.Workers, 0)},
		places:   make(chan struct{}, max(c.JobsTotal, 0)),
		claimed:  make(map[string]*claimed),
		waiting:  make(map[string]int),
	}
}

// Run works on jobs until ctx ends. Then no target is started any more; those
// in flight have Config.Grace before they are cancelled. What they came to is
// recorded, but for those that were cut off: they and their jobs are left to the
// next Recover. Run returns nil when nothing that it started is running.
func (r *Runner) Run(ctx context.Context) error {
	// What is in flight outlives ctx, by Grace at most.
	fetching, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	var others, jobs sync.WaitGroup
	jobs.Go(func() { r.work(ctx, fetching, &jobs) })
	others.Go(func() { r.sweep(ctx) })
	idle := make(chan struct{})
	others.Go(func() {
		select {
		case <-ctx.Done():
		case <-idle:
			return
		}
		grace := time.NewTimer(r.cfg.Grace)
		defer grace.Stop()
		select {
		case <-grace.C:
			cut()
		case <-idle:
		}
	})
	jobs.Wait()
	close(idle)
	others.Wait()
	r.followClock(ctx) // what was set since the last sweep would be taken for time that has passed
	return nil
}

// InFlight is how many targets are being fetched now. Those that wait for a
// slot are not.
func (r *Runner) InFlight() int { return int(r.inFlight.Load()) }

// sweep keeps leases and clock in order.
func (r *Runner) sweep(ctx context.Context) {
	every := time.NewTicker(sweepEvery)
	defer every.Stop()
	for {
		r.followClock(ctx)
		l, release := r.lease()
		n, err := r.cfg.Store.SweepJobs(ctx, l)
		release()
		switch {
		case err != nil && ctx.Err() == nil:
			r.log.Error("batch jobs that have expired were not deleted", "error", err)
		case n > 0:
			r.log.Info("batch jobs expired", "jobs", n)
		}
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}
	}
}

func (r *Runner) followClock(ctx context.Context) {
	write, done := recording(ctx)
	defer done()
	moved, err := r.clock.follow(write, r.cfg.Store.ShiftLeases)
	switch {
	case err != nil:
		r.log.Error("the leases of batch jobs were not moved to a clock that was set", "error", err)
	case moved != 0:
		r.log.Warn("the clock was set; the leases of batch jobs moved with it", "by", moved)
	}
}

// lease is the time to judge leases by, valid until release is called.
func (r *Runner) lease() (l Lease, release func()) {
	now, release := r.clock.hold()
	return Lease{Now: now, TTL: r.cfg.TTL}, release
}

// recording is a context for what must be written although ctx may have ended.
func recording(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), storeTime)
}

// since is how long ago by the clock of leases, which may have been set, t was.
func (r *Runner) since(t time.Time) time.Duration { return max(r.clock.now().Sub(t), 0) }

// ended tells of a job that has come to its end.
func (r *Runner) ended(job, caller string, status sift.JobStatus, took time.Duration, more ...any) {
	r.cfg.Trace.job(string(status), took)
	r.logJob(job, caller, status, append(more, "took", took)...)
}

// logJob writes the one line of a job's change of state. Nothing of its targets
// is in it.
func (r *Runner) logJob(job, caller string, status sift.JobStatus, more ...any) {
	r.log.Info("batch job", append([]any{"job", job, "caller", caller, "status", string(status)}, more...)...)
}
