package dcache

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"sift.build/sift/internal/batch"
)

// What can be wrong with a store, for errors.Is. The error itself says more.
var (
	ErrNewer      = errors.New("store of a newer sift")
	ErrCorrupt    = batch.ErrDamaged // one error: the runner knows it by batch's name
	ErrReadOnly   = errors.New("store on a read-only file system")
	ErrPermission = errors.New("no permission for the store")
	ErrFull       = batch.ErrFull // as above
	ErrBusy       = errors.New("store locked by another process")
	ErrTooBig     = errors.New("entry larger than the store may be")
	ErrInUse      = errors.New("data folder in use by another server")
)

// fault is an error of a kind, with the sentence an operator needs.
type fault struct {
	kind  error // one of the Err values above
	text  string
	cause error // may be nil
}

func (f *fault) Error() string {
	if f.cause == nil {
		return f.text
	}
	return f.text + " (" + f.cause.Error() + ")"
}

func (f *fault) Unwrap() []error {
	if f.cause == nil {
		return []error{f.kind}
	}
	return []error{f.kind, f.cause}
}

// explain gives err its kind and its sentence. It goes by result codes and
// errno values, never by texts, and hands on what it does not know.
func (db *DB) explain(op string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s: %w", op, err)
	}
	if f, ok := errors.AsType[*fault](err); ok {
		return f
	}
	kind := kindOf(err)
	if kind == nil {
		return fmt.Errorf("%s: %s: %w", op, db.path, err)
	}
	return &fault{kind: kind, text: op + ": " + db.sentence(kind), cause: err}
}

func (db *DB) sentence(kind error) string {
	switch kind {
	case ErrFull:
		return "no room left on the disk that holds " + db.dir + "; free some space there, or lower cache.max_bytes or batch.max_bytes"
	case ErrReadOnly:
		return db.dir + " is on a read-only file system; mount it writable, or set data_dir to a folder that is"
	case ErrPermission:
		return fmt.Sprintf("user id %d may not write in %s; give it that folder and the files in it, or set data_dir to another one", os.Geteuid(), db.dir)
	case ErrCorrupt:
		return db.path + " is damaged or was never a store of sift; stop every sift that uses it, move it and its -wal and -shm files away, and start again (cached pages and batch results in it are lost, nothing else)"
	case ErrBusy:
		return db.path + " stayed locked by another process; find out which (fuser " + db.path + ") and try again"
	}
	return kind.Error()
}

// kindOf sorts an SQLite result code or an errno; nil is neither of ours.
func kindOf(err error) error {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		switch e.Code() {
		case sqlite3.SQLITE_IOERR_SHMSIZE: // -shm could not grow: how SQLite reports a full disk there
			return ErrFull
		case sqlite3.SQLITE_IOERR_CORRUPTFS, sqlite3.SQLITE_IOERR_DATA:
			return ErrCorrupt
		}
		switch e.Code() & 0xff {
		case sqlite3.SQLITE_FULL:
			return ErrFull
		case sqlite3.SQLITE_READONLY:
			return ErrReadOnly
		case sqlite3.SQLITE_PERM:
			return ErrPermission
		case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
			return ErrCorrupt
		case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
			return ErrBusy
		}
		return nil
	}
	if e, ok := errors.AsType[syscall.Errno](err); ok {
		switch e {
		case syscall.EROFS:
			return ErrReadOnly
		case syscall.EACCES, syscall.EPERM:
			return ErrPermission
		case syscall.ENOSPC, syscall.EDQUOT:
			return ErrFull
		}
	}
	return nil
}
