-- Failed or cancelled jobs, newest first, however many completed ones lie between.
SELECT seq, state, queue, task FROM jobs INDEXED BY jobs_unhappy
WHERE state IN (5, 6) AND state = ?3 AND seq > ?1 AND seq < ?2 ORDER BY seq DESC
