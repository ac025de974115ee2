package dcache

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"sift.build/sift/internal/batch"
	"sift.build/sift/internal/sift"
)

var _ batch.Store = (*DB)(nil)

// Whether a job may be deleted, and is there for its caller. They stand in the
// very statement that deletes or reads, and are written as the partial indexes
// are, which serve only a statement that says the same.
const (
	sqlLive  = `status IN ('queued', 'running')`
	sqlEnded = `status NOT IN ('queued', 'running')`
)

// What a row takes beside its own texts: its numbers, its places in the
// indexes, the job's id in both, and what is lost at the ends of pages.
const (
	jobOverhead    = 640
	targetOverhead = 256
)

// change is write for what is asked for by a runner: its errors say what
// happened, and a full disk does not stay full of what did not fit.
func (db *DB) change(ctx context.Context, op string, fn func(ctx context.Context, tx *sql.Tx) error) error {
	err := db.write(ctx, fn)
	switch _, over := errors.AsType[*batch.CapError](err); {
	case err == nil:
		db.shortenLongWAL(ctx)
		return nil
	case over, errors.Is(err, batch.ErrNoRoom), errors.Is(err, errMuchToEvict):
		return fmt.Errorf("%s: %w", op, err)
	case kindOf(err) == ErrFull:
		_, _ = db.truncateWAL(ctx)
	}
	return db.explain(op, err)
}

// changeOne is a change by one statement of at most one row.
func (db *DB) changeOne(ctx context.Context, op, stmt string, args ...any) (changed bool, err error) {
	err = db.change(ctx, op, func(ctx context.Context, tx *sql.Tx) error {
		n, err := rowsChanged(tx.ExecContext(ctx, stmt, args...))
		changed = n > 0
		return err
	})
	return changed && err == nil, err
}

// within is a statement of the writer in one of its transactions, which closes
// it when it ends.
func within(ctx context.Context, tx *sql.Tx, stmt *sql.Stmt) statement {
	return tx.StmtContext(ctx, stmt)
}

type statement interface {
	ExecContext(ctx context.Context, args ...any) (sql.Result, error)
	QueryRowContext(ctx context.Context, args ...any) *sql.Row
}

