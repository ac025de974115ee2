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
// one that may; and recovered ones apart from those of the page itself.
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

	// Recovered says, in JSON that is nothing to the store, where the copy was
	// recovered from. nil: it is a copy of the page itself.
	Recovered []byte

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
	const op = "store entry"
	if e.Snapshot == "" {
		return errors.New(op + ": it has no snapshot id")
	}
	if e.Recovered != nil && len(e.Recovered) == 0 {
		return errors.New(op + ": it was recovered and does not say from where")
	}
	if len(e.Body) > maxPlain || len(e.Document) > maxPlain {
		return &fault{kind: ErrTooBig, text: fmt.Sprintf("%s: its body or document is over %d MiB and is not kept", op, maxPlain>>20)}
	}
	p, err := db.takePacker(ctx)
	if err != nil {
		return db.explain(op, err)
	}
	defer func() { db.packers <- p }()
	body, err := p.pack(e.Body)
	if err != nil {
		return db.explain(op, err)
	}
	document, err := p.pack(e.Document)
	if err != nil {
		return db.explain(op, err)
	}
	nbytes := int64(entryOverhead + sha256.Size + len(e.Snapshot) + len(e.Class))
	nbytes += stored(len(e.Key) + len(e.FinalURL) + len(e.ContentType) + len(e.ContentLanguage) + len(e.ETag) + len(e.LastModified) + len(e.Receipt) + len(e.Recovered))
	for _, parts := range [][]part{body, document} {
		for _, part := range parts {
			nbytes += stored(len(part.data)) + 32
		}
	}
	b := db.budgetOf(e)
	if nbytes > b.max {
		return &fault{kind: ErrTooBig, text: fmt.Sprintf("%s: it takes %d bytes, which is more than %s (%d), and is not kept", op, nbytes, b.option, b.max)}
	}
	oldCopies := func(ctx context.Context, tx *sql.Tx, out *removed) error { return out.oldCopies(ctx, tx, e) }
	err = db.put(ctx, op, b, nbytes, oldCopies, func(ctx context.Context, tx *sql.Tx) error {
		return insert(ctx, tx, e, body, document, nbytes)
	})
	if err != nil {
		return err
	}
	db.trace.stored(nbytes)
	return nil
}

const (
	sqlInsertContent = `INSERT INTO content (
		snapshot, class, key, key_hash, reusable, must_revalidate, partial, final_url, status,
		content_type, content_language, etag, last_modified, receipt, fetched_at, checked_at,
		body_size, document_size, nbytes, recovered, used)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ` + sqlNextUse + `)
	RETURNING id`

	sqlInsertPart = `INSERT INTO content_part (content_id, kind, n, codec, data) VALUES (?, ?, ?, ?, ?)`
)

