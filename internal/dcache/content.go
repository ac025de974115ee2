package dcache

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
)

// keepPerKey is how many copies of one key are kept, reusable ones and others
// counted apart, so that copies that may not answer a request cannot push out
// one that may.
const keepPerKey = 4

// Entry is one downloaded copy with what was extracted from it.
type Entry struct {
	Snapshot string // of NewSnapshot; names this copy for as long as it is held
	Class    string // the caller's; nothing is ever found from another class
	Key      string // what a later request must equal, such as the URL

	FinalURL        string
	Status          int
	ContentType     string
	ContentLanguage string
	ETag            string
	LastModified    string

	// Body is at most 128 MiB, compressed in the store. What Latest and
	// BySnapshot give has none where BodySize is over InlineBody: most
	// answers need only the document. DB.Body reads it.
	Body     []byte
	BodySize int64  // filled in by the store
	Document []byte // like Body, but always read
	Receipt  []byte // JSON

	FetchedAt time.Time // kept to the millisecond, read back in UTC
	CheckedAt time.Time // likewise; when it was fetched or last revalidated

	Reusable       bool // may answer another request for Key
	MustRevalidate bool
	Partial        bool
}

// InlineBody is the longest body that is read together with its entry.
const InlineBody = 1 << 20

// NewSnapshot gives a new random id for a copy. It tells nothing about it.
func NewSnapshot() string { return strings.ToLower(rand.Text()) }

// entryOverhead is what an entry takes in the file beside its own bytes: the
// numbers of its rows and its places in four indexes.
const entryOverhead = 512

// stored is about what n bytes of a value take in the file: a long one fills
// whole pages.
func stored(n int) int64 {
	const page = 4096
	if n < page {
		return int64(n)
	}
	return (int64(n) + page - 1) / page * page
}

// Put stores e. It is on disk when Put returns nil. Older copies of the same
// key stay readable by their snapshot for a while (the newest four are kept).
// An entry that alone is larger than the budget is not stored (ErrTooBig);
// otherwise the least recently used entries make room for it.
//
// e is not kept, and not copied as a whole: it must not be changed until Put
// returns.
func (db *DB) Put(ctx context.Context, e Entry) error {
	if e.Snapshot == "" {
		return errors.New("store entry: it has no snapshot id")
	}
	if len(e.Body) > maxPlain || len(e.Document) > maxPlain {
		return &fault{kind: ErrTooBig, text: fmt.Sprintf("store entry: its body or document is over %d MiB and is not kept", maxPlain>>20)}
	}
	p, err := db.takePacker(ctx)
	if err != nil {
		return db.explain("store entry", err)
	}
	defer func() { db.packers <- p }()
	body, err := p.pack(e.Body)
	if err != nil {
		return db.explain("store entry", err)
	}
	document, err := p.pack(e.Document)
	if err != nil {
		return db.explain("store entry", err)
	}
	nbytes := int64(entryOverhead + sha256.Size + len(e.Snapshot) + len(e.Class))
	nbytes += stored(len(e.Key) + len(e.FinalURL) + len(e.ContentType) + len(e.ContentLanguage) + len(e.ETag) + len(e.LastModified) + len(e.Receipt))
	for _, parts := range [][]part{body, document} {
		for _, part := range parts {
			nbytes += stored(len(part.data)) + 32
		}
	}
	if nbytes > db.max {
		return &fault{kind: ErrTooBig, text: fmt.Sprintf("store entry: it takes %d bytes, which is more than cache.max_bytes (%d), and is not kept", nbytes, db.max)}
	}

	for done := false; !done; {
		var out removed
		err := db.writeUsed(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
			out = removed{} // a transaction may be tried again
			if err := out.oldCopies(ctx, tx, e); err != nil {
				return err
			}
			if done, err = out.makeRoom(ctx, tx, db.max-nbytes); err != nil || !done {
				return err
			}
			return insert(ctx, tx, e, body, document, nbytes)
		})
		if err != nil {
			if kindOf(err) == ErrFull {
				// What did not fit was written behind the end of the log all the
				// same, and would keep the disk full.
				_, _ = db.truncateWAL(ctx)
			}
			return db.explain("store entry", err)
		}
		db.trace.evicted(out.n, out.bytes)
	}
	db.trace.stored(nbytes)
	db.shortenLongWAL(ctx)
	return nil
}

