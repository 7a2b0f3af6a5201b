SELECT hash, key_hash, expires_at FROM sign_ins ORDER BY expires_at, hash
