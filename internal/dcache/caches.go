package dcache

import (
	"context"
	"database/sql"
	"fmt"
)

// Cache names one of the caches of the file. None of them ever makes room in
// another.
type Cache string

// The caches.
const (
	CacheContent   Cache = "content"   // copies of pages: Put, Latest
	CacheRecovered Cache = "recovered" // copies had from elsewhere: Put, LatestRecovered
	CacheDigest    Cache = "digest"    // small values: PutValues, Values
	CacheEmbed     Cache = "embed"     // likewise
)

// transaction is what is done in one.
type transaction func(ctx context.Context, tx *sql.Tx) error

// budget is what one cache may hold, and how it is kept to that.
type budget struct {
	cache  Cache
	max    int64
	option string // what an operator sets it by

	leastUsed string // SQL: id and nbytes of the first so many to go
	remove    string // SQL: one of them
	rows      int    // a transaction removes at most so many

	// write is DB.write, with the notes of what was used in this cache.
	write   func(ctx context.Context, fn transaction) error
	evicted func(n int, bytes int64) // tells the trace
}

// The order of these is the order of the partial indexes, and what stands
// before ORDER BY is what they serve.
const (
	sqlLeastUsedPages     = `SELECT id, nbytes FROM content WHERE recovered IS NULL ORDER BY used, id LIMIT ?`
	sqlLeastUsedRecovered = `SELECT id, nbytes FROM content WHERE recovered IS NOT NULL ORDER BY used, id LIMIT ?`
	sqlLeastUsedDigests   = `SELECT id, nbytes FROM value WHERE cache = 'digest' ORDER BY used, id LIMIT ?`
	sqlLeastUsedEmbeds    = `SELECT id, nbytes FROM value WHERE cache = 'embed' ORDER BY used, id LIMIT ?`

	sqlRemove      = `DELETE FROM content WHERE id = ?`
	sqlRemoveValue = `DELETE FROM value WHERE id = ?`
)

// setBudgets makes the four of them.
func (db *DB) setBudgets(c Config) error {
	copies := func(ctx context.Context, fn transaction) error { return db.uses.write(ctx, db, fn) }
	values := func(ctx context.Context, fn transaction) error { return db.valueUses.write(ctx, db, fn) }
	copiesEvicted := func(n int, bytes int64) { db.trace.evicted(n, bytes) }
	valuesEvicted := func(cache Cache) func(int, int64) {
		return func(n int, bytes int64) { db.trace.evictedValues(cache, n, bytes) }
	}
	db.budgets = map[Cache]*budget{
		CacheContent: {
			max: c.MaxBytes, option: "cache.max_bytes", rows: evictRows,
			leastUsed: sqlLeastUsedPages, remove: sqlRemove, write: copies, evicted: copiesEvicted,
		},
		CacheRecovered: {
			max: c.RecoveredBytes, option: "recover.max_bytes", rows: evictRows,
			leastUsed: sqlLeastUsedRecovered, remove: sqlRemove, write: copies, evicted: copiesEvicted,
		},
		CacheDigest: {
			max: c.DigestBytes, option: "cache.digest_bytes", rows: evictValues,
			leastUsed: sqlLeastUsedDigests, remove: sqlRemoveValue, write: values, evicted: valuesEvicted(CacheDigest),
		},
		CacheEmbed: {
			max: c.EmbedBytes, option: "cache.embed_bytes", rows: evictValues,
			leastUsed: sqlLeastUsedEmbeds, remove: sqlRemoveValue, write: values, evicted: valuesEvicted(CacheEmbed),
		},
	}
	for cache, b := range db.budgets {
		if b.cache = cache; b.max < 0 {
			return fmt.Errorf("open store: %s is %d; give 0 or more", b.option, b.max)
		}
	}
	return nil
}

// budgetOf is the budget that an entry counts against.
func (db *DB) budgetOf(e Entry) *budget {
	if e.Recovered != nil {
		return db.budgets[CacheRecovered]
	}
	return db.budgets[CacheContent]
}

// allBudgets is what all caches together may hold.
func (db *DB) allBudgets() (sum int64) {
	for _, b := range db.budgets {
		sum += b.max
	}
	return sum
}

// put stores something of nbytes in the cache of b: replace removes what it
// takes the place of, then the least used go, then insert stores it. Where much
// has to go that takes several transactions, each of which leaves less.
func (db *DB) put(ctx context.Context, op string, b *budget, nbytes int64, replace func(context.Context, *sql.Tx, *removed) error, insert transaction) error {
	for done := false; !done; {
		var out removed
		err := b.write(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
			out = removed{} // a transaction may be tried again
			if err := replace(ctx, tx, &out); err != nil {
				return err
			}
			if done, err = out.makeRoom(ctx, tx, b, b.max-nbytes); err != nil || !done {
				return err
			}
			return insert(ctx, tx)
		})
		if err != nil {
			if kindOf(err) == ErrFull {
				// What did not fit was written behind the end of the log all the
				// same, and would keep the disk full.
				_, _ = db.truncateWAL(ctx)
			}
			return db.explain(op, err)
		}
		b.evicted(out.n, out.bytes)
	}
	db.shortenLongWAL(ctx)
	return nil
}

// Stats is what one cache holds.
type Stats struct {
	Entries int64
	Bytes   int64 // as counted against the cache's budget
}

const sqlStats = `SELECT entries, bytes FROM usage WHERE cache = ?`

// Stats counts the copies of pages. It is cheap.
func (db *DB) Stats(ctx context.Context) (Stats, error) { return db.StatsOf(ctx, CacheContent) }

// StatsOf counts what a cache holds. It is cheap.
func (db *DB) StatsOf(ctx context.Context, cache Cache) (Stats, error) {
	const op = "count entries"
	if db.budgets[cache] == nil {
		return Stats{}, fmt.Errorf("%s: there is no cache %q", op, cache)
	}
	var s Stats
	err := db.reader.QueryRowContext(ctx, sqlStats, cache).Scan(&s.Entries, &s.Bytes)
	return s, db.explain(op, err)
}
