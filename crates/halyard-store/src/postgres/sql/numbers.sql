SELECT nextval('halyard.jobs_seq') FROM generate_series(1, $1)
