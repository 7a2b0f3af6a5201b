-- Rows that hang on no job, and jobs without a body, by table.
SELECT 'bodies', count(*) FROM bodies
WHERE NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.seq = bodies.seq)
UNION ALL
SELECT 'results', count(*) FROM results
WHERE NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.seq = results.seq)
UNION ALL
SELECT 'attempts', count(*) FROM attempts
WHERE NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.seq = attempts.seq)
UNION ALL
SELECT 'checkpoints', count(*) FROM checkpoints
WHERE NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.seq = checkpoints.seq)
UNION ALL
SELECT 'keys', count(*) FROM keys
WHERE seq IS NOT NULL AND NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.seq = keys.seq)
