SELECT count(*) FROM attempts WHERE seq = ?1