const (
	sqlInsertContent = `INSERT INTO content (
		snapshot, class, key, key_hash, reusable, must_revalidate, partial, final_url, status,
		content_type, content_language, etag, last_modified, receipt, fetched_at, checked_at,
		body_size, document_size, nbytes, used)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, (SELECT coalesce(max(used), 0) + 1 FROM content))
	RETURNING id`

	sqlInsertPart = `INSERT INTO content_part (content_id, kind, n, codec, data) VALUES (?, ?, ?, ?, ?)`
)

func insert(ctx context.Context, tx *sql.Tx, e Entry, body, document []part, nbytes int64) error {
	var id int64
	err := tx.QueryRowContext(ctx, sqlInsertContent,
		e.Snapshot, e.Class, e.Key, hash(e.Key), e.Reusable, e.MustRevalidate, e.Partial, e.FinalURL, e.Status,
		e.ContentType, e.ContentLanguage, e.ETag, e.LastModified, e.Receipt, e.FetchedAt.UnixMilli(), e.CheckedAt.UnixMilli(),
		len(e.Body), len(e.Document), nbytes).Scan(&id)
	if err != nil {
		return err
	}
	for kind, parts := range [][]part{body, document} {
		for n, part := range parts {
			if _, err := tx.ExecContext(ctx, sqlInsertPart, id, kind, n, part.codec, part.data); err != nil {
				return err
			}
		}
	}
	return nil
}

func hash(key string) []byte {
	h := sha256.Sum256([]byte(key))
	return h[:]
}

// One statement each, so that metadata and parts are of one moment: an entry
// can be evicted between two.
const (
	sqlEntry = `SELECT c.snapshot, c.class, c.key, c.reusable, c.must_revalidate, c.partial, c.final_url, c.status,
		c.content_type, c.content_language, c.etag, c.last_modified, c.receipt, c.fetched_at, c.checked_at,
		c.body_size, c.document_size, p.kind, p.codec, p.data
	FROM content AS c LEFT JOIN content_part AS p ON p.content_id = c.id AND (p.kind = 1 OR c.body_size <= ?)
	WHERE c.id = `

	sqlEntryOrder = ` ORDER BY p.kind, p.n`

	sqlLatest = sqlEntry + `(SELECT id FROM content
		WHERE class = ? AND key_hash = ? AND reusable = 1 ORDER BY id DESC LIMIT 1)` + sqlEntryOrder

	sqlBySnapshot = sqlEntry + `(SELECT id FROM content WHERE snapshot = ? AND class = ?)` + sqlEntryOrder

	sqlBody = `SELECT c.body_size, p.codec, p.data
	FROM content AS c JOIN content_part AS p ON p.content_id = c.id AND p.kind = 0
	WHERE c.snapshot = ? AND c.class = ? ORDER BY p.n`
)

// Latest gives the newest reusable entry of a class and key. Newest is the one
// stored last, whatever the clocks said.
func (db *DB) Latest(ctx context.Context, class, key string) (Entry, bool, error) {
	return db.read(ctx, db.latest, InlineBody, class, hash(key))
}

// BySnapshot gives the very copy that id names, when it is of this class and
// still held.
func (db *DB) BySnapshot(ctx context.Context, class, id string) (Entry, bool, error) {
	return db.read(ctx, db.bySnapshot, InlineBody, id, class)
}

// Body gives the body of the copy that id names, whatever its size. It is false
// when the class holds no such copy any more.
func (db *DB) Body(ctx context.Context, class, id string) ([]byte, bool, error) {
	body, err := db.readBody(ctx, class, id)
	if err != nil {
		return nil, false, db.explain("read body", err)
	}
	return body, body != nil, nil
}

