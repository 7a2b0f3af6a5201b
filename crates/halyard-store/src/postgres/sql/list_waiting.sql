-- Jobs that wait or run, each kind by its own small index; asked when the counters say that they
-- are few. `OFFSET 0` keeps other conditions out, which would offer the planner other ways.
SELECT seq, state, queue, task, created_at FROM (
    (SELECT seq, state, queue, task, created_at FROM halyard.jobs WHERE state = 1 OFFSET 0)
    UNION ALL
    (SELECT seq, state, queue, task, created_at FROM halyard.jobs WHERE state = 2 OFFSET 0)
    UNION ALL
    (SELECT seq, state, queue, task, created_at FROM halyard.jobs WHERE state IN (0, 3) OFFSET 0)
) AS waiting
WHERE :near AND state = ANY ($3)
ORDER BY seq :order
