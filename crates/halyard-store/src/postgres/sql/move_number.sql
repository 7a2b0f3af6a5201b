-- Numbers go on behind the newest that was given. That job may be gone.
SELECT setval(sequence, newest) FROM (VALUES
    ('halyard.jobs_seq'::regclass, $1),
    ('halyard.audit_number_seq'::regclass, (SELECT max(number) FROM halyard.audit))
) AS numbers (sequence, newest) WHERE newest > 0
