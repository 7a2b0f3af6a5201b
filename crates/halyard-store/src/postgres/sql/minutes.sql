SELECT at, sum(created)::bigint, sum(completed)::bigint, sum(failed)::bigint
FROM halyard.minutes WHERE at > $1 GROUP BY at ORDER BY at