// rowsChanged is for the two results of an Exec.
func rowsChanged(r sql.Result, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

const (
	sqlNewest = `SELECT id, status, targets_total, lease FROM batch_job
	WHERE caller = ? AND idem_key = ? AND newest = 1 AND (` + sqlLive + ` OR lease > ?)`

	// The plus keeps SQLite to the index of live jobs, of which there are few.
	sqlLiveOf = `SELECT count(*), coalesce((SELECT id FROM batch_job WHERE ` + sqlLive + ` AND +caller = ?1 ORDER BY seq LIMIT 1), '')
	FROM batch_job WHERE ` + sqlLive + ` AND +caller = ?1`

	sqlLiveInAll = `SELECT count(*) FROM batch_job WHERE ` + sqlLive

	// Also one that has expired and is not swept yet.
	sqlReplaced = `UPDATE batch_job SET newest = 0 WHERE caller = ? AND idem_key = ? AND newest = 1`

	sqlInsertJob = `INSERT INTO batch_job (
		id, caller, caller_class, caller_restricted, caller_anonymous, idem_key, newest,
		status, error, epoch, targets_total, targets_done, created_at, lease, nbytes, list_bytes)
	VALUES (?, ?, ?, ?, ?, ?, 1, 'queued', '', 0, ?, 0, ?, ?, 0, ?)`

	sqlInsertTarget = `INSERT INTO batch_target (job_id, idx, status, error, hint, url, options)
	VALUES (?, ?, 'pending', '', '', ?, CAST(? AS TEXT))`
)

// CreateJob reuses a job or creates one: see batch.Store.
func (db *DB) CreateJob(ctx context.Context, j batch.NewJob, caps batch.Caps, l batch.Lease) (batch.Created, error) {
	const op = "create job"
	if len(j.Targets) == 0 {
		return batch.Created{}, errors.New(op + ": it has no targets")
	}
	listBytes := int64(jobOverhead + len(j.ID) + len(j.Caller.Name) + len(j.Caller.Class) + len(j.IdemKey))
	for _, t := range j.Targets {
		listBytes += int64(targetOverhead + len(t.URL) + len(t.Options))
	}
	var c batch.Created
	create := func(ctx context.Context, tx *sql.Tx) error {
		c = batch.Created{}
		var lease int64
		err := tx.QueryRowContext(ctx, sqlNewest, j.Caller.Name, j.IdemKey, l.ExpiredAt().UnixMilli()).Scan(&c.ID, &c.Status, &c.Targets, &lease)
		switch {
		case err == nil && !j.Fresh:
			c.Reused = true
			if !worthRenewing(c.Status, lease, l) {
				return nil
			}
			_, err := tx.ExecContext(ctx, sqlRenew, l.Now.UnixMilli(), c.ID, j.Caller.Name, l.ExpiredAt().UnixMilli())
			return err
		case err != nil && !errors.Is(err, sql.ErrNoRows):
			return err
		}
		if err := checkCaps(ctx, tx, j.Caller.Name, caps); err != nil {
			return err
		}
		if err := makeListRoom(ctx, tx, j.Caller.Name, caps.ListBytes, listBytes); err != nil {
			return err
		}
		c = batch.Created{ID: j.ID, Status: sift.JobQueued, Targets: len(j.Targets)}
		return insertJob(ctx, tx, j, l, listBytes)
	}
	err := db.change(ctx, op, create)
	if c.Reused && errors.Is(err, ErrFull) {
		db.trace.failed(err) // the job is there, only its lease could not be renewed
		return c, nil
	}
	if err != nil {
		return batch.Created{}, err
	}
	return c, nil
}

// checkCaps counts live jobs, whatever their lease.
func checkCaps(ctx context.Context, tx *sql.Tx, caller string, caps batch.Caps) error {
	var n int
	var oldest string
	if err := tx.QueryRowContext(ctx, sqlLiveOf, caller).Scan(&n, &oldest); err != nil {
		return err
	}
	if n >= caps.PerCaller {
		return &batch.CapError{Cap: batch.CapPerCaller, Limit: int64(caps.PerCaller), JobID: oldest}
	}
	if err := tx.QueryRowContext(ctx, sqlLiveInAll).Scan(&n); err != nil {
		return err
	}
	if n >= caps.Total {
		return &batch.CapError{Cap: batch.CapTotal, Limit: int64(caps.Total)}
	}
	return nil
}

func insertJob(ctx context.Context, tx *sql.Tx, j batch.NewJob, l batch.Lease, listBytes int64) error {
	if _, err := tx.ExecContext(ctx, sqlReplaced, j.Caller.Name, j.IdemKey); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, sqlInsertJob,
		j.ID, j.Caller.Name, j.Caller.Class, j.Caller.Restricted, j.Caller.Anonymous, j.IdemKey,
		len(j.Targets), j.CreatedAt.UnixMilli(), l.Now.UnixMilli(), listBytes)
	if err != nil {
		return err
	}
	for i, t := range j.Targets {
		if _, err := tx.ExecContext(ctx, sqlInsertTarget, j.ID, i, t.URL, notNil(t.Options)); err != nil {
			return err
		}
	}
	return nil
}

// notNil is for columns that are never NULL.
func notNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

const (
	sqlClaim = `UPDATE batch_job SET status = 'running', epoch = epoch + 1
	WHERE status = 'queued' AND seq = (SELECT seq FROM batch_job WHERE ` + sqlLive + ` AND status = 'queued' ORDER BY seq LIMIT 1)
	RETURNING id, epoch, caller, caller_class, caller_restricted, caller_anonymous, created_at, nbytes`

	sqlPending = `SELECT idx, url, options FROM batch_target WHERE job_id = ? AND status = 'pending' ORDER BY idx`
)

// ClaimJob makes the job queued longest running: see batch.Store.
func (db *DB) ClaimJob(ctx context.Context) (batch.Claimed, bool, error) {
	var c batch.Claimed
	err := db.change(ctx, "claim job", func(ctx context.Context, tx *sql.Tx) error {
		c = batch.Claimed{}
		var created int64
		err := tx.QueryRowContext(ctx, sqlClaim).Scan(&c.JobID, &c.Epoch,
			&c.Caller.Name, &c.Caller.Class, &c.Caller.Restricted, &c.Caller.Anonymous, &created, &c.NBytes)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		c.CreatedAt = time.UnixMilli(created).UTC()
		rows, err := tx.QueryContext(ctx, sqlPending, c.JobID)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var t batch.ClaimedTarget
			if err := rows.Scan(&t.Idx, &t.URL, (*[]byte)(&t.Options)); err != nil {
				return err
			}
			c.Targets = append(c.Targets, t)
		}
		return rows.Err()
	})
	if err != nil || c.JobID == "" {
		return batch.Claimed{}, false, err
	}
	return c, true, nil
}

const sqlStartTarget = `UPDATE batch_target SET status = 'running'
	WHERE job_id = ?1 AND idx = ?2 AND status = 'pending'
		AND EXISTS (SELECT 1 FROM batch_job WHERE id = ?1 AND epoch = ?3 AND status = 'running')`

