-- In the order of ids, so that two transactions never wait for each other. What a lock waited for
-- is read as it is then.
SELECT jobs.* FROM unnest($1) AS wanted (id)
JOIN halyard.bodies ON bodies.id = wanted.id
JOIN halyard.jobs ON jobs.seq = bodies.seq
ORDER BY jobs.id FOR UPDATE OF jobs
