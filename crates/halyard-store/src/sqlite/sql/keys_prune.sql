DELETE FROM keys WHERE (task, key) IN (
    SELECT task, key FROM keys INDEXED BY keys_expiry
    WHERE seq IS NULL AND expires_at <= ?1 ORDER BY expires_at, job_id LIMIT ?2
)
