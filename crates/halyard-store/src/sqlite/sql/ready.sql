-- In claim order; everything that is read stands in the index.
SELECT seq, priority, run_at FROM jobs INDEXED BY jobs_ready
WHERE state = 1 AND queue = ?1 AND task = ?2
ORDER BY priority DESC, run_at, seq LIMIT ?3
