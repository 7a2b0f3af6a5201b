DELETE FROM halyard.requests WHERE (scope, value) IN (
    SELECT scope, value FROM halyard.requests WHERE expires_at <= $1
    ORDER BY expires_at, scope, value LIMIT $2 FOR UPDATE SKIP LOCKED
)
