-- Those that have ended, and of the others all but the ones that end last.
DELETE FROM sign_ins WHERE expires_at <= ?1 OR hash NOT IN (
    SELECT hash FROM sign_ins ORDER BY expires_at DESC, hash DESC LIMIT ?2
)
