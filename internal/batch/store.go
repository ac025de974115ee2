package batch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"sift.build/sift/internal/sift"
)

// Store keeps the jobs and is the only authority on them: what a runner holds
// in memory decides nothing. A method is one transaction; when it returned nil
// its change is durable. A change of state names the state that it leaves, so
// that of two that race one is told that it came too late.
//
// A live job (queued or running) never expires and is never evicted. Any other
// is gone once its lease is older than Lease.TTL: every method treats it so,
// whether or not SweepJobs has deleted it yet. Renewing makes no lease older,
// whatever the clock says.
//
// A method for a caller sees that caller's own jobs and no others: found is
// false for another's exactly as for one that does not exist.
//
// Package storetest holds the tests that every Store must pass.
type Store interface {
	// CreateJob answers the newest job of the key while it has not expired, and
	// renews its lease: Created.Reused. Otherwise, and always with NewJob.Fresh,
	// it creates one, queued, which is the newest of its key from then on, if
	// the caps allow it: else the error is a *CapError and nothing has changed.
	// Two at once with one key create one job. Jobs are kept apart by caller as
	// well as by key. A job without targets is an error.
	//
	// What the lists of a caller's jobs take (URLs, options and a fixed amount
	// for each job and target) is bounded by Caps.ListBytes, apart from the
	// results of all callers: the caller's own finished jobs make room for it,
	// oldest lease first, and nobody else's.
	CreateJob(ctx context.Context, j NewJob, caps Caps, l Lease) (Created, error)

	// ClaimJob makes the job that has been queued for longest running, and
	// gives it to the caller of ClaimJob alone. It is false when none is queued.
	ClaimJob(ctx context.Context) (Claimed, bool, error)

	// StartTarget makes a pending target running. It is false when the claim's
	// job is not running any more, or the claim is not the newest of the job.
	StartTarget(ctx context.Context, c Claim, idx int) (bool, error)

	// FinishTarget makes a running target done or failed, with what came of it:
	// once, together with targets_done, nbytes and the lease. With the last
	// target a running job ends: done, partial or failed. The target in flight
	// of a cancelled job is still stored. Finished jobs are evicted, oldest
	// lease first and never this one, until all jobs together are within
	// MaxBytes; where that is not enough the error is ErrNoRoom and nothing has
	// changed. One whose nbytes are 0 stays, whatever its lease: nothing would be
	// won, and its caller would lose it. nbytes, which begin at 0, grow by the
	// length of result, error and hint, and by nothing else. It is not stored
	// (Finished is zero) when the target is not running any more, or the claim is
	// not the newest, or the job is gone.
	FinishTarget(ctx context.Context, c Claim, o Outcome, l Lease) (Finished, error)

	// ReleaseTarget makes a running target of a cancelled job pending again: it
	// was waiting for a slot, and nothing has been fetched. It is false when
	// there is no such target.
	ReleaseTarget(ctx context.Context, c Claim, idx int) (bool, error)

	// FailJob makes a running job failed for a reason of our own, and a target
	// of it that was running failed with it and HintFresh (it counts as done).
	// It renews the lease. MaxBytes is not looked at: there is always room to
	// say why. It is false when the job is not running, or the claim is not the
	// newest.
	FailJob(ctx context.Context, c Claim, reason string, l Lease) (bool, error)

	// CancelJob makes a queued or running job cancelled; of any other it only
	// tells the state. The lease is left alone.
	CancelJob(ctx context.Context, caller, id string, l Lease) (job Cancelled, found bool, err error)

	// Job reads a job with the targets behind index after (-1: all), of one
	// moment, and renews its lease. Its targets come without their results, of
	// which JobTarget.ResultBytes tells the size: those of a whole job are up to
	// 8 MiB, and must not be in memory for as long as somebody takes to read
	// them. A lease that cannot be renewed, as on a full disk, does not make the
	// reading fail.
	Job(ctx context.Context, caller, id string, after int, l Lease) (job sift.Job, found bool, err error)

	// Result is the result of a target that is done. It never changes. It renews
	// nothing, and is there as long as the job is, expired or not.
	Result(ctx context.Context, caller, id string, idx int) (result json.RawMessage, found bool, err error)

	// JobProgress is what of a job can change, without its results. It renews
	// nothing.
	JobProgress(ctx context.Context, caller, id string, l Lease) (p Progress, found bool, err error)

	// Jobs lists at most limit jobs of a caller, the newest first, without
	// their targets. It renews nothing.
	Jobs(ctx context.Context, caller string, limit int, l Lease) ([]sift.Job, error)

	// LiveJobs counts the jobs that are queued and that are running.
	LiveJobs(ctx context.Context) (queued, running int, err error)

	// SweepJobs deletes the jobs that have expired.
	SweepJobs(ctx context.Context, l Lease) (n int, err error)

	// EvictBatchOldest deletes the finished job with the oldest lease. It is
	// false when there is none.
	EvictBatchOldest(ctx context.Context) (bytes int64, found bool, err error)

	// BatchNbytes is what the results of all jobs together take, as counted
	// against MaxBytes.
	BatchNbytes(ctx context.Context) (int64, error)

	// MarkInFlightFailed makes every live job failed with that reason, and every
	// target that was running failed with it and HintFresh, also in a cancelled
	// job (where it counts as done too). It renews the leases of the jobs that
	// it changes, and gives those back, oldest job first. It is for the time before anything else is done with the store.
	MarkInFlightFailed(ctx context.Context, reason string, now time.Time) ([]Marked, error)

	// ShiftLeases moves every lease by d: the clock that they are measured with
	// has been set.
	ShiftLeases(ctx context.Context, d time.Duration) error
}

