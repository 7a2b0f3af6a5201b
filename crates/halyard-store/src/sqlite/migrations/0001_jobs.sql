-- The first schema. Times and durations are milliseconds, ids and hashes are bytes, JSON is the
-- sender's own text. `SELECT *` is read by position, so columns are only ever added at the end.

-- One row a job, with everything that changes and its newest start. `seq` is the order of
-- creation; every other table hangs on it. Payloads live elsewhere, so that a claim or a heartbeat
-- rewrites some two hundred bytes and never a megabyte.
CREATE TABLE jobs (
    seq               INTEGER PRIMARY KEY,
    id                BLOB    NOT NULL,
    task              TEXT    NOT NULL,
    queue             TEXT    NOT NULL,
    -- 0 scheduled, 1 queued, 2 running, 3 retrying, 4 completed, 5 failed, 6 cancelled
    state             INTEGER NOT NULL CHECK (state BETWEEN 0 AND 6),
    priority          INTEGER NOT NULL,
    created_at        INTEGER NOT NULL,
    run_at            INTEGER NOT NULL,
    life              INTEGER NOT NULL,
    attempt           INTEGER NOT NULL,
    starts            INTEGER NOT NULL,
    max_attempts      INTEGER NOT NULL,
    crashes           INTEGER NOT NULL,
    max_crashes       INTEGER NOT NULL,
    releases          INTEGER NOT NULL,
    snoozes           INTEGER NOT NULL,
    timeout_ms        INTEGER NOT NULL,
    backoff_initial_ms INTEGER NOT NULL,
    backoff_factor    REAL    NOT NULL,
    backoff_max_ms    INTEGER NOT NULL,
    backoff_jitter    REAL    NOT NULL,
    queued_at         INTEGER NOT NULL,
    error_start       INTEGER,
    cancel_requested  INTEGER NOT NULL,
    finished_at       INTEGER,
    holds_key         INTEGER NOT NULL,
    key_ttl_ms        INTEGER NOT NULL,
    checkpoints       INTEGER NOT NULL,
    checkpoints_bytes INTEGER NOT NULL,
    replays           INTEGER NOT NULL,
    rejected          INTEGER NOT NULL,
    replaced_by       BLOB,
    -- the newest start
    start_state       INTEGER,
    attempt_id        BLOB,
    token             BLOB,
    claim_mark        BLOB,
    worker            TEXT,
    start_queued_at   INTEGER,
    started_at        INTEGER,
    lease_ms          INTEGER,
    expires_at        INTEGER,
    deadline          INTEGER,
    -- A running job without a lease that ends would wait for ever. A check that gives null passes,
    -- so it is asked whether it is true.
    CHECK (state <> 2 OR (start_state = 0 AND token IS NOT NULL AND expires_at <= deadline) IS TRUE),
    CHECK ((finished_at IS NOT NULL) = (state >= 4))
) STRICT;

-- By the id on the wire.
CREATE UNIQUE INDEX jobs_id ON jobs (id);
-- The claim: its order is the index's order, with `seq` behind it. Only queued rows stand in it,
-- so finished work never slows a claim, and other tasks' backlogs are stepped over.
CREATE INDEX jobs_ready ON jobs (queue, task, priority DESC, run_at) WHERE state = 1;
-- The promoter: what is due next.
CREATE INDEX jobs_due ON jobs (run_at) WHERE state IN (0, 3);
-- The reaper: what lapses next.
CREATE INDEX jobs_lease ON jobs (expires_at) WHERE state = 2;
-- Retention: what ended first.
CREATE INDEX jobs_ended ON jobs (state, finished_at) WHERE state >= 4;
-- Lists of the rare ends, in the order of creation. Completed jobs are found by walking `seq`:
-- they are the many, and an index on them would cost every job.
CREATE INDEX jobs_unhappy ON jobs (state) WHERE state IN (5, 6);

-- What never changes. The payload stands last, so that reading the rest does not touch its pages.
CREATE TABLE bodies (
    seq             INTEGER PRIMARY KEY,
    tags            TEXT,
    traceparent     TEXT,
    idempotency_key TEXT,
    rerun_of        BLOB,
    payload         TEXT NOT NULL
) STRICT;

CREATE TABLE results (
    seq    INTEGER PRIMARY KEY,
    result TEXT NOT NULL
) STRICT;

