-- Jobs whose checkpoints are not as many, or as large, as the job says.
SELECT id FROM jobs
WHERE (checkpoints, checkpoints_bytes) IS NOT (
    SELECT count(*), coalesce(sum(octet_length(value)), 0)
    FROM checkpoints WHERE checkpoints.seq = jobs.seq
)
