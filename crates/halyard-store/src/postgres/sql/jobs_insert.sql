INSERT INTO halyard.jobs (
    life, attempt, starts, crashes, releases, snoozes, cancel_requested, checkpoints,
    checkpoints_bytes, replays, rejected,
    seq, id, task, queue, state, priority, created_at, run_at, max_attempts, max_crashes,
    timeout_ms, backoff_initial_ms, backoff_factor, backoff_max_ms, backoff_jitter, queued_at,
    holds_key, key_ttl_ms
)
SELECT 1, 0, 0, 0, 0, 0, false, 0, 0, 0, 0, new.*
FROM unnest(
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18
) AS new
