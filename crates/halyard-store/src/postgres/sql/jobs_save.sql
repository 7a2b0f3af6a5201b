-- Writes what core decided. The guard is the state and the token that it decided on: the rows are
-- locked, so they are there.
UPDATE halyard.jobs SET
    state = new.state, run_at = new.run_at, life = new.life, attempt = new.attempt,
    starts = new.starts, crashes = new.crashes, releases = new.releases, snoozes = new.snoozes,
    queued_at = new.queued_at, error_start = new.error_start,
    cancel_requested = new.cancel_requested, finished_at = new.finished_at,
    holds_key = new.holds_key, checkpoints = new.checkpoints,
    checkpoints_bytes = new.checkpoints_bytes, replays = new.replays, rejected = new.rejected,
    replaced_by = new.replaced_by, start_state = new.start_state, attempt_id = new.attempt_id,
    token = new.token, claim_mark = new.claim_mark, worker = new.worker,
    start_queued_at = new.start_queued_at, started_at = new.started_at, lease_ms = new.lease_ms,
    expires_at = new.expires_at, deadline = new.deadline
FROM unnest(
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21,
    $22, $23, $24, $25, $26, $27, $28, $29, $30, $31
) AS new (
    seq, state_before, token_before, state, run_at, life, attempt, starts, crashes, releases,
    snoozes, queued_at, error_start, cancel_requested, finished_at, holds_key, checkpoints,
    checkpoints_bytes, replays, rejected, replaced_by, start_state, attempt_id, token, claim_mark,
    worker, start_queued_at, started_at, lease_ms, expires_at, deadline
)
WHERE jobs.seq = new.seq AND jobs.state = new.state_before
    AND jobs.token IS NOT DISTINCT FROM new.token_before