// StartTarget makes a pending target running: see batch.Store.
func (db *DB) StartTarget(ctx context.Context, c batch.Claim, idx int) (bool, error) {
	started := false
	err := db.change(ctx, "start target", func(ctx context.Context, tx *sql.Tx) error {
		n, err := rowsChanged(within(ctx, tx, db.startTarget).ExecContext(ctx, c.JobID, idx, c.Epoch))
		started = n > 0
		return err
	})
	return started && err == nil, err
}

const (
	sqlFinishTarget = `UPDATE batch_target SET
		status = CASE WHEN ?4 IS NULL THEN 'failed' ELSE 'done' END,
		result = CAST(?4 AS TEXT), error = ?5, hint = ?6
	WHERE job_id = ?1 AND idx = ?2 AND status = 'running'
		AND EXISTS (SELECT 1 FROM batch_job WHERE id = ?1 AND epoch = ?3
			AND (status = 'running' OR status = 'cancelled' AND lease > ?7))`

	sqlTargetFinished = `UPDATE batch_job SET
		targets_done = targets_done + 1,
		nbytes       = nbytes + ?3,
		lease        = max(lease, ?4),
		status       = CASE WHEN status = 'running' AND targets_done + 1 = targets_total
			THEN (SELECT CASE count(*) WHEN 0 THEN 'failed' WHEN batch_job.targets_total THEN 'done' ELSE 'partial' END
				FROM batch_target WHERE job_id = batch_job.id AND batch_target.status = 'done')
			ELSE status END
	WHERE id = ?1 AND epoch = ?2 AND status IN ('running', 'cancelled')
	RETURNING status, nbytes`
)

// FinishTarget stores what came of a target: see batch.Store. Where very much
// has to go for it, since max_bytes is less than it was, that is done in
// transactions of its own before.
func (db *DB) FinishTarget(ctx context.Context, c batch.Claim, o batch.Outcome, l batch.Lease) (batch.Finished, error) {
	const op = "finish target"
	evicted := 0
	var f batch.Finished
	finish := func(ctx context.Context, tx *sql.Tx) error {
		f = batch.Finished{}
		var result any // NULL
		if o.Result != nil {
			result = []byte(o.Result)
		}
		n, err := rowsChanged(within(ctx, tx, db.finishTarget).ExecContext(ctx, c.JobID, o.Idx, c.Epoch, result, o.Error, string(o.Hint), l.ExpiredAt().UnixMilli()))
		if err != nil || n == 0 {
			return err
		}
		more := len(o.Result) + len(o.Error) + len(o.Hint)
		err = within(ctx, tx, db.targetFinished).QueryRowContext(ctx, c.JobID, c.Epoch, more, l.Now.UnixMilli()).Scan(&f.Job, &f.NBytes)
		if err != nil {
			return err
		}
		f.Stored = true
		f.Evicted, err = db.makeBatchRoom(ctx, tx, o.MaxBytes, c.JobID)
		return err
	}
	for {
		err := db.change(ctx, op, finish)
		if errors.Is(err, errMuchToEvict) {
			more := int64(len(o.Result) + len(o.Error) + len(o.Hint))
			n, evictErr := db.evictJobs(ctx, op, o.MaxBytes-more, c.JobID)
			evicted += n
			if err = evictErr; err == nil {
				continue
			}
		}
		if err != nil {
			return batch.Finished{}, err
		}
		f.Evicted += evicted
		return f, nil
	}
}

const sqlReleaseTarget = `UPDATE batch_target SET status = 'pending'
	WHERE job_id = ?1 AND idx = ?2 AND status = 'running'
		AND EXISTS (SELECT 1 FROM batch_job WHERE id = ?1 AND epoch = ?3 AND status = 'cancelled')`

// ReleaseTarget gives a target of a cancelled job back: see batch.Store.
func (db *DB) ReleaseTarget(ctx context.Context, c batch.Claim, idx int) (bool, error) {
	return db.changeOne(ctx, "release target", sqlReleaseTarget, c.JobID, idx, c.Epoch)
}

const (
	// What both ways to fail jobs set, before the targets are changed.
	sqlCountRunning = `(SELECT count(*) FROM batch_target WHERE job_id = batch_job.id AND batch_target.status = 'running')`
	sqlFailRunning  = `targets_done = targets_done + ` + sqlCountRunning + `,
		nbytes = nbytes + octet_length(?1) + (octet_length(?1) + octet_length('fresh')) * ` + sqlCountRunning + `,
		lease  = max(lease, ?2)`

	sqlFailJob = `UPDATE batch_job SET status = 'failed', error = ?1, ` + sqlFailRunning + `
	WHERE id = ?3 AND epoch = ?4 AND status = 'running'`

	sqlFailTargetsOf = `UPDATE batch_target SET status = 'failed', error = ?, hint = 'fresh' WHERE job_id = ? AND status = 'running'`
)

