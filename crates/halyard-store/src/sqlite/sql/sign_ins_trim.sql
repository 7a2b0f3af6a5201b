-- Those that have ended, and of the others all but the ones that end last, of one key and of all.
DELETE FROM sign_ins WHERE expires_at <= ?1 OR hash NOT IN (
    SELECT hash FROM sign_ins ORDER BY expires_at DESC, hash DESC LIMIT ?2
) OR key_hash = ?3 AND hash NOT IN (
    SELECT hash FROM sign_ins WHERE key_hash = ?3 ORDER BY expires_at DESC, hash DESC LIMIT ?4
)
