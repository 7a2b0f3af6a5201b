-- The hot tables of the store, bare: the same columns, indexes and keys, without its checks, and
-- nothing around them. What SQLite does with these rows is the limit that the store can come near.
CREATE TABLE jobs (
    seq INTEGER PRIMARY KEY, id BLOB, task TEXT, queue TEXT, state INTEGER, priority INTEGER,
    created_at INTEGER, run_at INTEGER, life INTEGER, attempt INTEGER, starts INTEGER,
    max_attempts INTEGER, crashes INTEGER, max_crashes INTEGER, releases INTEGER,
    snoozes INTEGER, timeout_ms INTEGER, backoff_initial_ms INTEGER, backoff_factor REAL,
    backoff_max_ms INTEGER, backoff_jitter REAL, queued_at INTEGER, error_start INTEGER,
    cancel_requested INTEGER, finished_at INTEGER, holds_key INTEGER, key_ttl_ms INTEGER,
    checkpoints INTEGER, checkpoints_bytes INTEGER, replays INTEGER, rejected INTEGER,
    replaced_by BLOB, start_state INTEGER, attempt_id BLOB, token BLOB, claim_mark BLOB,
    worker TEXT, start_queued_at INTEGER, started_at INTEGER, lease_ms INTEGER,
    expires_at INTEGER, deadline INTEGER
);
CREATE UNIQUE INDEX jobs_id ON jobs (id);
CREATE INDEX jobs_ready ON jobs (queue, task, priority DESC, run_at) WHERE state = 1;
CREATE INDEX jobs_due ON jobs (run_at) WHERE state IN (0, 3);
CREATE INDEX jobs_lease ON jobs (expires_at) WHERE state = 2;
CREATE INDEX jobs_ended ON jobs (state, finished_at) WHERE state >= 4;
CREATE INDEX jobs_unhappy ON jobs (state) WHERE state IN (5, 6);

CREATE TABLE bodies (
    seq INTEGER PRIMARY KEY, tags TEXT, traceparent TEXT, idempotency_key TEXT, rerun_of BLOB,
    payload TEXT
);

CREATE TABLE keys (
    task TEXT, key TEXT, job_id BLOB, fingerprint BLOB, algorithm INTEGER, seq INTEGER,
    queue TEXT, state INTEGER, created_at INTEGER, finished_at INTEGER, expires_at INTEGER,
    PRIMARY KEY (task, key)
) WITHOUT ROWID;
