-- The next jobs with their payloads, locked and running; what another claim holds is passed by.
WITH picked AS MATERIALIZED (
    SELECT seq FROM jobs WHERE state = 1 AND queue = $1 AND task = $2
    ORDER BY priority DESC, run_at, seq LIMIT $3 FOR UPDATE SKIP LOCKED
)
UPDATE jobs SET
    state = 2, attempt = 1, starts = 1, start_state = 0, attempt_id = gen_random_uuid(),
    token = gen_random_uuid(), worker = 'bench', start_queued_at = queued_at,
    started_at = 1764100000000 + picked.seq, lease_ms = 60000,
    expires_at = 1764100060000 + picked.seq, deadline = 1764101000000 + picked.seq
FROM picked JOIN bodies ON bodies.seq = picked.seq
WHERE jobs.seq = picked.seq
RETURNING jobs.seq, jobs.token, bodies.payload
