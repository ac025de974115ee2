-- The content cache. Numbered migrations are never edited once they have
-- shipped; a change is a new file.
--
-- Times are Unix milliseconds. Nothing here orders by them: "newest" is the
-- highest id and "least recently used" the lowest value of used, both plain
-- counters, so that a clock that jumps cannot evict or hide anything.

-- What each cache of this file holds, kept by triggers so that no statement
-- can forget it.
CREATE TABLE usage (
	cache   TEXT PRIMARY KEY,
	entries INTEGER NOT NULL,
	bytes   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO usage (cache, entries, bytes) VALUES ('content', 0, 0);

-- One downloaded copy. AUTOINCREMENT, because the highest id ever given is the
-- newest copy, also after the one before it has been evicted.
CREATE TABLE content (
	id               INTEGER PRIMARY KEY AUTOINCREMENT,
	snapshot         TEXT    NOT NULL UNIQUE,
	class            TEXT    NOT NULL,
	key              TEXT    NOT NULL,
	key_hash         BLOB    NOT NULL, -- SHA-256 of key: a URL of 8 KiB does not belong in an index
	reusable         INTEGER NOT NULL,
	must_revalidate  INTEGER NOT NULL,
	partial          INTEGER NOT NULL,
	final_url        TEXT    NOT NULL,
	status           INTEGER NOT NULL,
	content_type     TEXT    NOT NULL,
	content_language TEXT    NOT NULL,
	etag             TEXT    NOT NULL,
	last_modified    TEXT    NOT NULL,
	receipt          BLOB,
	fetched_at       INTEGER NOT NULL,
	checked_at       INTEGER NOT NULL,
	body_size        INTEGER NOT NULL, -- before compression
	document_size    INTEGER NOT NULL, -- before compression
	nbytes           INTEGER NOT NULL, -- about what the entry takes in the file
	used             INTEGER NOT NULL
) STRICT;

CREATE INDEX content_by_key ON content (class, key_hash, reusable, id);
CREATE INDEX content_by_use ON content (used);

-- Body and document, in pieces. They are not in content, because SQLite
-- rewrites a whole row when one number of it changes, and in pieces, because
-- a value is held in memory two or three times while it is written or read.
CREATE TABLE content_part (
	id         INTEGER PRIMARY KEY,
	content_id INTEGER NOT NULL REFERENCES content (id) ON DELETE CASCADE,
	kind       INTEGER NOT NULL, -- 0 body, 1 document
	n          INTEGER NOT NULL, -- order within the kind
	codec      INTEGER NOT NULL, -- 0 as it is, 1 one zstd frame
	data       BLOB    NOT NULL
) STRICT;

CREATE UNIQUE INDEX content_part_of ON content_part (content_id, kind, n);

CREATE TRIGGER content_added AFTER INSERT ON content BEGIN
	UPDATE usage SET entries = entries + 1, bytes = bytes + NEW.nbytes WHERE cache = 'content';
END;

CREATE TRIGGER content_removed AFTER DELETE ON content BEGIN
	UPDATE usage SET entries = entries - 1, bytes = bytes - OLD.nbytes WHERE cache = 'content';
END;

CREATE TRIGGER content_resized AFTER UPDATE OF nbytes ON content BEGIN
	UPDATE usage SET bytes = bytes - OLD.nbytes + NEW.nbytes WHERE cache = 'content';
END;