func insert(ctx context.Context, tx *sql.Tx, e Entry, body, document []part, nbytes int64) error {
	var id int64
	err := tx.QueryRowContext(ctx, sqlInsertContent,
		e.Snapshot, e.Class, e.Key, hash(e.Key), e.Reusable, e.MustRevalidate, e.Partial, e.FinalURL, e.Status,
		e.ContentType, e.ContentLanguage, e.ETag, e.LastModified, e.Receipt, e.FetchedAt.UnixMilli(), e.CheckedAt.UnixMilli(),
		len(e.Body), len(e.Document), nbytes, e.Recovered).Scan(&id)
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
		c.recovered, c.body_size, c.document_size, p.kind, p.codec, p.data
	FROM content AS c LEFT JOIN content_part AS p ON p.content_id = c.id AND (p.kind = 1 OR c.body_size <= ?)
	WHERE c.id = `

	sqlEntryOrder = ` ORDER BY p.kind, p.n`

	sqlLatest = sqlEntry + `(SELECT id FROM content
		WHERE class = ? AND key_hash = ? AND reusable = 1 AND recovered IS NULL ORDER BY id DESC LIMIT 1)` + sqlEntryOrder

	sqlLatestRecovered = sqlEntry + `(SELECT id FROM content
		WHERE class = ? AND key_hash = ? AND reusable = 1 AND recovered IS NOT NULL ORDER BY id DESC LIMIT 1)` + sqlEntryOrder

	sqlBySnapshot = sqlEntry + `(SELECT id FROM content WHERE snapshot = ? AND class = ?)` + sqlEntryOrder

	sqlBody = `SELECT c.body_size, p.codec, p.data
	FROM content AS c JOIN content_part AS p ON p.content_id = c.id AND p.kind = 0
	WHERE c.snapshot = ? AND c.class = ? ORDER BY p.n`
)

// Latest gives the newest reusable copy of the page itself of a class and key.
// Newest is the one stored last, whatever the clocks said.
func (db *DB) Latest(ctx context.Context, class, key string) (Entry, bool, error) {
	return db.read(ctx, db.latest, InlineBody, class, hash(key))
}

// LatestRecovered is Latest for copies that were recovered from elsewhere.
// Which of the two is the better answer is for the caller to say.
func (db *DB) LatestRecovered(ctx context.Context, class, key string) (Entry, bool, error) {
	return db.read(ctx, db.latestRecovered, InlineBody, class, hash(key))
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
				return nil, db.damaged("read entry", fmt.Errorf("an entry claims a body of %d bytes", size))
			}
			body = make([]byte, 0, size)
		}
		if body, err = db.unpack(body, codec, data); err != nil {
			return nil, db.damaged("read entry", err)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	if int64(len(body)) != size {
		return nil, db.damaged("read entry", fmt.Errorf("a body of %d bytes came back as %d", size, len(body)))
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
			&e.Recovered, &e.BodySize, &documentSize, &kind, &codec, &data)
		if err != nil {
			return Entry{}, err
		}
		if first {
			if e.BodySize < 0 || e.BodySize > maxPlain || documentSize < 0 || documentSize > maxPlain {
				return Entry{}, db.damaged("read entry", fmt.Errorf("an entry claims %d and %d bytes", e.BodySize, documentSize))
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
			return Entry{}, db.damaged("read entry", err)
		}
	}
	if err := rows.Err(); err != nil {
		return Entry{}, err
	}
	if first {
		return Entry{}, sql.ErrNoRows
	}
	if e.BodySize <= InlineBody && int64(len(e.Body)) != e.BodySize || int64(len(e.Document)) != documentSize {
		return Entry{}, db.damaged("read entry", fmt.Errorf("an entry of %d and %d bytes came back as %d and %d", e.BodySize, documentSize, len(e.Body), len(e.Document)))
	}
	e.FetchedAt, e.CheckedAt = time.UnixMilli(fetched).UTC(), time.UnixMilli(checked).UTC()
	return e, nil
}

// damaged is for damage that SQLite does not see.
func (db *DB) damaged(op string, cause error) error {
	return &fault{kind: ErrCorrupt, text: op + ": " + db.sentence(ErrCorrupt), cause: cause}
}

const sqlRevalidated = `UPDATE content SET
		checked_at    = ?1,
		etag          = CASE WHEN ?2 = '' THEN etag ELSE ?2 END,
		last_modified = CASE WHEN ?3 = '' THEN last_modified ELSE ?3 END,
		nbytes        = nbytes
			+ CASE WHEN ?2 = '' THEN 0 ELSE octet_length(?2) - octet_length(etag) END
			+ CASE WHEN ?3 = '' THEN 0 ELSE octet_length(?3) - octet_length(last_modified) END
	WHERE snapshot = ?4 AND class = ?5 AND recovered IS NULL
	RETURNING id`

// Revalidated notes that the origin said at that time that the copy is still
// good, with new validators where it gave some ("" leaves the old one). It
// is false when the class holds no such copy any more, and for a recovered one,
// of which an origin cannot say that.
func (db *DB) Revalidated(ctx context.Context, class, snapshot string, at time.Time, etag, lastModified string) (bool, error) {
	var id int64
	err := db.uses.write(ctx, db, func(ctx context.Context, tx *sql.Tx) error {
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
