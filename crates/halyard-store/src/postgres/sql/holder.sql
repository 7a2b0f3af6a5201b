-- A key with the end that is read through its job, or is its tombstone's.
SELECT keys.job_id, keys.fingerprint, keys.seq IS NULL, coalesce(jobs.state, keys.state),
    keys.expires_at, jobs.finished_at, jobs.key_ttl_ms
FROM halyard.keys LEFT JOIN halyard.jobs ON jobs.seq = keys.seq
WHERE keys.task = $1 AND keys.key = $2
