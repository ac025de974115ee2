package dcache

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"sync"
)

const (
	// usesPerWrite is how many notes one transaction takes along.
	usesPerWrite = 512

	// maxUses is how many are held. Beyond it new ones are dropped, which costs
	// a worse choice of what to evict and nothing else; half of it wakes Run.
	maxUses = 16 << 10
)

// uses notes in memory what was used, in which order. Entries go by their
// snapshot and values by their row.
type uses[K comparable] struct {
	stmt string        // writes that one was used
	wake chan struct{} // one place; has a token when there is much to write

	mu      sync.Mutex // guards what follows
	counter int64
	last    map[K]int64 // what was used → counter at its last use
}

// The newest use is one more than the highest of both orders, so that one
// expression does for either.
const (
	sqlNextUse = `max(coalesce((SELECT max(used) FROM content WHERE recovered IS NULL), 0),
		coalesce((SELECT max(used) FROM content WHERE recovered IS NOT NULL), 0)) + 1`

	sqlUsed = `UPDATE content SET used = ` + sqlNextUse + ` WHERE snapshot = ?`

	sqlValueUsed = `UPDATE value SET used = (SELECT max(v.used) + 1 FROM value AS v WHERE v.cache = value.cache) WHERE id = ?`
)

func newUses[K comparable](stmt string) uses[K] {
	return uses[K]{stmt: stmt, wake: make(chan struct{}, 1), last: make(map[K]int64)}
}

func (u *uses[K]) note(used ...K) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, x := range used {
		if _, held := u.last[x]; !held && len(u.last) >= maxUses {
			continue
		}
		u.counter++
		u.last[x] = u.counter
	}
	if len(u.last) >= maxUses/2 {
		select {
		case u.wake <- struct{}{}:
		default:
		}
	}
}

// Touch notes that an entry was used, for who holds what it said elsewhere and
// did not read it. It costs no I/O; Run writes it with others.
func (db *DB) Touch(snapshot string) { db.uses.note(snapshot) }

type use[K comparable] struct {
	of      K
	counter int64
}

// take removes up to usesPerWrite notes, the oldest first, in their order.
func (u *uses[K]) take() []use[K] {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.last) == 0 {
		return nil
	}
	all := make([]use[K], 0, len(u.last))
	for x, counter := range u.last {
		all = append(all, use[K]{x, counter})
	}
	slices.SortFunc(all, func(a, b use[K]) int { return cmp.Compare(a.counter, b.counter) })
	all = all[:min(len(all), usesPerWrite)]
	for _, x := range all {
		delete(u.last, x.of)
	}
	return all
}

// putBack returns notes that could not be written, unless there is a newer one
// of the same by now.
func (u *uses[K]) putBack(back []use[K]) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, x := range back {
		if _, newer := u.last[x.of]; !newer {
			u.last[x.of] = x.counter
		}
	}
}

// write is db.write, and takes the noted uses along in the same transaction:
// they cost no commit of their own then, and what fn evicts is chosen by them.
func (u *uses[K]) write(ctx context.Context, db *DB, fn transaction) error {
	noted := u.take()
	err := db.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if err := u.writeIn(ctx, tx, noted); err != nil {
			return err
		}
		return fn(ctx, tx)
	})
	if err != nil {
		u.putBack(noted)
	}
	return err
}

func (u *uses[K]) writeIn(ctx context.Context, tx *sql.Tx, noted []use[K]) error {
	if len(noted) == 0 {
		return nil
	}
	stmt, err := tx.PrepareContext(ctx, u.stmt)
	if err != nil {
		return err
	}
	defer func() { _ = stmt.Close() }()
	for _, x := range noted {
		if _, err := stmt.ExecContext(ctx, x.of); err != nil {
			return err
		}
	}
	return nil
}

// flush writes all notes there are.
func (u *uses[K]) flush(ctx context.Context, db *DB) error {
	for u.pending() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := u.write(ctx, db, func(context.Context, *sql.Tx) error { return nil }); err != nil {
			return err
		}
	}
	return nil
}

func (u *uses[K]) pending() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(u.last) > 0
}
