package dcache

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"sift.build/sift/internal/batch"
	"sift.build/sift/internal/sift"
)

// renewWait is how long a read waits for its turn to renew a lease.
const renewWait = 2 * time.Second

const (
	sqlJob = `SELECT id, status, targets_total, targets_done, created_at, error, lease FROM batch_job
	WHERE id = ? AND caller = ? AND (` + sqlLive + ` OR lease > ?)`

	sqlTargets = `SELECT idx, status, error, hint, url, coalesce(octet_length(result), 0) FROM batch_target WHERE job_id = ? AND idx > ? ORDER BY idx`

	sqlResult = `SELECT result FROM batch_target WHERE job_id = ? AND idx = ? AND status = 'done'
		AND EXISTS (SELECT 1 FROM batch_job WHERE id = batch_target.job_id AND caller = ?)`
)

// Job reads a job and its targets: see batch.Store.
func (db *DB) Job(ctx context.Context, caller, id string, after int, l batch.Lease) (job sift.Job, found bool, err error) {
	const op = "read job"
	job, lease, err := db.readJob(ctx, caller, id, after, l)
	if errors.Is(err, sql.ErrNoRows) {
		return sift.Job{}, false, nil
	}
	if err != nil {
		return sift.Job{}, false, db.explain(op, err)
	}
	if after < 0 && len(job.Targets) != job.TargetsTotal {
		return sift.Job{}, false, &fault{kind: ErrCorrupt, text: op + ": " + db.sentence(ErrCorrupt),
			cause: fmt.Errorf("a job has %d of %d targets", len(job.Targets), job.TargetsTotal)}
	}
	if worthRenewing(job.Status, lease, l) {
		if err := db.renew(ctx, caller, id, l); err != nil {
			db.trace.failed(err)
		}
	}
	return job, true, nil
}

// Result reads the result of a target: see batch.Store.
func (db *DB) Result(ctx context.Context, caller, id string, idx int) (json.RawMessage, bool, error) {
	var result []byte
	err := db.reader.QueryRowContext(ctx, sqlResult, id, idx, caller).Scan(&result)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, db.explain("read result", err)
	}
	return result, true, nil
}

// readJob reads in one transaction, so that a job and its targets are of one
// moment, and holds the connection no longer than that.
func (db *DB) readJob(ctx context.Context, caller, id string, after int, l batch.Lease) (job sift.Job, lease int64, err error) {
	tx, err := db.reader.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return job, 0, err
	}
	defer func() { _ = tx.Rollback() }() // of a transaction that has written nothing
	var created int64
	err = tx.QueryRowContext(ctx, sqlJob, id, caller, l.ExpiredAt().UnixMilli()).Scan(
		&job.ID, &job.Status, &job.TargetsTotal, &job.TargetsDone, &created, &job.Error, &lease)
	if err != nil {
		return job, 0, err
	}
	job.CreatedAt = time.UnixMilli(created).UTC()
	job.Targets = []sift.JobTarget{} // nil is a list of jobs
	rows, err := tx.QueryContext(ctx, sqlTargets, id, after)
	if err != nil {
		return job, 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var t sift.JobTarget
		if err := rows.Scan(&t.Idx, &t.Status, &t.Error, &t.Hint, &t.URL, &t.ResultBytes); err != nil {
			return job, 0, err
		}
		job.Targets = append(job.Targets, t)
	}
	return job, lease, rows.Err()
}

// What a lease must gain to be worth a durable commit. A job that has ended is
// kept for as long as it is read, and goes before others when it is not: each
// read counts, but for those of somebody who does nothing else. A live one goes
// to nobody's room and does not expire, and its next target renews the lease, so
// that asking for it often need not cost much.
const (
	endedGain = 50 * time.Millisecond
	liveGain  = 1000 // this part of TTL
)

func worthRenewing(status sift.JobStatus, lease int64, l batch.Lease) bool {
	gain := time.Duration(l.Now.UnixMilli()-lease) * time.Millisecond
	least := l.TTL / liveGain
	if !status.Live() {
		least = min(least, endedGain)
	}
	return gain > 0 && gain >= least
}

// The job may have expired or gone since it was read.
const sqlRenew = `UPDATE batch_job SET lease = ?1
	WHERE id = ?2 AND caller = ?3 AND (` + sqlLive + ` OR lease > ?4) AND lease < ?1`

func (db *DB) renew(ctx context.Context, caller, id string, l batch.Lease) error {
	ctx, cancel := context.WithTimeout(ctx, renewWait)
	defer cancel()
	_, err := db.changeOne(ctx, "renew lease", sqlRenew, l.Now.UnixMilli(), id, caller, l.ExpiredAt().UnixMilli())
	return err
}

const sqlProgress = `SELECT status, targets_done,
		EXISTS (SELECT 1 FROM batch_target WHERE job_id = batch_job.id AND batch_target.status = 'running')
	FROM batch_job WHERE id = ? AND caller = ? AND (` + sqlLive + ` OR lease > ?)`

// JobProgress is what of a job can change: see batch.Store.
func (db *DB) JobProgress(ctx context.Context, caller, id string, l batch.Lease) (p batch.Progress, found bool, err error) {
	err = db.reader.QueryRowContext(ctx, sqlProgress, id, caller, l.ExpiredAt().UnixMilli()).Scan(&p.Status, &p.TargetsDone, &p.InFlight)
	if errors.Is(err, sql.ErrNoRows) {
		return batch.Progress{}, false, nil
	}
	if err != nil {
		return batch.Progress{}, false, db.explain("read progress", err)
	}
	return p, true, nil
}

const sqlJobs = `SELECT id, status, targets_total, targets_done, created_at, error FROM batch_job
	WHERE caller = ? AND (` + sqlLive + ` OR lease > ?) ORDER BY seq DESC LIMIT ?`

// Jobs lists a caller's jobs: see batch.Store.
func (db *DB) Jobs(ctx context.Context, caller string, limit int, l batch.Lease) ([]sift.Job, error) {
	jobs, err := db.readJobs(ctx, caller, limit, l)
	return jobs, db.explain("list jobs", err)
}

func (db *DB) readJobs(ctx context.Context, caller string, limit int, l batch.Lease) (jobs []sift.Job, err error) {
	rows, err := db.reader.QueryContext(ctx, sqlJobs, caller, l.ExpiredAt().UnixMilli(), max(limit, 0))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var j sift.Job
		var created int64
		if err := rows.Scan(&j.ID, &j.Status, &j.TargetsTotal, &j.TargetsDone, &created, &j.Error); err != nil {
			return nil, err
		}
		j.CreatedAt = time.UnixMilli(created).UTC()
		jobs = append(jobs, j)
	}
	return jobs, rows.Err()
}

const sqlLiveJobs = `SELECT coalesce(sum(status = 'queued'), 0), coalesce(sum(status = 'running'), 0) FROM batch_job WHERE ` + sqlLive

// LiveJobs counts live jobs: see batch.Store.
func (db *DB) LiveJobs(ctx context.Context) (queued, running int, err error) {
	err = db.reader.QueryRowContext(ctx, sqlLiveJobs).Scan(&queued, &running)
	return queued, running, db.explain("count live jobs", err)
}
