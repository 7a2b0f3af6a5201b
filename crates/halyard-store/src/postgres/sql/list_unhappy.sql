-- Failed or cancelled jobs, however many completed ones lie between. One state, given as a list:
-- so the order is this index's alone, and the planner cannot prefer to walk the table, which it
-- would when many jobs failed, though none of them lately.
SELECT seq, state, queue, task FROM halyard.jobs
WHERE state IN (5, 6) AND state = ANY ($3) AND seq > $1 AND seq < $2
    AND created_at >= $8 AND created_at < $9
ORDER BY state :order, seq :order
