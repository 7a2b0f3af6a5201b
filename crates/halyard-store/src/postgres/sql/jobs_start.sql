-- Writes claims and heartbeats: of a row, what a start changes. The guard is that of jobs_save; its
-- states are rows too, since with a constant one the planner would walk a partial index.
UPDATE halyard.jobs SET
    state = new.state, attempt = new.attempt, starts = new.starts, start_state = new.start_state,
    attempt_id = new.attempt_id, token = new.token, claim_mark = new.claim_mark,
    worker = new.worker, start_queued_at = new.start_queued_at, started_at = new.started_at,
    lease_ms = new.lease_ms, expires_at = new.expires_at, deadline = new.deadline
FROM unnest(
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16
) AS new (
    seq, state_before, token_before, state, attempt, starts, start_state, attempt_id, token,
    claim_mark, worker, start_queued_at, started_at, lease_ms, expires_at, deadline
)
WHERE jobs.seq = new.seq AND jobs.state = new.state_before
    AND jobs.token IS NOT DISTINCT FROM new.token_before
