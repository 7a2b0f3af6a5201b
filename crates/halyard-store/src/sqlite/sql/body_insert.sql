INSERT INTO bodies (seq, tags, traceparent, idempotency_key, rerun_of, payload)
VALUES (?1, ?2, ?3, ?4, ?5, ?6)
