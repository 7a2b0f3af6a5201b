-- The key that a tombstone of this job stands for.
SELECT task, key FROM keys INDEXED BY keys_job WHERE job_id = ?1 AND seq IS NULL
