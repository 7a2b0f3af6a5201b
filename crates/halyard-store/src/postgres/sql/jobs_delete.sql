DELETE FROM halyard.jobs WHERE seq = ANY ($1)
