-- The newest number that is known to be given. The sequence may be ahead of it: servers take
-- numbers that they do not use.
SELECT greatest(
    0, (SELECT max(seq) FROM halyard.jobs), (SELECT sum(created)::bigint FROM halyard.totals)
)
