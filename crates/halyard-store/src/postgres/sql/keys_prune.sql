DELETE FROM halyard.keys WHERE (task, key) IN (
    SELECT task, key FROM halyard.keys WHERE seq IS NULL AND expires_at <= $1
    ORDER BY expires_at, job_id LIMIT $2 FOR UPDATE SKIP LOCKED
)
