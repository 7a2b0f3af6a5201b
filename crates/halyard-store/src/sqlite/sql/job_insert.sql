-- A client-made id that is known already changes nothing; the caller sees zero rows and looks.
-- While a job has no start, `attempt_id` is room for one: a claim then rewrites the row in its
-- place. Without it the row grows by a third, and the claim of a batch splits most pages: a sixth
-- of its time.
INSERT INTO jobs (
    seq, id, task, queue, state, priority, created_at, run_at, life, attempt, starts,
    max_attempts, crashes, max_crashes, releases, snoozes, timeout_ms, backoff_initial_ms,
    backoff_factor, backoff_max_ms, backoff_jitter, queued_at, cancel_requested, holds_key,
    key_ttl_ms, checkpoints, checkpoints_bytes, replays, rejected,
    attempt_id
) VALUES (
    ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 1, 0, 0, ?9, 0, ?10, 0, 0, ?11, ?12, ?13, ?14, ?15, ?16, 0,
    ?17, ?18, 0, 0, 0, 0, zeroblob(80)
) ON CONFLICT (id) DO NOTHING