-- Starts that ended otherwise than by completing; a completed one is read from the job itself.
CREATE TABLE attempts (
    seq            INTEGER NOT NULL,
    number         INTEGER NOT NULL,
    id             BLOB    NOT NULL,
    token          BLOB    NOT NULL,
    life           INTEGER NOT NULL,
    attempt        INTEGER NOT NULL,
    state          INTEGER NOT NULL,
    worker         TEXT    NOT NULL,
    queued_at      INTEGER NOT NULL,
    started_at     INTEGER NOT NULL,
    finished_at    INTEGER,
    retry_delay_ms INTEGER,
    retry_reason   INTEGER,
    report         INTEGER,
    result         BLOB,
    state_after    INTEGER NOT NULL,
    error_type     TEXT,
    error_kind     TEXT,
    error_message  TEXT,
    error_stack    TEXT,
    PRIMARY KEY (seq, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE checkpoints (
    seq        INTEGER NOT NULL,
    position   INTEGER NOT NULL,
    name       TEXT    NOT NULL,
    life       INTEGER NOT NULL,
    attempt    INTEGER NOT NULL,
    start      INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    value      TEXT    NOT NULL,
    PRIMARY KEY (seq, position)
) STRICT, WITHOUT ROWID;

-- First write wins.
CREATE UNIQUE INDEX checkpoints_name ON checkpoints (seq, name);

-- One (task, key) is one job. While the job's row exists, `seq` points at it and the key's end is
-- read through it; when the row goes, the tombstone columns are filled and `seq` is null.
CREATE TABLE keys (
    task        TEXT    NOT NULL,
    key         TEXT    NOT NULL,
    job_id      BLOB    NOT NULL,
    fingerprint BLOB    NOT NULL,
    algorithm   INTEGER NOT NULL,
    seq         INTEGER,
    queue       TEXT,
    state       INTEGER,
    created_at  INTEGER,
    finished_at INTEGER,
    expires_at  INTEGER,
    PRIMARY KEY (task, key),
    CHECK ((seq IS NULL) = (expires_at IS NOT NULL))
) STRICT, WITHOUT ROWID;

-- Tombstones by their end, and by the job that they stand for.
CREATE INDEX keys_expiry ON keys (expires_at, job_id) WHERE seq IS NULL;
CREATE INDEX keys_job ON keys (job_id) WHERE seq IS NULL;

-- Requests that carried an `Idempotency-Key`, with what they did.
CREATE TABLE requests (
    scope      TEXT    NOT NULL,
    value      TEXT    NOT NULL,
    body       BLOB    NOT NULL,
    expires_at INTEGER NOT NULL,
    results    TEXT    NOT NULL,
    PRIMARY KEY (scope, value)
) STRICT, WITHOUT ROWID;

CREATE INDEX requests_expiry ON requests (expires_at);

-- Jobs by queue, task and state, kept in the same transaction as the jobs.
CREATE TABLE counters (
    queue TEXT    NOT NULL,
    task  TEXT    NOT NULL,
    state INTEGER NOT NULL,
    jobs  INTEGER NOT NULL CHECK (jobs >= 0),
    PRIMARY KEY (queue, task, state)
) STRICT, WITHOUT ROWID;

CREATE TABLE queues (
    name   TEXT    PRIMARY KEY,
    paused INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- One row: events since the store was made.
CREATE TABLE totals (
    created          INTEGER NOT NULL DEFAULT 0,
    replayed         INTEGER NOT NULL DEFAULT 0,
    keys_refused     INTEGER NOT NULL DEFAULT 0,
    completed        INTEGER NOT NULL DEFAULT 0,
    failed           INTEGER NOT NULL DEFAULT 0,
    cancelled        INTEGER NOT NULL DEFAULT 0,
    retried          INTEGER NOT NULL DEFAULT 0,
    leases_lost      INTEGER NOT NULL DEFAULT 0,
    timed_out        INTEGER NOT NULL DEFAULT 0,
    reports_rejected INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO totals DEFAULT VALUES;

CREATE TABLE minutes (
    at        INTEGER PRIMARY KEY,
    created   INTEGER NOT NULL,
    completed INTEGER NOT NULL,
    failed    INTEGER NOT NULL
) STRICT;

-- One row: the last second in which a server served this store.
CREATE TABLE stamp (at INTEGER NOT NULL) STRICT;
INSERT INTO stamp VALUES (0);
