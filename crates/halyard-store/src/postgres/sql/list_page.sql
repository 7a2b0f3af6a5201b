-- One page of jobs, from places in an order that are put in here. At most $11 places are examined;
-- when that ended the page before it was full, the first column says where.
--
-- The filter stands around a limit, so the places are walked in their order and no further than the
-- page needs; the subquery on tags is asked for what everything else let through. The bounds at the
-- far end stand here too: two bounds on one column look to a planner without statistics as if they
-- left nearly nothing, which it would rather sort than walk.
WITH page AS MATERIALIZED (
    SELECT seq FROM (SELECT * FROM (:places) AS places LIMIT $11) AS examined
    WHERE :far
        AND (cardinality($3) = 0 OR state = ANY ($3))
        AND ($4 IS NULL OR queue = $4)
        AND ($5 IS NULL OR task = $5)
        AND ($6 IS NULL OR (
            SELECT $6 = ANY (string_to_array(bodies.tags, chr(10)))
            FROM halyard.bodies WHERE bodies.seq = examined.seq
        ))
    LIMIT $7
), stop AS MATERIALIZED (
    SELECT CASE WHEN (SELECT count(*) FROM page) < $7 THEN (
        SELECT CASE WHEN count(*) = 2 THEN (array_agg(seq))[1] END
        FROM (SELECT * FROM (:places) AS places OFFSET $11 - 1 LIMIT 2) AS last
        WHERE :far
    ) END AS seq
)
SELECT stop.seq, bodies.seq, bodies.id, bodies.tags, bodies.traceparent,
    bodies.idempotency_key, bodies.rerun_of, attempts.error_type, attempts.error_kind,
    attempts.error_message, attempts.error_stack, jobs.*
FROM stop
LEFT JOIN page ON true
LEFT JOIN halyard.jobs ON jobs.seq = page.seq
LEFT JOIN halyard.bodies ON bodies.seq = page.seq
LEFT JOIN halyard.attempts ON attempts.seq = jobs.seq AND attempts.number = jobs.error_start
ORDER BY page.seq :order
