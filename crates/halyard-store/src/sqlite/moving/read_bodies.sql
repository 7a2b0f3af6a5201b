-- Bodies with the ids of their jobs, which PostgreSQL keeps here as well.
SELECT seq, (SELECT id FROM jobs WHERE jobs.seq = bodies.seq),
    tags, traceparent, idempotency_key, rerun_of, payload
FROM bodies ORDER BY seq
