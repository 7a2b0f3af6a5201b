-- The slots' sums. SQLite has one number for each.
SELECT queue, task, state, sum(jobs)::bigint FROM halyard.counters
GROUP BY queue, task, state HAVING sum(jobs) <> 0 ORDER BY queue, task, state
