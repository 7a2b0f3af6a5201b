DELETE FROM attempts WHERE seq = ?1
