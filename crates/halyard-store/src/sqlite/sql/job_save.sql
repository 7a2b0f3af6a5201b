-- Writes what core decided. The guard is the state and the token that it decided on: a row that
-- changed meanwhile is not written.
UPDATE jobs SET
    state = ?1, run_at = ?2, life = ?3, attempt = ?4, starts = ?5, crashes = ?6, releases = ?7,
    snoozes = ?8, queued_at = ?9, error_start = ?10, cancel_requested = ?11, finished_at = ?12,
    holds_key = ?13, checkpoints = ?14, checkpoints_bytes = ?15, replaced_by = ?16,
    start_state = ?17, attempt_id = ?18, token = ?19, claim_mark = ?20, worker = ?21,
    start_queued_at = ?22, started_at = ?23, lease_ms = ?24, expires_at = ?25, deadline = ?26
WHERE seq = ?27 AND state = ?28 AND token IS ?29
