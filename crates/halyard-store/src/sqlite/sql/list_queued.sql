-- Queued jobs. Asked when the counters say that they are few.
SELECT seq, state, queue, task FROM jobs INDEXED BY jobs_ready
WHERE state = 1 AND seq > ?1 AND seq < ?2
