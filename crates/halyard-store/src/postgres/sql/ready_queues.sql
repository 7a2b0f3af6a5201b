-- Queues that hold a claimable job and are not paused: steps over the index, queue by queue, and
-- counts nothing.
WITH RECURSIVE ready AS (
    SELECT (SELECT queue FROM halyard.jobs WHERE state = 1 ORDER BY queue LIMIT 1) AS queue
    UNION ALL
    SELECT (
        SELECT queue FROM halyard.jobs WHERE state = 1 AND queue > ready.queue
        ORDER BY queue LIMIT 1
    ) FROM ready WHERE ready.queue IS NOT NULL
)
SELECT queue FROM ready
WHERE queue IS NOT NULL AND queue NOT IN (SELECT name FROM halyard.queues WHERE paused)
ORDER BY queue
