INSERT INTO halyard.counters SELECT $1, added.* FROM unnest($2, $3, $4, $5) AS added
ON CONFLICT (slot, queue, task, state) DO UPDATE SET jobs = counters.jobs + excluded.jobs
