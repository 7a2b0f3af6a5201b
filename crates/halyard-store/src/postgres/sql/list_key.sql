-- The job that holds a key.
SELECT seq, state, queue, task FROM halyard.jobs
WHERE seq = (SELECT seq FROM halyard.keys WHERE task = $5 AND key = $10)
    AND seq > $1 AND seq < $2 AND created_at >= $8 AND created_at < $9
ORDER BY seq :order
