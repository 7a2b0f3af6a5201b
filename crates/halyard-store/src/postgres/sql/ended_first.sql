-- By count: the first that ended, of one state.
SELECT finished_at, seq, id FROM halyard.jobs WHERE state = $1 AND state >= 4
ORDER BY finished_at, seq LIMIT $2
