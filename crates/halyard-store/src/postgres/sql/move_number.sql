-- Numbers go on behind the newest that was given. That job may be gone; SQLite counts from 1, so
-- its newest number is how many jobs were made.
SELECT setval(sequence, newest) FROM (VALUES
    ('halyard.jobs_seq'::regclass, greatest(
        (SELECT max(seq) FROM halyard.jobs), (SELECT max(created) FROM halyard.totals)
    )),
    ('halyard.audit_number_seq'::regclass, (SELECT max(number) FROM halyard.audit))
) AS numbers (sequence, newest) WHERE newest > 0
