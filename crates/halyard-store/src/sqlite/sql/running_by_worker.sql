SELECT worker, count(*) FROM jobs INDEXED BY jobs_lease WHERE state = 2 GROUP BY worker
ORDER BY worker
