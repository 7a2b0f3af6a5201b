DELETE FROM minutes WHERE at < ?1
