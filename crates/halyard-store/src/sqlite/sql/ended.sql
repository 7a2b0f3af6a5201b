SELECT seq FROM jobs INDEXED BY jobs_ended
WHERE state >= 4 AND state = ?1 AND finished_at <= ?2 ORDER BY finished_at, seq LIMIT ?3
