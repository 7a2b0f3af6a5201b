SELECT * FROM halyard.jobs WHERE state IN (0, 3) AND run_at <= $1
ORDER BY run_at, seq LIMIT $2 FOR UPDATE SKIP LOCKED
