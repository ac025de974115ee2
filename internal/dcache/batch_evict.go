package dcache

import (
	"context"
	"database/sql"
	"errors"
	"math"

	"sift.build/sift/internal/batch"
)

// The writing connection is shared, and deleting a job costs a walk over its
// pages. So a transaction that only deletes goes on to so many jobs or bytes
// and then lets others in; one job more is the least it takes. One that makes
// room for what it stores does that alone only up to maxRoom, which is several
// times what a target may need.
const (
	deleteJobs  = 64
	deleteBytes = 8 << 20
	maxRoom     = 1 << 20
)

// errMuchToEvict says that more has to go than one transaction should delete.
var errMuchToEvict = errors.New("more to evict than one transaction takes")

const (
	sqlBatchBytes = `SELECT bytes FROM usage WHERE cache = 'batch'`

	// What cannot go: live jobs, and the one that the room is for.
	sqlStaying = `SELECT (SELECT coalesce(sum(nbytes), 0) FROM batch_job WHERE ` + sqlLive + `)
		+ (SELECT coalesce(sum(nbytes), 0) FROM batch_job WHERE id = ? AND ` + sqlEnded + `)`

	// Targets go with their job.
	sqlDeleteOldest = `DELETE FROM batch_job
	WHERE seq = (SELECT seq FROM batch_job WHERE ` + sqlEnded + ` AND lease <= ?1 ORDER BY lease, seq LIMIT 1)
		AND ` + sqlEnded + ` AND lease <= ?1
	RETURNING nbytes`

	// For the room of results. A job without any makes none: it would be taken
	// from its caller for nothing, so it is passed over.
	sqlEvictOldest = `DELETE FROM batch_job
	WHERE seq = (SELECT seq FROM batch_job WHERE ` + sqlEnded + ` AND nbytes > 0 AND id <> ?1 ORDER BY lease, seq LIMIT 1)
		AND ` + sqlEnded + `
	RETURNING nbytes`

	sqlListBytes = `SELECT coalesce(sum(list_bytes), 0) FROM batch_job WHERE caller = ?`

	// The plus is as in sqlLiveOf.
	sqlLiveListBytes = `SELECT coalesce(sum(list_bytes), 0) FROM batch_job WHERE ` + sqlLive + ` AND +caller = ?`

	sqlDeleteOldestOf = `DELETE FROM batch_job
	WHERE seq = (SELECT seq FROM batch_job WHERE caller = ?1 AND ` + sqlEnded + ` ORDER BY lease, seq LIMIT 1) AND ` + sqlEnded + `
	RETURNING list_bytes`
)

// makeListRoom deletes jobs of a caller that have ended, oldest lease first,
// until all of the caller's lists and one more of that size take at most limit.
func makeListRoom(ctx context.Context, tx *sql.Tx, caller string, limit, more int64) error {
	var have, live int64
	if err := tx.QueryRowContext(ctx, sqlListBytes, caller).Scan(&have); err != nil || have+more <= limit {
		return err
	}
	if err := tx.QueryRowContext(ctx, sqlLiveListBytes, caller).Scan(&live); err != nil {
		return err
	}
	if live+more > limit {
		return &batch.CapError{Cap: batch.CapLists, Limit: limit}
	}
	for have+more > limit {
		var freed int64
		if err := tx.QueryRowContext(ctx, sqlDeleteOldestOf, caller).Scan(&freed); err != nil {
			return err
		}
		have -= freed
	}
	return nil
}

// deletion is a statement that deletes one job that has ended, if there is such
// a one: sqlDeleteOldest up to a lease, or sqlEvictOldest but for a job to keep.
type deletion struct {
	stmt string
	arg  any
}

func (d deletion) once(ctx context.Context, tx *sql.Tx) (nbytes int64, found bool, err error) {
	err = tx.QueryRowContext(ctx, d.stmt, d.arg).Scan(&nbytes)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, false, nil
	}
	return nbytes, err == nil, err
}

