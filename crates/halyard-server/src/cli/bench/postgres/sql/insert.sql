-- Queued jobs as creates write them, at the time of their number; with a key where there is one.
WITH new AS MATERIALIZED (
    SELECT * FROM unnest($1::bigint[], $2::uuid[], $3::text[]) AS new (seq, id, key)
), job AS (
    INSERT INTO jobs (
        life, attempt, starts, crashes, releases, snoozes, cancel_requested, checkpoints,
        checkpoints_bytes, replays, rejected, seq, id, task, queue, state, priority, created_at,
        run_at, max_attempts, max_crashes, timeout_ms, backoff_initial_ms, backoff_factor,
        backoff_max_ms, backoff_jitter, queued_at, holds_key, key_ttl_ms
    )
    SELECT 1, 0, 0, 0, 0, 0, false, 0, 0, 0, 0, seq, id, $4, $5, 1, 0, 1764000000000 + seq,
        1764000000000 + seq, 20, 5, 900000, 5000, 2.0, 3600000, 0.2, 1764000000000 + seq,
        key IS NOT NULL, 2592000000
    FROM new
), name AS (
    INSERT INTO keys (task, key, job_id, fingerprint, algorithm, seq)
    SELECT $4, key, id, sha256($6::text::bytea), 1, seq FROM new WHERE key IS NOT NULL
)
INSERT INTO bodies (seq, id, idempotency_key, payload) SELECT seq, id, key, $6::text FROM new
