package dcache

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/sys/unix"
	_ "modernc.org/sqlite" // registers the driver "sqlite"
)

const (
	fileName = "sift.db"

	// busyTimeout is how long SQLite waits for another process's lock, and
	// busyTries how often such a wait is begun again.
	busyTimeout = 5 * time.Second
	busyTries   = 3

	// writeTimeout ends a write whose caller may be long gone.
	writeTimeout = 30 * time.Second

	// readers is how many entries can be read at once. Each holds one whole
	// entry in memory meanwhile, which is why there are few.
	readers = 3

	// walLimit is what the write-ahead log is cut to when it was longer, and
	// about where SQLite by itself begins to use it from the start again.
	walLimit = 4 << 20
)

// Config says where the store is and how much its caches may hold, each for
// itself, as stored. Of a cache of 0 bytes nothing is kept.
type Config struct {
	Dir            string // made when it is missing, mode 0700
	MaxBytes       int64  // of copies of pages
	RecoveredBytes int64  // of copies recovered from elsewhere
	DigestBytes    int64  // of values of CacheDigest
	EmbedBytes     int64  // of values of CacheEmbed
	Trace          *Trace // may be nil
}

// Trace is told what the store does. Every field may be nil. The functions
// are called on the goroutine that did it, with no lock held.
type Trace struct {
	OnStored      func(bytes int64)                 // an entry was stored and takes this much
	OnEvict       func(n int, bytes int64)          // entries were removed to make room
	OnEvictValues func(c Cache, n int, bytes int64) // likewise of small values
	OnError       func(err error)                   // Run could not do something, or a read could not renew a lease; it is tried again
}

func (t *Trace) stored(bytes int64) {
	if t != nil && t.OnStored != nil {
		t.OnStored(bytes)
	}
}

func (t *Trace) evicted(n int, bytes int64) {
	if t != nil && t.OnEvict != nil && n > 0 {
		t.OnEvict(n, bytes)
	}
}

func (t *Trace) evictedValues(c Cache, n int, bytes int64) {
	if t != nil && t.OnEvictValues != nil && n > 0 {
		t.OnEvictValues(c, n, bytes)
	}
}

func (t *Trace) failed(err error) {
	if t != nil && t.OnError != nil && err != nil {
		t.OnError(err)
	}
}

// DB is an open store. Its methods may be called from many goroutines.
type DB struct {
	dir, path string
	budgets   map[Cache]*budget // not changed after Open
	trace     *Trace

	writer *sql.DB // one connection; every transaction of it is immediate
	reader *sql.DB // a few that can only read

	latest, latestRecovered, bySnapshot, values *sql.Stmt // on reader

	// On writer: what every target of a batch needs, and what comes many at once.
	startTarget, finishTarget, targetFinished, batchBytes *sql.Stmt
	insertValue, insertValueData                          *sql.Stmt

	packers chan *packer  // each Put holds one: bounds memory and encoders
	decoder *zstd.Decoder // for reader connections

	// Last-use times that are not written yet.
	uses      uses[string] // of entries, by snapshot
	valueUses uses[int64]  // of values, by id

	// longWAL is the length of the log at which a Put tries to empty it.
	longWAL atomic.Int64

	closeOnce sync.Once
	closeErr  error
}

// Open opens the store in c.Dir and makes it when it is missing. A file that
// a newer sift wrote is left as it is (ErrNewer). The whole file is not read:
// what is checked is that it is ours, complete in length, and of a layout
// known here. Damage further in is found when it is read (ErrCorrupt).
func Open(ctx context.Context, c Config) (*DB, error) {
	if c.Dir == "" {
		return nil, errors.New("open store: no folder given; set data_dir")
	}
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	db := &DB{
		dir: dir, path: filepath.Join(dir, fileName),
		trace:     c.Trace,
		packers:   newPackers(),
		uses:      newUses[string](sqlUsed),
		valueUses: newUses[int64](sqlValueUsed),
	}
	if err := db.setBudgets(c); err != nil {
		return nil, err
	}
	db.longWAL.Store(walLimit * 3 / 2)
	if err := db.open(ctx); err != nil {
		_ = db.closeHandles() // why it could not be opened says more
		return nil, db.explain("open store", err)
	}
	return db, nil
}

func (db *DB) open(ctx context.Context) (err error) {
	if err := db.makeFiles(); err != nil {
		return err
	}
	// Frames are decoded one after the other into a slice that has the room for
	// all of them and never more; maxPlain is that slice's limit.
	db.decoder, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(readers), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxMemory(maxPlain), zstd.WithDecoderMaxWindow(8*partSize), zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		return err
	}
	if db.writer, err = sql.Open("sqlite", db.dsn("_txlock=immediate")); err != nil {
		return err
	}
	db.writer.SetMaxOpenConns(1)
	if err := db.migrate(ctx, migrationFiles); err != nil {
		return err
	}
	if db.reader, err = sql.Open("sqlite", db.dsn("_txlock=deferred&_query_only=1")); err != nil {
		return err
	}
	db.reader.SetMaxOpenConns(readers)
	db.reader.SetMaxIdleConns(readers)
	return db.prepare(ctx)
}

