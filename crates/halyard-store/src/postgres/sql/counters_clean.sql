-- What sums to 0 over the slots that nobody writes just now is taken away: no sum changes by it,
-- and names of tasks that are gone do not stay. Rows are locked before they are summed, and a writer
-- that waits for one of them inserts it anew. Nothing is waited for here.
WITH empty AS MATERIALIZED (
    SELECT queue, task, state FROM halyard.counters
    GROUP BY queue, task, state HAVING sum(jobs) = 0 LIMIT $1
), held AS MATERIALIZED (
    SELECT slot, counters.queue, counters.task, counters.state, jobs
    FROM halyard.counters JOIN empty USING (queue, task, state)
    FOR UPDATE OF counters SKIP LOCKED
), gone AS (
    SELECT queue, task, state FROM held GROUP BY queue, task, state HAVING sum(jobs) = 0
)
DELETE FROM halyard.counters WHERE (slot, queue, task, state) IN (
    SELECT slot, queue, task, state FROM held JOIN gone USING (queue, task, state)
)
