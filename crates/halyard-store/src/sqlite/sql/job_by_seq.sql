SELECT * FROM jobs WHERE seq = ?1
