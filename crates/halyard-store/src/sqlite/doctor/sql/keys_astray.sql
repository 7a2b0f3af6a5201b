-- Jobs for which a key's row and the job tell different stories: the key points at a job that is
-- another one or does not hold it, or a job says that it holds a key that does not point at it.
SELECT keys.job_id FROM keys
JOIN jobs ON jobs.seq = keys.seq
JOIN bodies ON bodies.seq = keys.seq
WHERE jobs.id <> keys.job_id OR jobs.task <> keys.task OR NOT jobs.holds_key
    OR bodies.idempotency_key IS NOT keys.key
UNION
SELECT jobs.id FROM jobs
JOIN bodies ON bodies.seq = jobs.seq
LEFT JOIN keys ON keys.task = jobs.task AND keys.key = bodies.idempotency_key
WHERE jobs.holds_key AND keys.seq IS NOT jobs.seq