func (db *DB) readBody(ctx context.Context, class, id string) (body []byte, err error) {
	rows, err := db.reader.QueryContext(ctx, sqlBody, id, class)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var size int64
	var codec int
	var data sql.RawBytes
	for rows.Next() {
		if err := rows.Scan(&size, &codec, &data); err != nil {
			return nil, err
		}
		if body == nil {
			if size < 0 || size > maxPlain {
				return nil, db.damaged(fmt.Errorf("an entry claims a body of %d bytes", size))
			}
			body = make([]byte, 0, size)
		}
		if body, err = db.unpack(body, codec, data); err != nil {
			return nil, db.damaged(err)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	if int64(len(body)) != size {
		return nil, db.damaged(fmt.Errorf("a body of %d bytes came back as %d", size, len(body)))
	}
	return body, nil
}

func (db *DB) read(ctx context.Context, stmt *sql.Stmt, args ...any) (Entry, bool, error) {
	e, err := db.readEntry(ctx, stmt, args)
	if errors.Is(err, sql.ErrNoRows) {
		return Entry{}, false, nil
	}
	if err != nil {
		return Entry{}, false, db.explain("read entry", err)
	}
	db.uses.note(e.Snapshot)
	return e, true, nil
}

func (db *DB) readEntry(ctx context.Context, stmt *sql.Stmt, args []any) (e Entry, err error) {
	rows, err := stmt.QueryContext(ctx, args...)
	if err != nil {
		return Entry{}, err
	}
	defer rows.Close()
	var (
		first            = true
		fetched, checked int64
		documentSize     int64
		kind, codec      sql.NullInt64
		data             sql.RawBytes // of this row only: saves a copy of each part
	)
	for rows.Next() {
		err := rows.Scan(&e.Snapshot, &e.Class, &e.Key, &e.Reusable, &e.MustRevalidate, &e.Partial, &e.FinalURL, &e.Status,
			&e.ContentType, &e.ContentLanguage, &e.ETag, &e.LastModified, &e.Receipt, &fetched, &checked,
			&e.BodySize, &documentSize, &kind, &codec, &data)
		if err != nil {
			return Entry{}, err
		}
		if first {
			if e.BodySize < 0 || e.BodySize > maxPlain || documentSize < 0 || documentSize > maxPlain {
				return Entry{}, db.damaged(fmt.Errorf("an entry claims %d and %d bytes", e.BodySize, documentSize))
			}
			if e.BodySize > 0 && e.BodySize <= InlineBody {
				e.Body = make([]byte, 0, e.BodySize)
			}
			if documentSize > 0 {
				e.Document = make([]byte, 0, documentSize)
			}
			first = false
		}
		if !kind.Valid {
			continue // no parts at all
		}
		into := &e.Body
		if kind.Int64 != 0 {
			into = &e.Document
		}
		if *into, err = db.unpack(*into, int(codec.Int64), data); err != nil {
			return Entry{}, db.damaged(err)
		}
	}
	if err := rows.Err(); err != nil {
		return Entry{}, err
	}
	if first {
		return Entry{}, sql.ErrNoRows
	}
	if e.BodySize <= InlineBody && int64(len(e.Body)) != e.BodySize || int64(len(e.Document)) != documentSize {
		return Entry{}, db.damaged(fmt.Errorf("an entry of %d and %d bytes came back as %d and %d", e.BodySize, documentSize, len(e.Body), len(e.Document)))
	}
	e.FetchedAt, e.CheckedAt = time.UnixMilli(fetched).UTC(), time.UnixMilli(checked).UTC()
	return e, nil
}

// damaged is for damage that SQLite does not see.
func (db *DB) damaged(cause error) error {
	return &fault{kind: ErrCorrupt, text: "read entry: " + db.sentence(ErrCorrupt), cause: cause}
}

const sqlRevalidated = `UPDATE content SET
		checked_at    = ?1,
		etag          = CASE WHEN ?2 = '' THEN etag ELSE ?2 END,
		last_modified = CASE WHEN ?3 = '' THEN last_modified ELSE ?3 END,
		nbytes        = nbytes
			+ CASE WHEN ?2 = '' THEN 0 ELSE octet_length(?2) - octet_length(etag) END
			+ CASE WHEN ?3 = '' THEN 0 ELSE octet_length(?3) - octet_length(last_modified) END
	WHERE snapshot = ?4 AND class = ?5
	RETURNING id`

// Revalidated notes that the origin said at that time that the copy is still
// good, with new validators where it gave some ("" leaves the old one). It
// is false when the class holds no such copy any more.
func (db *DB) Revalidated(ctx context.Context, class, snapshot string, at time.Time, etag, lastModified string) (bool, error) {
	var id int64
	err := db.writeUsed(ctx, func(ctx context.Context, tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, sqlRevalidated, at.UnixMilli(), etag, lastModified, snapshot, class).Scan(&id)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, db.explain("revalidate entry", err)
	}
	db.uses.note(snapshot)
	return true, nil
}

// Stats is what the content cache holds.
type Stats struct {
	Entries int64
	Bytes   int64 // as counted against Config.MaxBytes
}

const sqlStats = `SELECT entries, bytes FROM usage WHERE cache = 'content'`

// Stats counts the content cache. It is cheap.
func (db *DB) Stats(ctx context.Context) (Stats, error) {
	var s Stats
	err := db.reader.QueryRowContext(ctx, sqlStats).Scan(&s.Entries, &s.Bytes)
	return s, db.explain("count entries", err)
}