// Marked is a job that MarkInFlightFailed has changed.
type Marked struct {
	JobID   string
	Caller  string
	Live    bool // it was, and is failed now; else it was cancelled, with a target in flight
	Targets int  // of it that were running, and are failed now
}

// Lease is the time to judge leases by: a lease older than TTL has expired.
type Lease struct {
	Now time.Time
	TTL time.Duration
}

// ExpiredAt is the newest lease that has expired.
func (l Lease) ExpiredAt() time.Time { return l.Now.Add(-l.TTL) }

// NewJob is what a job is created from.
type NewJob struct {
	ID        string
	Caller    sift.Caller
	IdemKey   string // 64 hexadecimal digits; the caller is part of it
	Fresh     bool   // make a new job whatever there is
	CreatedAt time.Time
	Targets   []NewTarget
}

// NewTarget is one target as it is stored.
type NewTarget struct {
	URL     string          // as its caller wrote it
	Options json.RawMessage // the rest of the target; says nothing to the store
}

// Caps are the caps that CreateJob holds.
type Caps struct {
	PerCaller int   // live jobs of one caller
	Total     int   // live jobs in all
	ListBytes int64 // of the lists of all jobs of one caller, live or not
}

// Created is what CreateJob came to.
type Created struct {
	ID      string
	Status  sift.JobStatus
	Targets int
	Reused  bool
}

// Claim names one claim on a job: every write about its targets carries it.
type Claim struct {
	JobID string
	Epoch int64 // counts the claims on this job
}

// Claimed is a job that has been claimed.
type Claimed struct {
	Claim
	Caller    sift.Caller
	CreatedAt time.Time
	NBytes    int64 // that its results take already
	Targets   []ClaimedTarget
}

// ClaimedTarget is a target that is still to be fetched.
type ClaimedTarget struct {
	Idx int
	NewTarget
}

// Outcome is what came of a target.
type Outcome struct {
	Idx      int
	Result   json.RawMessage // the envelope of an answer; nil: the target failed
	Error    string          // of a failure: code, colon, sentence
	Hint     sift.Hint
	MaxBytes int64 // of all jobs together, as BatchNbytes counts
}

// Finished is what FinishTarget came to.
type Finished struct {
	Stored bool
	Job    sift.JobStatus // of the job, after it
	NBytes int64          // that the results of the job take now
	// Evicted is how many finished jobs had to go.
	Evicted int
}

// Cancelled is what CancelJob came to.
type Cancelled struct {
	Status    sift.JobStatus // now
	Changed   bool           // it was live before
	CreatedAt time.Time
}

// Progress is what of a job can change.
type Progress struct {
	Status      sift.JobStatus
	TargetsDone int
	InFlight    bool // a target of it is running
}

// Cap names a cap on jobs.
type Cap string

// The caps.
const (
	CapTargets   Cap = "targets_per_job"
	CapPerCaller Cap = "jobs_per_caller"
	CapTotal     Cap = "jobs_total"
	CapLists     Cap = "lists" // what the lists of the caller's live jobs alone take
)

// CapError says that a submit is over a cap.
type CapError struct {
	Cap   Cap
	Limit int64
	JobID string // with CapPerCaller: the caller's oldest live job, "" where there is none
}

func (e *CapError) Error() string { return fmt.Sprintf("over %s, which is %d", e.Cap, e.Limit) }

// What a Store can run out of, for errors.Is.
var (
	ErrNoRoom = errors.New("no room for the result within max_bytes")
	ErrFull   = errors.New("no room on the store's disk")
)

// ErrDamaged is, for errors.Is, what no waiting makes better.
var ErrDamaged = errors.New("store damaged")