// FailJob fails a running job: see batch.Store.
func (db *DB) FailJob(ctx context.Context, c batch.Claim, reason string, l batch.Lease) (failed bool, err error) {
	err = db.change(ctx, "fail job", func(ctx context.Context, tx *sql.Tx) error {
		n, err := rowsChanged(tx.ExecContext(ctx, sqlFailJob, reason, l.Now.UnixMilli(), c.JobID, c.Epoch))
		if failed = n > 0; err != nil || !failed {
			return err
		}
		_, err = tx.ExecContext(ctx, sqlFailTargetsOf, reason, c.JobID)
		return err
	})
	return failed && err == nil, err
}

const (
	sqlCancelJob = `UPDATE batch_job SET status = 'cancelled' WHERE id = ? AND caller = ? AND ` + sqlLive + ` RETURNING created_at`

	sqlEndedJob = `SELECT status, created_at FROM batch_job WHERE id = ? AND caller = ? AND ` + sqlEnded + ` AND lease > ?`
)

// CancelJob makes a live job cancelled: see batch.Store.
func (db *DB) CancelJob(ctx context.Context, caller, id string, l batch.Lease) (job batch.Cancelled, found bool, err error) {
	err = db.change(ctx, "cancel job", func(ctx context.Context, tx *sql.Tx) error {
		job, found = batch.Cancelled{Status: sift.JobCancelled, Changed: true}, true
		var created int64
		err := tx.QueryRowContext(ctx, sqlCancelJob, id, caller).Scan(&created)
		if errors.Is(err, sql.ErrNoRows) {
			job.Changed = false
			err = tx.QueryRowContext(ctx, sqlEndedJob, id, caller, l.ExpiredAt().UnixMilli()).Scan(&job.Status, &created)
		}
		if errors.Is(err, sql.ErrNoRows) {
			job, found = batch.Cancelled{}, false
			return nil
		}
		job.CreatedAt = time.UnixMilli(created).UTC()
		return err
	})
	if err != nil {
		return batch.Cancelled{}, false, err
	}
	return job, found, nil
}

const (
	// Cancelled jobs first: the live ones are failed ones after it.
	sqlMarkCancelled = `UPDATE batch_job SET targets_done = targets_done + ` + sqlCountRunning + `,
		nbytes = nbytes + (octet_length(?1) + octet_length('fresh')) * ` + sqlCountRunning + `,
		lease  = max(lease, ?2)
	WHERE status = 'cancelled' AND id IN (SELECT job_id FROM batch_target WHERE status = 'running')`

	// What the three statements around it are about to change.
	sqlToMark = `SELECT id, caller, status IN ('queued', 'running'), ` + sqlCountRunning + ` FROM batch_job
	WHERE seq IN (SELECT seq FROM batch_job WHERE ` + sqlLive + `
		UNION ALL SELECT (SELECT seq FROM batch_job WHERE id = job_id) FROM batch_target WHERE status = 'running')
	ORDER BY seq`

	sqlMarkLive = `UPDATE batch_job SET status = 'failed', error = ?1, ` + sqlFailRunning + ` WHERE ` + sqlLive

	sqlMarkTargets = `UPDATE batch_target SET status = 'failed', error = ?, hint = 'fresh' WHERE status = 'running'`
)

// MarkInFlightFailed fails what a process before this one has left: see
// batch.Store.
func (db *DB) MarkInFlightFailed(ctx context.Context, reason string, now time.Time) (marked []batch.Marked, err error) {
	err = db.change(ctx, "mark jobs of before", func(ctx context.Context, tx *sql.Tx) (err error) {
		if marked, err = toMark(ctx, tx); err != nil || len(marked) == 0 {
			return err
		}
		for _, stmt := range []string{sqlMarkCancelled, sqlMarkLive} {
			if _, err := tx.ExecContext(ctx, stmt, reason, now.UnixMilli()); err != nil {
				return err
			}
		}
		_, err = tx.ExecContext(ctx, sqlMarkTargets, reason)
		return err
	})
	if err != nil {
		return nil, err
	}
	return marked, nil
}

func toMark(ctx context.Context, tx *sql.Tx) (marked []batch.Marked, err error) {
	rows, err := tx.QueryContext(ctx, sqlToMark)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var m batch.Marked
		if err := rows.Scan(&m.JobID, &m.Caller, &m.Live, &m.Targets); err != nil {
			return nil, err
		}
		marked = append(marked, m)
	}
	return marked, rows.Err()
}

const sqlShiftLeases = `UPDATE batch_job SET lease = lease + ?`

// ShiftLeases moves every lease: see batch.Store.
func (db *DB) ShiftLeases(ctx context.Context, d time.Duration) error {
	return db.change(ctx, "shift leases", func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, sqlShiftLeases, d.Milliseconds())
		return err
	})
}
