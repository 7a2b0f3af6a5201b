SELECT * FROM halyard.jobs WHERE state = 2 AND expires_at <= $1
ORDER BY expires_at, seq LIMIT $2 FOR UPDATE SKIP LOCKED
