package dcache

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"time"
)

const (
	// tendEvery is how long a noted use stays in memory only.
	tendEvery = 5 * time.Second

	// lastTend is how long Run goes on after its ctx ended.
	lastTend = 5 * time.Second

	// checkpointWait is how long a checkpoint waits for readers. The next one
	// makes up for it.
	checkpointWait = 250 * time.Millisecond

	// keepFree is the most that is left free in the file, to be used again.
	keepFree = 8 << 20

	// vacuumPages is how many pages are given back to the disk at a time.
	vacuumPages = 2048
)

// Run looks after the store until ctx ends: it writes noted uses, evicts what
// is over a budget, gives free pages back to the disk and keeps the
// write-ahead log short. What fails is told to Trace.OnError and tried again;
// a full disk must not end a server. When ctx has ended it writes what is
// left and returns; its error is that of this last write.
func (db *DB) Run(ctx context.Context) error {
	tick := time.NewTicker(tendEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastTend)
			defer cancel()
			return db.explain("write last-use times", db.flushUses(ctx))
		case <-db.uses.wake:
		case <-db.valueUses.wake:
		case <-tick.C:
		}
		if err := db.tend(ctx); err != nil && ctx.Err() == nil {
			db.trace.failed(db.explain("tend store", err))
		}
	}
}

func (db *DB) tend(ctx context.Context) error {
	return errors.Join(db.flushUses(ctx), db.evict(ctx), db.shrink(ctx), db.shortenWAL(ctx))
}

// flushUses writes all notes there are.
func (db *DB) flushUses(ctx context.Context) error {
	return errors.Join(db.uses.flush(ctx, db), db.valueUses.flush(ctx, db))
}

// shrink gives free pages back to the disk while there are so many that the
// caches will not fill them soon. A few are left: they are used again without
// the file growing.
func (db *DB) shrink(ctx context.Context) error {
	for ctx.Err() == nil {
		var free, size int64
		if err := db.reader.QueryRowContext(ctx, "SELECT freelist_count, page_size FROM pragma_freelist_count, pragma_page_size").Scan(&free, &size); err != nil {
			return err
		}
		if free*size <= max(1<<20, min(db.allBudgets()/8, keepFree)) {
			return nil
		}
		err := db.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA incremental_vacuum(%d)", vacuumPages))
			return err
		})
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// walSize is the length of the log. It does not open it: see makeFiles.
func (db *DB) walSize() (int64, error) {
	info, err := os.Stat(db.path + "-wal")
	switch {
	case errors.Is(err, os.ErrNotExist):
		return 0, nil
	case err != nil:
		return 0, err
	}
	return info.Size(), nil
}

// shortenWAL is Run's turn at the log.
func (db *DB) shortenWAL(ctx context.Context) error {
	size, err := db.walSize()
	if err != nil || size <= walLimit {
		return err
	}
	_, err = db.truncateWAL(ctx)
	return err
}

// shortenLongWAL is for after a Put: one large entry makes the log long, and
// so do readers that are always there, since SQLite starts it again only in a
// moment without any. Where a reader stays for long, the wait for it must not
// be part of every Put, so after a try that failed the next comes at twice the
// length.
func (db *DB) shortenLongWAL(ctx context.Context) {
	size, err := db.walSize()
	if err != nil || size <= db.longWAL.Load() {
		return
	}
	if done, _ := db.truncateWAL(ctx); !done {
		db.longWAL.Store(2 * size)
	}
}

// truncateWAL moves the log into the file and empties it. It is false when a
// reader was in the way for longer than checkpointWait. Only the wait is kept
// short: a checkpoint that is broken off because the disk is slow would be
// broken off every time.
func (db *DB) truncateWAL(ctx context.Context) (done bool, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTimeout)
	defer cancel()
	conn, err := db.writer.Conn(ctx)
	if err != nil {
		return false, err
	}
	defer conn.Close()
	setWait := func(d time.Duration) error {
		_, err := conn.ExecContext(ctx, fmt.Sprintf("PRAGMA busy_timeout = %d", d.Milliseconds()))
		return err
	}
	if err := setWait(checkpointWait); err != nil {
		return false, err
	}
	defer func() {
		if setErr := setWait(busyTimeout); setErr != nil {
			// Not to be used again with the short wait.
			_ = conn.Raw(func(any) error { return driver.ErrBadConn })
			err = errors.Join(err, setErr)
		}
	}()
	var busy, pages, moved int
	err = conn.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &moved)
	if kindOf(err) == ErrBusy {
		return false, nil
	}
	if err != nil || busy != 0 {
		return false, err
	}
	db.longWAL.Store(walLimit * 3 / 2)
	return true, nil
}
