-- Queues, or the one of a name, that have jobs or were paused once: a row for each state that has
-- jobs. The longest wait of a queue is found by stepping over the index of claimable jobs, task by
-- task and priority by priority.
WITH RECURSIVE counts AS MATERIALIZED (
    SELECT queue, task, state, sum(jobs) AS jobs FROM halyard.counters
    WHERE $1 IS NULL OR queue = $1
    GROUP BY queue, task, state HAVING sum(jobs) > 0
), heads AS (
    SELECT counts.queue, counts.task, head.priority, head.run_at FROM counts
    CROSS JOIN LATERAL (
        SELECT priority, run_at FROM halyard.jobs
        WHERE state = 1 AND queue = counts.queue AND task = counts.task
        ORDER BY priority DESC, run_at, seq LIMIT 1
    ) AS head
    WHERE counts.state = 1
    UNION ALL
    SELECT heads.queue, heads.task, head.priority, head.run_at FROM heads
    CROSS JOIN LATERAL (
        SELECT priority, run_at FROM halyard.jobs
        WHERE state = 1 AND queue = heads.queue AND task = heads.task
            AND priority < heads.priority
        ORDER BY priority DESC, run_at, seq LIMIT 1
    ) AS head
), oldest AS (
    SELECT queue AS name, min(run_at) AS run_at FROM heads GROUP BY queue
), sums AS (
    SELECT queue AS name, state, sum(jobs)::bigint AS jobs FROM counts GROUP BY queue, state
), paused AS (
    SELECT name, paused FROM halyard.queues WHERE $1 IS NULL OR name = $1
)
SELECT name, coalesce(paused.paused, false), oldest.run_at, sums.state, sums.jobs
FROM sums FULL JOIN paused USING (name) LEFT JOIN oldest USING (name)
ORDER BY name
