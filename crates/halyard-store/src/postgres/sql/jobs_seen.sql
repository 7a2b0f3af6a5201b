-- As they are, whoever holds them.
SELECT jobs.* FROM unnest($1) AS wanted (id)
JOIN halyard.bodies ON bodies.id = wanted.id
JOIN halyard.jobs ON jobs.seq = bodies.seq
