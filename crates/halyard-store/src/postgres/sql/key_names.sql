-- Which keys jobs were made with. Neither ever changes, so this asks without a lock.
SELECT jobs.task, bodies.idempotency_key FROM unnest($1) AS wanted (id)
JOIN halyard.bodies ON bodies.id = wanted.id
JOIN halyard.jobs ON jobs.seq = bodies.seq
WHERE bodies.idempotency_key IS NOT NULL
