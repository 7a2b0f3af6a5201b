-- Up to the newest line that is too old, and up to the last one beyond those that are kept. An array,
-- since without statistics a list of numbers from a subquery is looked for in the whole table.
DELETE FROM halyard.audit WHERE number = ANY (ARRAY(
    SELECT number FROM halyard.audit WHERE number <= greatest(
        (SELECT number FROM halyard.audit WHERE at < $1 ORDER BY at DESC, number DESC LIMIT 1),
        (SELECT max(number) FROM halyard.audit) - $2
    ) ORDER BY number LIMIT $3 FOR UPDATE SKIP LOCKED
))
