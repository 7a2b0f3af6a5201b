DELETE FROM halyard.results WHERE seq = ANY ($1)
