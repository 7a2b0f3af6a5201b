INSERT INTO counters (queue, task, state, jobs)
SELECT queue, task, state, count(*) FROM jobs GROUP BY queue, task, state
