-- Writes ends that change nothing else: completions, nearly all of them. The guard is that of
-- jobs_save.
UPDATE halyard.jobs SET
    state = new.state, start_state = new.start_state, finished_at = new.finished_at
FROM unnest($1, $2, $3, $4, $5, $6) AS new (
    seq, state_before, token_before, state, start_state, finished_at
)
WHERE jobs.seq = new.seq AND jobs.state = new.state_before
    AND jobs.token IS NOT DISTINCT FROM new.token_before
