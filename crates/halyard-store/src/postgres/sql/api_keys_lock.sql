SELECT id, name, role, hash, created_at, last_used_at FROM halyard.api_keys ORDER BY id FOR UPDATE