// makeBatchRoom deletes jobs that have ended, oldest lease first and never
// keep, until all together take at most limit. Where that cannot be, or is too
// much for one transaction, it deletes nothing.
func (db *DB) makeBatchRoom(ctx context.Context, tx *sql.Tx, limit int64, keep string) (jobs int, err error) {
	var have, staying int64
	if err := within(ctx, tx, db.batchBytes).QueryRowContext(ctx).Scan(&have); err != nil || have <= limit {
		return 0, err
	}
	if err := tx.QueryRowContext(ctx, sqlStaying, keep).Scan(&staying); err != nil {
		return 0, err
	}
	switch {
	case staying > limit:
		return 0, batch.ErrNoRoom
	case have-limit > maxRoom:
		return 0, errMuchToEvict
	}
	for have > limit {
		nbytes, found, err := deletion{sqlEvictOldest, keep}.once(ctx, tx)
		if err != nil {
			return 0, err
		}
		if !found {
			return 0, batch.ErrNoRoom
		}
		have -= nbytes
		jobs++
	}
	return jobs, nil
}

// evictJobs is makeBatchRoom in as many transactions as it takes.
func (db *DB) evictJobs(ctx context.Context, op string, limit int64, keep string) (jobs int, err error) {
	return db.deleteWhile(ctx, op, deletion{sqlEvictOldest, keep}, func(ctx context.Context, tx *sql.Tx) (bool, error) {
		var have int64
		err := within(ctx, tx, db.batchBytes).QueryRowContext(ctx).Scan(&have)
		return have > limit, err
	})
}

// deleteWhile deletes jobs, oldest lease first, while more says so.
func (db *DB) deleteWhile(ctx context.Context, op string, d deletion, more func(context.Context, *sql.Tx) (bool, error)) (jobs int, err error) {
	for done := false; !done; {
		if err := ctx.Err(); err != nil {
			return jobs, db.explain(op, err)
		}
		n := 0
		err := db.change(ctx, op, func(ctx context.Context, tx *sql.Tx) error {
			n, done = 0, false // a transaction may be tried again
			for freed := int64(0); n < deleteJobs && freed < deleteBytes; n++ {
				goOn, err := more(ctx, tx)
				if err != nil {
					return err
				}
				var nbytes int64
				if goOn {
					if nbytes, goOn, err = d.once(ctx, tx); err != nil {
						return err
					}
				}
				if !goOn {
					done = true
					return nil
				}
				freed += nbytes
			}
			return nil
		})
		if err != nil {
			return jobs, err
		}
		jobs += n
	}
	return jobs, nil
}

const sqlAnyExpired = `SELECT EXISTS (SELECT 1 FROM batch_job WHERE ` + sqlEnded + ` AND lease <= ?)`

// SweepJobs deletes the jobs that have expired: see batch.Store. It does so in
// several transactions where there are many. When ctx ends, or one fails,
// those that are deleted stay so and are counted.
func (db *DB) SweepJobs(ctx context.Context, l batch.Lease) (jobs int, err error) {
	const op = "sweep jobs"
	expired := l.ExpiredAt().UnixMilli()
	var some bool
	if err := db.reader.QueryRowContext(ctx, sqlAnyExpired, expired).Scan(&some); err != nil || !some {
		return 0, db.explain(op, err) // the usual case: without taking the write lock
	}
	return db.deleteWhile(ctx, op, deletion{sqlDeleteOldest, expired}, func(context.Context, *sql.Tx) (bool, error) { return true, nil })
}

// EvictBatchOldest deletes the job with the oldest lease: see batch.Store.
func (db *DB) EvictBatchOldest(ctx context.Context) (nbytes int64, found bool, err error) {
	err = db.change(ctx, "evict job", func(ctx context.Context, tx *sql.Tx) (err error) {
		nbytes, found, err = deletion{sqlDeleteOldest, int64(math.MaxInt64)}.once(ctx, tx)
		return err
	})
	if err != nil {
		return 0, false, err
	}
	return nbytes, found, nil
}

// BatchNbytes is what all jobs take: see batch.Store. It is cheap.
func (db *DB) BatchNbytes(ctx context.Context) (n int64, err error) {
	err = db.reader.QueryRowContext(ctx, sqlBatchBytes).Scan(&n)
	return n, db.explain("count jobs", err)
}
