-- The next jobs of pairs of queue and task, locked: what another claim holds is passed by. All
-- columns come from the select that locks, which reads a row as it is then; a second look at the
-- table would show it as it was when the statement began. An answer ends before the job that would
-- bring its bytes over the bound; `seen` says how many there were without one. `ReadyStatements`
-- fills in `:arrays`, `:columns` and `:places`.
WITH picked AS MATERIALIZED (
    SELECT next.* FROM unnest(:arrays) AS wanted (:columns)
    CROSS JOIN LATERAL (
        SELECT * FROM halyard.jobs
        WHERE state = 1 AND queue = wanted.queue AND task = wanted.task AND :places
        ORDER BY priority DESC, run_at, seq LIMIT $3 FOR UPDATE SKIP LOCKED
    ) AS next
    ORDER BY next.priority DESC, next.run_at, next.seq LIMIT $3
), sized AS (
    SELECT bodies.seq AS body, bodies.id AS body_id, bodies.tags, bodies.traceparent,
        bodies.idempotency_key, bodies.rerun_of, bodies.payload,
        row_number() OVER before AS place,
        CAST (
            sum(octet_length(bodies.payload) + picked.checkpoints_bytes) OVER before AS bigint
        ) AS bytes,
        (SELECT count(*) FROM picked) AS seen,
        picked.*
    FROM picked JOIN halyard.bodies ON bodies.seq = picked.seq
    WINDOW before AS (
        ORDER BY picked.priority DESC, picked.run_at, picked.seq ROWS UNBOUNDED PRECEDING
    )
)
SELECT * FROM sized WHERE place = 1 OR bytes <= $4 ORDER BY place
