SELECT * FROM minutes WHERE at > ?1 ORDER BY at
