DELETE FROM keys WHERE job_id = ?1 AND seq IS NULL
