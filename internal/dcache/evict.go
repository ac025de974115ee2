package dcache

import (
	"context"
	"database/sql"
	"errors"
)

// A transaction removes at most so much: the writing connection is shared, and
// removing an entry costs the reading of its pages. Values are small and come
// many at once.
const (
	evictRows   = 64
	evictValues = 1024
	evictBytes  = 32 << 20
)

// removed counts what one transaction removed.
type removed struct {
	n     int
	bytes int64
}

const sqlOldCopies = `DELETE FROM content
	WHERE class = ?1 AND key_hash = ?2 AND reusable = ?3 AND (recovered IS NOT NULL) = ?4 AND id NOT IN (
		SELECT id FROM content
		WHERE class = ?1 AND key_hash = ?2 AND reusable = ?3 AND (recovered IS NOT NULL) = ?4
		ORDER BY id DESC LIMIT ?5)
	RETURNING nbytes`

// oldCopies removes the copies of e's key and kind that are one too many once
// e is in.
func (r *removed) oldCopies(ctx context.Context, tx *sql.Tx, e Entry) error {
	rows, err := tx.QueryContext(ctx, sqlOldCopies, e.Class, hash(e.Key), e.Reusable, e.Recovered != nil, keepPerKey-1)
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

// makeRoom removes the least recently used of a cache until it holds at most
// limit bytes. It is false when that is too much for one transaction.
func (r *removed) makeRoom(ctx context.Context, tx *sql.Tx, b *budget, limit int64) (bool, error) {
	var have Stats
	if err := tx.QueryRowContext(ctx, sqlStats, b.cache).Scan(&have.Entries, &have.Bytes); err != nil {
		return false, err
	}
	if have.Bytes <= limit {
		return true, nil
	}
	var victims []int64 // ids
	var freed int64
	rows, err := tx.QueryContext(ctx, b.leastUsed, b.rows)
	if err != nil {
		return false, err
	}
	defer rows.Close()
	for have.Bytes-freed > limit && freed < evictBytes && rows.Next() {
		var id, nbytes int64
		if err := rows.Scan(&id, &nbytes); err != nil {
			return false, err
		}
		victims = append(victims, id)
		freed += nbytes
	}
	if err := rows.Err(); err != nil {
		return false, err
	}
	if err := rows.Close(); err != nil { // before the same connection deletes
		return false, err
	}
	stmt, err := tx.PrepareContext(ctx, b.remove)
	if err != nil {
		return false, err
	}
	defer func() { _ = stmt.Close() }()
	for _, id := range victims {
		if _, err := stmt.ExecContext(ctx, id); err != nil {
			return false, err
		}
	}
	r.n += len(victims)
	r.bytes += freed
	return have.Bytes-freed <= limit || len(victims) == 0, nil
}

// evict brings each cache below its budget, for when that has shrunk or another
// process has a larger one.
func (db *DB) evict(ctx context.Context) error {
	var errs []error
	for _, b := range db.budgets {
		errs = append(errs, db.evictFrom(ctx, b))
	}
	return errors.Join(errs...)
}

func (db *DB) evictFrom(ctx context.Context, b *budget) error {
	for done := false; !done; {
		if err := ctx.Err(); err != nil {
			return err
		}
		now, err := db.StatsOf(ctx, b.cache)
		if err != nil || now.Bytes <= b.max {
			return err // the usual case: without taking the write lock
		}
		var out removed
		err = b.write(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
			out = removed{}
			done, err = out.makeRoom(ctx, tx, b, b.max)
			return err
		})
		if err != nil {
			return err
		}
		b.evicted(out.n, out.bytes)
	}
	return nil
}
