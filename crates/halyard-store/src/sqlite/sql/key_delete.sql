DELETE FROM keys WHERE task = ?1 AND key = ?2
