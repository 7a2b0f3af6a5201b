-- A job with what never changes, its result and its error, found by the id on the wire. In one
-- statement, so that it is one moment.
SELECT bodies.seq, bodies.id, bodies.tags, bodies.traceparent, bodies.idempotency_key,
    bodies.rerun_of, bodies.payload, results.result, attempts.error_type, attempts.error_kind,
    attempts.error_message, attempts.error_stack, jobs.*
FROM halyard.bodies
JOIN halyard.jobs ON jobs.seq = bodies.seq
LEFT JOIN halyard.results ON results.seq = jobs.seq AND jobs.state = 4
LEFT JOIN halyard.attempts ON attempts.seq = jobs.seq AND attempts.number = jobs.error_start
WHERE bodies.id = $1
