-- The job that holds a key.
SELECT seq, state, queue, task, created_at FROM halyard.jobs
WHERE seq = (SELECT seq FROM halyard.keys WHERE task = $5 AND key = $10) AND :near
ORDER BY seq :order
