package dcache

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// migrationFiles holds NNNN_name.sql, numbered from 1 without a gap.
//
//go:embed migrations/*.sql
var migrationFiles embed.FS

// applicationID marks a database as ours: "sift" in ASCII. It is signed
// because SQLite's is.
const applicationID = 0x73696674

// The table of applied migrations keeps this form for ever: it is how an older
// sift finds out that a file is too new for it.
const sqlMigrationTable = `CREATE TABLE IF NOT EXISTS migration (number INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT`

type migration struct {
	number int
	name   string
	sql    string
}

func readMigrations(files fs.FS) ([]migration, error) {
	names, err := fs.Glob(files, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	var all []migration
	for _, name := range names {
		number, rest, ok := strings.Cut(strings.TrimSuffix(path.Base(name), ".sql"), "_")
		n, err := strconv.Atoi(number)
		if !ok || err != nil || len(number) != 4 {
			return nil, fmt.Errorf("migration %s: its name is not NNNN_name.sql", name)
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		all = append(all, migration{n, rest, string(text)})
	}
	slices.SortFunc(all, func(a, b migration) int { return a.number - b.number })
	for i, m := range all {
		if m.number != i+1 {
			return nil, fmt.Errorf("migration %d is missing", i+1)
		}
	}
	return all, nil
}

// migrate brings the file to the newest layout known here. Processes that open
// a new folder at once each find the file in one whole state or another: it is
// looked at again inside the transaction that changes it.
func (db *DB) migrate(ctx context.Context, files fs.FS) error {
	all, err := readMigrations(files)
	if err != nil {
		return err
	}
	conn, err := db.writer.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()

	// First without writing anything: the file may not be ours to change.
	switch at, err := db.layout(ctx, conn, len(all)); {
	case err != nil:
		return err
	case at == 0:
		// Only a file without a table can still get it. It lets Run give pages
		// back to the disk.
		err := retryBusy(ctx, func() error {
			_, err := conn.ExecContext(ctx, "PRAGMA auto_vacuum = INCREMENTAL")
			return err
		})
		if err != nil {
			return err
		}
	}
	if err := db.useWAL(ctx, conn); err != nil {
		return err
	}
	apply := func(ctx context.Context, tx *sql.Tx) error {
		at, err := db.layout(ctx, tx, len(all))
		if err != nil || at == len(all) {
			return err
		}
		if _, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id = %d; %s", applicationID, sqlMigrationTable)); err != nil {
			return err
		}
		for _, m := range all[at:] {
			if _, err := tx.ExecContext(ctx, m.sql); err != nil {
				return fmt.Errorf("migration %d (%s): %w", m.number, m.name, err)
			}
			if _, err := tx.ExecContext(ctx, "INSERT INTO migration (number, name) VALUES (?, ?)", m.number, m.name); err != nil {
				return err
			}
		}
		return nil
	}
	return retryBusy(ctx, func() error { return inTx(ctx, conn, apply) })
}

type queryer interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// layout is the number of the last migration the file has had, 0 for an empty
// file. It refuses a file that is not ours or newer than known.
func (db *DB) layout(ctx context.Context, q queryer, known int) (int, error) {
	var id, tables int
	err := retryBusy(ctx, func() error {
		if err := q.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil {
			return err
		}
		return q.QueryRowContext(ctx, "PRAGMA application_id").Scan(&id)
	})
	switch {
	case err != nil:
		return 0, err
	case tables == 0:
		return 0, nil
	case id != applicationID:
		return 0, &fault{kind: ErrCorrupt, text: "open store: " + db.path + " is an SQLite database of something else; move it away, or set data_dir to another folder"}
	}
	var at int
	if err := q.QueryRowContext(ctx, "SELECT coalesce(max(number), 0) FROM migration").Scan(&at); err != nil {
		return 0, err
	}
	if at > known {
		return 0, &fault{kind: ErrNewer, text: fmt.Sprintf(
			"open store: %s was written by a newer sift (layout %d; this one knows up to %d) and was left as it is; start the newer sift, or set data_dir to another folder", db.path, at, known)}
	}
	return at, nil
}

// useWAL switches the file to a write-ahead log, which it stays with.
func (db *DB) useWAL(ctx context.Context, conn *sql.Conn) error {
	var mode string
	err := retryBusy(ctx, func() error {
		return conn.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode)
	})
	if err == nil && mode != "wal" {
		err = fmt.Errorf("the file system of %s cannot hold a write-ahead log; set data_dir to a folder on a local disk", db.dir)
	}
	return err
}

// retryBusy is for the opening of the file only. There two processes can be
// in each other's way without SQLite waiting: a switch of the journal mode
// fails at once when another has just begun it.
func retryBusy(ctx context.Context, fn func() error) error {
	ctx, cancel := context.WithTimeout(ctx, busyTries*busyTimeout)
	defer cancel()
	for {
		err := fn()
		if kindOf(err) != ErrBusy {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(5 * time.Millisecond):
		}
	}
}
