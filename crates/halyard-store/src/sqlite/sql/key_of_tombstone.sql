-- The key that an unexpired tombstone of this job stands for. An id may be used again, with another
-- key, and leave a second one.
SELECT task, key FROM keys INDEXED BY keys_job
WHERE job_id = ?1 AND seq IS NULL AND expires_at > ?2
ORDER BY task, key LIMIT 1
