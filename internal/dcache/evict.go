package dcache

import (
	"context"
	"database/sql"
)

// A transaction removes at most so much: the writing connection is shared, and
// removing an entry costs the reading of its pages.
const (
	evictRows  = 64
	evictBytes = 32 << 20
)

// removed counts what one transaction removed.
type removed struct {
	n     int
	bytes int64
}

const sqlOldCopies = `DELETE FROM content
	WHERE class = ?1 AND key_hash = ?2 AND reusable = ?3 AND id NOT IN (
		SELECT id FROM content WHERE class = ?1 AND key_hash = ?2 AND reusable = ?3 ORDER BY id DESC LIMIT ?4)
	RETURNING nbytes`

// oldCopies removes the copies of e's key that are one too many once e is in.
func (r *removed) oldCopies(ctx context.Context, tx *sql.Tx, e Entry) error {
	rows, err := tx.QueryContext(ctx, sqlOldCopies, e.Class, hash(e.Key), e.Reusable, keepPerKey-1)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var nbytes int64
		if err := rows.Scan(&nbytes); err != nil {
			return err
		}
		r.n++
		r.bytes += nbytes
	}
	return rows.Err()
}

const (
	sqlLeastUsed = `SELECT id, nbytes FROM content ORDER BY used, id LIMIT ?`
	sqlRemove    = `DELETE FROM content WHERE id = ?`
)

// makeRoom removes the least recently used entries until the cache holds at
// most limit bytes. It is false when that is too much for one transaction.
func (r *removed) makeRoom(ctx context.Context, tx *sql.Tx, limit int64) (bool, error) {
	var have int64
	if err := tx.QueryRowContext(ctx, `SELECT bytes FROM usage WHERE cache = 'content'`).Scan(&have); err != nil {
		return false, err
	}
	if have <= limit {
		return true, nil
	}
	type victim struct{ id, nbytes int64 }
	var victims []victim
	var freed int64
	rows, err := tx.QueryContext(ctx, sqlLeastUsed, evictRows)
	if err != nil {
		return false, err
	}
	defer rows.Close()
	for have-freed > limit && freed < evictBytes && rows.Next() {
		var v victim
		if err := rows.Scan(&v.id, &v.nbytes); err != nil {
			return false, err
		}
		victims = append(victims, v)
		freed += v.nbytes
	}
	if err := rows.Err(); err != nil {
		return false, err
	}
	if err := rows.Close(); err != nil { // before the same connection deletes
		return false, err
	}
	for _, v := range victims {
		if _, err := tx.ExecContext(ctx, sqlRemove, v.id); err != nil {
			return false, err
		}
	}
	r.n += len(victims)
	r.bytes += freed
	return have-freed <= limit || len(victims) == 0, nil
}

// evict brings the cache below its budget, for when that has shrunk or another
// process has a larger one.
func (db *DB) evict(ctx context.Context) error {
	for done := false; !done; {
		if err := ctx.Err(); err != nil {
			return err
		}
		now, err := db.Stats(ctx)
		if err != nil || now.Bytes <= db.max {
			return err // the usual case: without taking the write lock
		}
		var out removed
		err = db.writeUsed(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
			out = removed{}
			done, err = out.makeRoom(ctx, tx, db.max)
			return err
		})
		if err != nil {
			return err
		}
		db.trace.evicted(out.n, out.bytes)
	}
	return nil
}
