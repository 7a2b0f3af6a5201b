SELECT id, finished_at FROM halyard.jobs WHERE state = $1 AND state >= 4 AND finished_at <= $2
ORDER BY finished_at, seq LIMIT $3
