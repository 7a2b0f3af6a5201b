SELECT * FROM halyard.attempts WHERE seq = $1 ORDER BY number DESC LIMIT $2
