UPDATE keys SET
    seq = NULL, queue = ?3, state = ?4, created_at = ?5, finished_at = ?6, expires_at = ?7
WHERE task = ?1 AND key = ?2
