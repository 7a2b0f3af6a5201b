"""Jobs in the caller's own transaction, on a PostgreSQL and a server of this checkout."""
