-- The ends of jobs under their tokens.
UPDATE jobs SET state = 4, start_state = 1, finished_at = 1764100000100 + ended.seq
FROM unnest($1::bigint[], $2::uuid[]) AS ended (seq, token)
WHERE jobs.seq = ended.seq AND jobs.state = 2 AND jobs.token = ended.token
