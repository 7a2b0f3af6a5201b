SELECT * FROM checkpoints WHERE seq = ?1 AND name = ?2
