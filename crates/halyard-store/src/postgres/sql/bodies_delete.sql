DELETE FROM halyard.bodies WHERE seq = ANY ($1)
