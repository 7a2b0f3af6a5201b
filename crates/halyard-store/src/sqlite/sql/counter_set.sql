INSERT INTO counters VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (queue, task, state) DO UPDATE SET jobs = excluded.jobs
