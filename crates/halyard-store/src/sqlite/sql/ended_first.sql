-- By count: the first that ended, of one state.
SELECT seq, finished_at FROM jobs INDEXED BY jobs_ended
WHERE state >= 4 AND state = ?1 ORDER BY finished_at, seq LIMIT ?2
