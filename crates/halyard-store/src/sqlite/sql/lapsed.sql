SELECT seq FROM jobs INDEXED BY jobs_lease
WHERE state = 2 AND expires_at <= ?1 ORDER BY expires_at, seq LIMIT ?2
