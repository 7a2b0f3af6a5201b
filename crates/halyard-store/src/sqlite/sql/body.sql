SELECT * FROM bodies WHERE seq = ?1
