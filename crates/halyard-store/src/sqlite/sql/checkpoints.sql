SELECT * FROM checkpoints WHERE seq = ?1 ORDER BY position
