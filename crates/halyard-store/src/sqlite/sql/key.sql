-- A key with the end that is read through its job.
SELECT keys.*, jobs.state, jobs.finished_at, jobs.key_ttl_ms
FROM keys LEFT JOIN jobs ON jobs.seq = keys.seq
WHERE keys.task = ?1 AND keys.key = ?2
