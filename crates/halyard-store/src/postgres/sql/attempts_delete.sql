DELETE FROM halyard.attempts WHERE seq = ANY ($1)
