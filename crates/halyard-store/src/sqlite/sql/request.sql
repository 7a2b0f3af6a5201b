SELECT body, expires_at, results FROM requests WHERE scope = ?1 AND value = ?2
