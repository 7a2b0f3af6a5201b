-- A claim of a job that is known already: its columns that change.
UPDATE jobs SET
    state = 2, attempt = 1, starts = 1, start_state = 0, attempt_id = ?2, token = ?3,
    worker = 'bench', start_queued_at = queued_at, started_at = 1764100000000 + ?1,
    lease_ms = 60000, expires_at = 1764100060000 + ?1, deadline = 1764101000000 + ?1
WHERE seq = ?1
