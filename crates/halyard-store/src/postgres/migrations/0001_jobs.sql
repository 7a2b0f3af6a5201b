-- The first schema. Times and durations are milliseconds, JSON is the sender's own text. `halyard.`
-- stands for the schema that the server was given. Rows are read by position, so columns are only
-- ever added at the end.

-- One row a job, with everything that changes and its newest start. `seq` is the order of
-- creation; every other table hangs on it. Each change writes the row anew and into its indexes, so
-- the row is narrow, has one index of its own, and stands in at most one of the partial ones; the
-- room in its page takes the next versions.
CREATE TABLE halyard.jobs (
    seq               bigint   PRIMARY KEY,
    id                uuid     NOT NULL,
    task              text COLLATE "C"     NOT NULL,
    queue             text COLLATE "C"     NOT NULL,
    -- 0 scheduled, 1 queued, 2 running, 3 retrying, 4 completed, 5 failed, 6 cancelled
    state             smallint NOT NULL CHECK (state BETWEEN 0 AND 6),
    priority          integer  NOT NULL,
    created_at        bigint   NOT NULL,
    run_at            bigint   NOT NULL,
    life              integer  NOT NULL,
    attempt           integer  NOT NULL,
    -- Counts that a job may drive up for ever: released and snoozed starts have no limit.
    starts            bigint   NOT NULL,
    max_attempts      integer  NOT NULL,
    crashes           integer  NOT NULL,
    max_crashes       integer  NOT NULL,
    releases          bigint   NOT NULL,
    snoozes           bigint   NOT NULL,
    timeout_ms        bigint   NOT NULL,
    backoff_initial_ms bigint  NOT NULL,
    backoff_factor    double precision NOT NULL,
    backoff_max_ms    bigint   NOT NULL,
    backoff_jitter    double precision NOT NULL,
    queued_at         bigint   NOT NULL,
    error_start       bigint,
    cancel_requested  boolean  NOT NULL,
    finished_at       bigint,
    holds_key         boolean  NOT NULL,
    key_ttl_ms        bigint   NOT NULL,
    checkpoints       integer  NOT NULL,
    checkpoints_bytes bigint   NOT NULL,
    replays           bigint   NOT NULL,
    rejected          bigint   NOT NULL,
    replaced_by       uuid,
    -- the newest start
    start_state       smallint,
    attempt_id        uuid,
    token             uuid,
    claim_mark        uuid,
    worker            text COLLATE "C",
    start_queued_at   bigint,
    started_at        bigint,
    lease_ms          bigint,
    expires_at        bigint,
    deadline          bigint,
    -- A running job without a lease that ends would wait for ever. A check that gives null passes,
    -- so it is asked whether it is true.
    CHECK (state <> 2 OR (start_state = 0 AND token IS NOT NULL AND expires_at <= deadline) IS TRUE),
    CHECK ((finished_at IS NOT NULL) = (state >= 4))
) WITH (
    fillfactor = 70,
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_threshold = 1000,
    autovacuum_vacuum_cost_delay = 0,
    autovacuum_analyze_scale_factor = 0.05
);

-- The numbers of jobs. A number that was taken and not used is a gap.
CREATE SEQUENCE halyard.jobs_seq AS bigint;

-- The claim: its order is the index's order. Only queued rows stand in it, so finished work never
-- slows a claim, and other tasks' backlogs are stepped over.
CREATE INDEX jobs_ready ON halyard.jobs (queue, task, priority DESC, run_at, seq) WHERE state = 1;
-- The promoter: what is due next.
CREATE INDEX jobs_due ON halyard.jobs (run_at, seq) WHERE state IN (0, 3);
-- The reaper: what lapses next.
CREATE INDEX jobs_lease ON halyard.jobs (expires_at, seq) WHERE state = 2;
-- Retention: what ended first.
CREATE INDEX jobs_ended ON halyard.jobs (state, finished_at, seq) WHERE state >= 4;
-- Lists of the rare ends, in the order of creation. Completed jobs are found by walking `seq`.
CREATE INDEX jobs_unhappy ON halyard.jobs (state, seq) WHERE state IN (5, 6);

-- What never changes, and the id on the wire: a row that is never written again keeps the index of
-- random ids out of every change.
CREATE TABLE halyard.bodies (
    seq             bigint PRIMARY KEY,
    id              uuid   NOT NULL,
    tags            text,
    traceparent     text,
    idempotency_key text COLLATE "C",
    rerun_of        uuid,
    payload         text   NOT NULL
);
CREATE UNIQUE INDEX bodies_id ON halyard.bodies (id);

