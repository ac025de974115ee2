-- Recovered copies and small values. Each of the caches has its own budget, its
-- own order of use and its own row in usage.

INSERT INTO usage (cache, entries, bytes) VALUES ('recovered', 0, 0), ('digest', 0, 0), ('embed', 0, 0);

-- A copy that was not had from its page but from somewhere else, and from where,
-- in JSON. NULL for a copy of the page itself, as all are that were there before.
ALTER TABLE content ADD COLUMN recovered BLOB;

-- Who looks for the least used of one kind does not walk over the other.
DROP INDEX content_by_use;
CREATE INDEX content_by_use ON content (used) WHERE recovered IS NULL;
CREATE INDEX recovered_by_use ON content (used) WHERE recovered IS NOT NULL;

DROP TRIGGER content_added;
DROP TRIGGER content_removed;
DROP TRIGGER content_resized;

CREATE TRIGGER content_added AFTER INSERT ON content BEGIN
	UPDATE usage SET entries = entries + 1, bytes = bytes + NEW.nbytes
	WHERE cache = iif(NEW.recovered IS NULL, 'content', 'recovered');
END;

CREATE TRIGGER content_removed AFTER DELETE ON content BEGIN
	UPDATE usage SET entries = entries - 1, bytes = bytes - OLD.nbytes
	WHERE cache = iif(OLD.recovered IS NULL, 'content', 'recovered');
END;

-- A copy stays of the kind it is.
CREATE TRIGGER content_resized AFTER UPDATE OF nbytes ON content BEGIN
	UPDATE usage SET bytes = bytes - OLD.nbytes + NEW.nbytes
	WHERE cache = iif(NEW.recovered IS NULL, 'content', 'recovered');
END;

-- Small values, which are found by what they were made from. Used is as in
-- content, within a cache.
CREATE TABLE value (
	id       INTEGER PRIMARY KEY,
	cache    TEXT    NOT NULL REFERENCES usage (cache), -- so none is there that is not counted
	class    TEXT    NOT NULL,
	key_hash BLOB    NOT NULL, -- SHA-256 of the key
	nbytes   INTEGER NOT NULL, -- about what the value takes in the file
	used     INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX value_by_key ON value (cache, class, key_hash);
CREATE INDEX value_by_use ON value (cache, used);

-- Apart from value for the reason that content_part is apart from content.
CREATE TABLE value_data (
	id   INTEGER PRIMARY KEY REFERENCES value (id) ON DELETE CASCADE,
	data BLOB    NOT NULL
) STRICT;

CREATE TRIGGER value_added AFTER INSERT ON value BEGIN
	UPDATE usage SET entries = entries + 1, bytes = bytes + NEW.nbytes WHERE cache = NEW.cache;
END;

CREATE TRIGGER value_removed AFTER DELETE ON value BEGIN
	UPDATE usage SET entries = entries - 1, bytes = bytes - OLD.nbytes WHERE cache = OLD.cache;
END;

CREATE TRIGGER value_resized AFTER UPDATE OF nbytes ON value BEGIN
	UPDATE usage SET bytes = bytes - OLD.nbytes + NEW.nbytes WHERE cache = NEW.cache;
END;
