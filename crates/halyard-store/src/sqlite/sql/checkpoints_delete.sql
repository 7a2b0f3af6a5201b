-- From a position on, as they were first written.
DELETE FROM checkpoints WHERE seq = ?1 AND position >= ?2
