-- The next lower priority and its oldest job: steps over the index, priority by priority.
SELECT priority, run_at FROM jobs INDEXED BY jobs_ready
WHERE state = 1 AND queue = ?1 AND task = ?2 AND priority < ?3
ORDER BY priority DESC, run_at LIMIT 1
