-- The slots' sums. What is 0 is not there.
SELECT queue, task, state, sum(jobs)::bigint FROM halyard.counters
GROUP BY queue, task, state HAVING sum(jobs) > 0
