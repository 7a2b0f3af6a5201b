DELETE FROM requests WHERE (scope, value) IN (
    SELECT scope, value FROM requests INDEXED BY requests_expiry
    WHERE expires_at <= ?1 ORDER BY expires_at, scope, value LIMIT ?2
)
