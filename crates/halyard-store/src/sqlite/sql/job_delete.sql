DELETE FROM jobs WHERE seq = ?1
