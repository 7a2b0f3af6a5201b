-- Scheduled and retrying jobs. Asked when the counters say that they are few.
SELECT seq, state, queue, task FROM jobs INDEXED BY jobs_due
WHERE state IN (0, 3) AND seq > ?1 AND seq < ?2
