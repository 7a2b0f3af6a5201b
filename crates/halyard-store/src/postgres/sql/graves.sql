-- The tombstones of jobs.
SELECT * FROM halyard.keys WHERE seq IS NULL AND job_id = ANY ($1)
ORDER BY task, key FOR UPDATE
