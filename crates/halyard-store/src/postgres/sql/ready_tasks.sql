-- The tasks that have claimable jobs in these queues: steps over the index, task by task.
WITH RECURSIVE tasks AS (
    SELECT wanted.queue, (
        SELECT task FROM halyard.jobs WHERE state = 1 AND queue = wanted.queue
        ORDER BY task LIMIT 1
    ) AS task FROM unnest($1) AS wanted (queue)
    UNION ALL
    SELECT tasks.queue, (
        SELECT task FROM halyard.jobs
        WHERE state = 1 AND queue = tasks.queue AND task > tasks.task
        ORDER BY task LIMIT 1
    ) FROM tasks WHERE tasks.task IS NOT NULL
)
SELECT queue, task FROM tasks WHERE task IS NOT NULL
