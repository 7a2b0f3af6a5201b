-- Numbers go on behind the newest that was given. That job may be gone; SQLite counts from 1, so
-- its newest number is how many jobs were made.
SELECT setval('halyard.jobs_seq', newest) FROM (
    SELECT greatest((SELECT max(seq) FROM halyard.jobs), (SELECT max(created) FROM halyard.totals))
        AS newest
) AS numbers WHERE newest > 0