CREATE TABLE halyard.results (
    seq    bigint PRIMARY KEY,
    result text   NOT NULL
);

-- Starts that ended otherwise than by completing; a completed one is read from the job itself.
CREATE TABLE halyard.attempts (
    seq            bigint   NOT NULL,
    number         bigint   NOT NULL,
    id             uuid     NOT NULL,
    token          uuid     NOT NULL,
    life           integer  NOT NULL,
    attempt        integer  NOT NULL,
    state          smallint NOT NULL,
    worker         text COLLATE "C"     NOT NULL,
    queued_at      bigint   NOT NULL,
    started_at     bigint   NOT NULL,
    finished_at    bigint,
    retry_delay_ms bigint,
    retry_reason   smallint,
    report         smallint,
    result         bytea,
    state_after    smallint NOT NULL,
    error_type     text,
    error_kind     text,
    error_message  text,
    error_stack    text,
    PRIMARY KEY (seq, number)
);

CREATE TABLE halyard.checkpoints (
    seq        bigint  NOT NULL,
    position   integer NOT NULL,
    name       text COLLATE "C"    NOT NULL,
    life       integer NOT NULL,
    attempt    integer NOT NULL,
    start      bigint  NOT NULL,
    created_at bigint  NOT NULL,
    value      text    NOT NULL,
    PRIMARY KEY (seq, position)
);

-- First write wins.
CREATE UNIQUE INDEX checkpoints_name ON halyard.checkpoints (seq, name);

-- One (task, key) is one job. While the job's row exists, `seq` points at it and the key's end is
-- read through it; when the row goes, the tombstone columns are filled and `seq` is null.
CREATE TABLE halyard.keys (
    task        text COLLATE "C"     NOT NULL,
    key         text COLLATE "C"     NOT NULL,
    job_id      uuid     NOT NULL,
    fingerprint bytea    NOT NULL,
    algorithm   smallint NOT NULL,
    seq         bigint,
    queue       text COLLATE "C",
    state       smallint,
    created_at  bigint,
    finished_at bigint,
    expires_at  bigint,
    PRIMARY KEY (task, key),
    CHECK ((seq IS NULL) = (expires_at IS NOT NULL))
);

-- Tombstones by their end, and by the job that they stand for.
CREATE INDEX keys_expiry ON halyard.keys (expires_at, job_id) WHERE seq IS NULL;
CREATE INDEX keys_job ON halyard.keys (job_id) WHERE seq IS NULL;

-- Requests that carried an `Idempotency-Key`, with what they did.
CREATE TABLE halyard.requests (
    scope      text COLLATE "C"   NOT NULL,
    value      text COLLATE "C"   NOT NULL,
    body       bytea  NOT NULL,
    expires_at bigint NOT NULL,
    results    text   NOT NULL,
    PRIMARY KEY (scope, value)
);

CREATE INDEX requests_expiry ON halyard.requests (expires_at);

-- Jobs by queue, task and state, added to in the same transaction as the jobs. Whoever counts does
-- it in a slot of its own, so that no row is fought for; the sum over all slots is the number, and
-- what one slot holds may be below zero.
CREATE TABLE halyard.counters (
    slot  smallint NOT NULL,
    queue text COLLATE "C"     NOT NULL,
    task  text COLLATE "C"     NOT NULL,
    state smallint NOT NULL,
    jobs  bigint   NOT NULL,
    PRIMARY KEY (slot, queue, task, state)
) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);

-- A queue that was paused once, and whether it is.
CREATE TABLE halyard.queues (
    name   text COLLATE "C" PRIMARY KEY,
    paused boolean NOT NULL
);

-- Events since the store was made, by slot.
CREATE TABLE halyard.totals (
    slot             smallint PRIMARY KEY,
    created          bigint NOT NULL,
    replayed         bigint NOT NULL,
    keys_refused     bigint NOT NULL,
    completed        bigint NOT NULL,
    failed           bigint NOT NULL,
    cancelled        bigint NOT NULL,
    retried          bigint NOT NULL,
    leases_lost      bigint NOT NULL,
    timed_out        bigint NOT NULL,
    reports_rejected bigint NOT NULL
) WITH (fillfactor = 20, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);

CREATE TABLE halyard.minutes (
    slot      smallint NOT NULL,
    at        bigint   NOT NULL,
    created   bigint   NOT NULL,
    completed bigint   NOT NULL,
    failed    bigint   NOT NULL,
    PRIMARY KEY (at, slot)
) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);

-- One row: the last time at which a server was known to serve this store.
CREATE TABLE halyard.stamp (at bigint NOT NULL) WITH (fillfactor = 20);
INSERT INTO halyard.stamp VALUES (0);
