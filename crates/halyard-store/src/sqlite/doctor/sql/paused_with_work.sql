-- Paused queues in which jobs wait for a worker.
SELECT queues.name, sum(counters.jobs) FROM queues
JOIN counters ON counters.queue = queues.name AND counters.state = 1
WHERE queues.paused GROUP BY queues.name ORDER BY queues.name
