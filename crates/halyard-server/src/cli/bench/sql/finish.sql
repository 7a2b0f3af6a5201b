-- The end of a job under its token.
UPDATE jobs SET state = 4, start_state = 1, finished_at = 1764100000100 + ?1
WHERE seq = ?1 AND token = ?2
