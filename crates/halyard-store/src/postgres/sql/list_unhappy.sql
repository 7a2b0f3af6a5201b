-- Failed or cancelled jobs, however many completed ones lie between. One state, given as a list:
-- so the planner cannot prefer to walk the table, which it would when many jobs failed, though none
-- of them lately. That it is 5 or 6 is not said twice: the planner would think of fewer rows than
-- there are, and rather sort them.
SELECT seq, state, queue, task, created_at FROM halyard.jobs
WHERE state = ANY ($3) AND :near
ORDER BY state :order, seq :order
