-- How jobs stand, without what they carry.
SELECT jobs.id, state, life FROM unnest($1) AS wanted (id)
JOIN halyard.bodies ON bodies.id = wanted.id
JOIN halyard.jobs ON jobs.seq = bodies.seq
