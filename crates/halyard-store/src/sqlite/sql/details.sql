-- Without the payload.
SELECT seq, tags, traceparent, idempotency_key, rerun_of FROM bodies WHERE seq = ?1