// prepare compiles the statements of every request and every target once.
func (db *DB) prepare(ctx context.Context) (err error) {
	on := func(pool *sql.DB, text string) (stmt *sql.Stmt) {
		if err == nil {
			stmt, err = pool.PrepareContext(ctx, text)
		}
		return stmt
	}
	db.latest = on(db.reader, sqlLatest)
	db.latestRecovered = on(db.reader, sqlLatestRecovered)
	db.bySnapshot = on(db.reader, sqlBySnapshot)
	db.values = on(db.reader, sqlValues)
	db.startTarget = on(db.writer, sqlStartTarget)
	db.finishTarget = on(db.writer, sqlFinishTarget)
	db.targetFinished = on(db.writer, sqlTargetFinished)
	db.batchBytes = on(db.writer, sqlBatchBytes)
	db.insertValue = on(db.writer, sqlInsertValue)
	db.insertValueData = on(db.writer, sqlInsertValueData)
	return err
}

// dsn is the driver's address of the file. What is set for a connection is
// part of it, since database/sql makes connections when it likes. The journal
// mode and auto_vacuum are not: they are properties of the file, setting them
// writes to it, and a file that may be a newer sift's is to be looked at first.
func (db *DB) dsn(more string) string {
	u := url.URL{Scheme: "file", Path: db.path}
	return u.String() + "?mode=rw&_defensive=1&_dqs=0&_error_rc=1" +
		"&_busy_timeout=" + strconv.FormatInt(busyTimeout.Milliseconds(), 10) +
		"&_synchronous=FULL&_foreign_keys=1" +
		"&_pragma=temp_store(MEMORY)&_pragma=trusted_schema(0)&_pragma=cache_size(-2000)" +
		"&_pragma=journal_size_limit(" + strconv.Itoa(walLimit) + ")&" + more
}

// makeFiles makes the folder and an empty database where there is none, and
// finds out whether both can be written, since SQLite's own codes do not tell
// a read-only mount from a missing permission, and it would fall back to
// reading only.
func (db *DB) makeFiles() error {
	if err := os.MkdirAll(db.dir, 0o700); err != nil {
		return err
	}
	// Files beside the database are made here by SQLite, with the database's
	// own mode, which is why the database is not left to SQLite and its 0644.
	//
	// It is opened only where it is new: closing any descriptor of an existing
	// one would take away the locks that a store already open in this process
	// has on it (POSIX record locks belong to process and file).
	f, err := os.OpenFile(db.path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	switch {
	case err == nil:
		err = f.Close()
	case errors.Is(err, os.ErrExist):
		err = nil
	}
	if err != nil {
		return err
	}
	for path, mode := range map[string]uint32{db.dir: unix.W_OK | unix.X_OK, db.path: unix.R_OK | unix.W_OK} {
		if err := unix.Faccessat(unix.AT_FDCWD, path, mode, unix.AT_EACCESS); err != nil {
			return &os.PathError{Op: "access", Path: path, Err: err}
		}
	}
	return nil
}

// Close writes the last-use times that are still in memory and closes the
// file. Calls of other methods must have returned.
func (db *DB) Close() error {
	db.closeOnce.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), busyTimeout)
		defer cancel()
		flushErr := db.flushUses(ctx)
		db.closeErr = db.explain("close store", errors.Join(flushErr, db.closeHandles()))
	})
	return db.closeErr
}

// closeHandles closes what is open. The writer is last: the last connection
// of all moves the write-ahead log into the file and removes it.
func (db *DB) closeHandles() error {
	var errs []error
	if db.reader != nil {
		errs = append(errs, db.reader.Close()) // and its statements
	}
	if db.writer != nil {
		errs = append(errs, db.writer.Close())
	}
	if db.decoder != nil {
		db.decoder.Close()
	}
	return errors.Join(errs...)
}

// write runs fn in one transaction on the writing connection. Waiting for the
// connection ends with ctx; once begun, the transaction does not: a caller
// that leaves must not undo what others will want, and an interrupted commit
// leaves open whether it happened.
func (db *DB) write(ctx context.Context, fn func(ctx context.Context, tx *sql.Tx) error) error {
	conn, err := db.writer.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTimeout)
	defer cancel()
	for try := 1; ; try++ {
		err = inTx(ctx, conn, fn)
		if kindOf(err) != ErrBusy || try == busyTries {
			return err
		}
	}
}

func inTx(ctx context.Context, conn *sql.Conn, fn func(ctx context.Context, tx *sql.Tx) error) error {
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := fn(ctx, tx); err != nil {
		// SQLite has rolled back by itself after some errors; then this one
		// fails, and says nothing new.
		_ = tx.Rollback()
		return err
	}
	return tx.Commit()
}
