-- Every place between two: the walk of the table. Time bounds are a few rows at its ends.
SELECT seq, state, queue, task FROM halyard.jobs
WHERE seq > $1 AND seq < $2 AND created_at >= $8 AND created_at < $9
ORDER BY seq :order
