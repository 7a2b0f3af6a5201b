-- Jobs without what they were created with.
SELECT id FROM jobs WHERE NOT EXISTS (SELECT 1 FROM bodies WHERE bodies.seq = jobs.seq)
