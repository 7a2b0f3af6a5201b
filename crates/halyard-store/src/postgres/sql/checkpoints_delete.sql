-- From these positions on.
DELETE FROM halyard.checkpoints USING unnest($1, $2) AS dropped (seq, position)
WHERE checkpoints.seq = dropped.seq AND checkpoints.position >= dropped.position
