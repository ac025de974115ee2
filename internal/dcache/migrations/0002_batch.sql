-- Batch jobs and their targets. Times are Unix milliseconds. Jobs are ordered
-- by seq, never by a clock.

INSERT INTO usage (cache, entries, bytes) VALUES ('batch', 0, 0);

CREATE TABLE batch_job (
	seq               INTEGER PRIMARY KEY,
	id                TEXT    NOT NULL UNIQUE,
	caller            TEXT    NOT NULL,
	caller_class      TEXT    NOT NULL,
	caller_restricted INTEGER NOT NULL,
	caller_anonymous  INTEGER NOT NULL,
	idem_key          TEXT    NOT NULL,
	newest            INTEGER NOT NULL CHECK (newest IN (0, 1)), -- of its key: the one that a resubmit is answered with
	status            TEXT    NOT NULL CHECK (status IN ('queued', 'running', 'done', 'partial', 'failed', 'cancelled')),
	error             TEXT    NOT NULL,
	epoch             INTEGER NOT NULL, -- claims so far; a write names the one that it belongs to
	targets_total     INTEGER NOT NULL,
	targets_done      INTEGER NOT NULL CHECK (targets_done BETWEEN 0 AND targets_total),
	created_at        INTEGER NOT NULL,
	lease             INTEGER NOT NULL, -- when it was last renewed
	nbytes            INTEGER NOT NULL, -- of its results, errors and hints
	list_bytes        INTEGER NOT NULL  -- about what the list takes in the file: URLs, options and the rows
) STRICT;

-- Stands behind the idempotency: a second newest job of a key is impossible.
CREATE UNIQUE INDEX batch_job_newest ON batch_job (caller, idem_key) WHERE newest = 1;

CREATE INDEX batch_job_of ON batch_job (caller, seq, list_bytes);
CREATE INDEX batch_job_live ON batch_job (seq) WHERE status IN ('queued', 'running');
CREATE INDEX batch_job_ended ON batch_job (lease, seq) WHERE status NOT IN ('queued', 'running');
CREATE INDEX batch_job_ended_of ON batch_job (caller, lease, seq) WHERE status NOT IN ('queued', 'running');

-- There may be many thousands of jobs that nothing came of. Who makes room for
-- results does not walk over them.
CREATE INDEX batch_job_evictable ON batch_job (lease, seq) WHERE status NOT IN ('queued', 'running') AND nbytes > 0;

-- The long columns are the last, so that the others are read without them.
CREATE TABLE batch_target (
	job_id  TEXT    NOT NULL REFERENCES batch_job (id) ON DELETE CASCADE,
	idx     INTEGER NOT NULL,
	status  TEXT    NOT NULL CHECK (status IN ('pending', 'running', 'done', 'failed')),
	error   TEXT    NOT NULL,
	hint    TEXT    NOT NULL,
	url     TEXT    NOT NULL,
	options TEXT    NOT NULL, -- JSON
	result  TEXT,             -- the envelope, JSON
	CHECK ((status = 'done') = (result IS NOT NULL))
) STRICT;

CREATE UNIQUE INDEX batch_target_of ON batch_target (job_id, idx);
CREATE INDEX batch_target_running ON batch_target (job_id) WHERE status = 'running';

CREATE TRIGGER batch_job_added AFTER INSERT ON batch_job BEGIN
	UPDATE usage SET entries = entries + 1, bytes = bytes + NEW.nbytes WHERE cache = 'batch';
END;

CREATE TRIGGER batch_job_removed AFTER DELETE ON batch_job BEGIN
	UPDATE usage SET entries = entries - 1, bytes = bytes - OLD.nbytes WHERE cache = 'batch';
END;

CREATE TRIGGER batch_job_resized AFTER UPDATE OF nbytes ON batch_job BEGIN
	UPDATE usage SET bytes = bytes - OLD.nbytes + NEW.nbytes WHERE cache = 'batch';
END;
