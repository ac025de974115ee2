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

// uses notes in memory which entries were used, in which order.
type uses struct {
	wake chan struct{} // one place; has a token when there is much to write

	mu      sync.Mutex // guards what follows
	counter int64
	last    map[string]int64 // snapshot of the entry → counter at its last use
}

func newUses() uses {
	return uses{wake: make(chan struct{}, 1), last: make(map[string]int64)}
}

func (u *uses) note(snapshot string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if _, held := u.last[snapshot]; !held && len(u.last) >= maxUses {
		return
	}
	u.counter++
	u.last[snapshot] = u.counter
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

type use struct {
	snapshot string
	counter  int64
}

// take removes up to usesPerWrite notes, the oldest first, in their order.
func (u *uses) take() []use {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.last) == 0 {
		return nil
	}
	all := make([]use, 0, len(u.last))
	for snapshot, counter := range u.last {
		all = append(all, use{snapshot, counter})
	}
	slices.SortFunc(all, func(a, b use) int { return cmp.Compare(a.counter, b.counter) })
	all = all[:min(len(all), usesPerWrite)]
	for _, x := range all {
		delete(u.last, x.snapshot)
	}
	return all
}

// putBack returns notes that could not be written, unless the entry was used
// again meanwhile.
func (u *uses) putBack(back []use) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, x := range back {
		if _, newer := u.last[x.snapshot]; !newer {
			u.last[x.snapshot] = x.counter
		}
	}
}

const sqlUsed = `UPDATE content SET used = (SELECT max(used) + 1 FROM content) WHERE snapshot = ?`

// writeUsed is write, and takes the noted uses along in the same transaction:
// they cost no commit of their own then, and what fn evicts is chosen by them.
func (db *DB) writeUsed(ctx context.Context, fn func(ctx context.Context, tx *sql.Tx) error) error {
	noted := db.uses.take()
	err := db.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		for _, x := range noted {
			if _, err := tx.ExecContext(ctx, sqlUsed, x.snapshot); err != nil {
				return err
			}
		}
		return fn(ctx, tx)
	})
	if err != nil {
		db.uses.putBack(noted)
	}
	return err
}

// flushUses writes all notes there are.
func (db *DB) flushUses(ctx context.Context) error {
	for db.uses.pending() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := db.writeUsed(ctx, func(context.Context, *sql.Tx) error { return nil }); err != nil {
			return err
		}
	}
	return nil
}

func (u *uses) pending() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(u.last) > 0
}
