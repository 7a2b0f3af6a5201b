-- Failed or cancelled jobs, oldest first.
SELECT seq, state, queue, task FROM jobs INDEXED BY jobs_unhappy
WHERE state IN (5, 6) AND state = ?3 AND seq > ?1 AND seq < ?2 ORDER BY seq
