-- The slots' sums. SQLite has one row for each minute.
SELECT at, sum(created)::bigint, sum(completed)::bigint, sum(failed)::bigint
FROM halyard.minutes GROUP BY at ORDER BY at
