-- Every job, with what is wrong with it. One walk over the table serves the counters too: grouping
-- ten million rows would sort them all in memory.
-- ?1 now, ?2 the longest time that something due may wait, ?3 the latest end of a lease,
-- ?4 the latest time that anything may be scheduled for.
SELECT queue, task, state, id, CASE
    WHEN start_state IS NOT NULL AND NOT (
        attempt_id IS NOT NULL AND token IS NOT NULL AND worker IS NOT NULL
        AND start_queued_at IS NOT NULL AND started_at IS NOT NULL AND lease_ms IS NOT NULL
        AND expires_at IS NOT NULL AND deadline IS NOT NULL)
        THEN 'start'
    WHEN (state = 2) IS NOT (start_state IS 0) THEN 'start'
    WHEN start_state IS NOT NULL AND expires_at > deadline THEN 'start'
    WHEN state = 2 AND expires_at > ?3 THEN 'lease'
    WHEN state = 2 AND expires_at <= ?1 - ?2 THEN 'lapsed'
    WHEN state IN (0, 3) AND run_at > ?4 THEN 'never'
    WHEN state IN (0, 3) AND run_at <= ?1 - ?2 THEN 'overdue'
    -- The rest is what core asserts of every job that is written.
    WHEN (finished_at IS NOT NULL) <> (state >= 4) THEN 'unsound'
    WHEN attempt > max_attempts OR attempt > starts OR life < 1 THEN 'unsound'
    WHEN state IN (0, 1, 3) AND attempt >= max_attempts THEN 'unsound'
    WHEN state = 2 AND attempt = 0 THEN 'unsound'
    WHEN crashes > max_crashes THEN 'unsound'
    WHEN cancel_requested AND state <> 2 THEN 'unsound'
END
FROM jobs
