-- What ready does, from the fronts of the pairs on, which are all of one priority, and within it.
-- The last column says how many there were before bytes were bounded.
WITH picked AS MATERIALIZED (
    SELECT next.* FROM unnest($1, $2, $6, $7) AS wanted (queue, task, run_at, seq)
    CROSS JOIN LATERAL (
        SELECT * FROM halyard.jobs
        WHERE state = 1 AND queue = wanted.queue AND task = wanted.task
            AND priority = $5 AND (run_at, seq) >= (wanted.run_at, wanted.seq)
        ORDER BY priority DESC, run_at, seq LIMIT $3 FOR UPDATE SKIP LOCKED
    ) AS next
    ORDER BY next.priority DESC, next.run_at, next.seq LIMIT $3
), sized AS (
    SELECT bodies.seq AS body, bodies.id AS body_id, bodies.tags, bodies.traceparent,
        bodies.idempotency_key, bodies.rerun_of, bodies.payload,
        row_number() OVER before AS place,
        sum(octet_length(bodies.payload) + picked.checkpoints_bytes) OVER before AS bytes,
        picked.*
    FROM picked JOIN halyard.bodies ON bodies.seq = picked.seq
    WINDOW before AS (
        ORDER BY picked.priority DESC, picked.run_at, picked.seq ROWS UNBOUNDED PRECEDING
    )
)
SELECT *, (SELECT count(*) FROM picked) FROM sized WHERE place = 1 OR bytes <= $4 ORDER BY place
