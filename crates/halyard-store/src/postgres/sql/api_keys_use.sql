UPDATE halyard.api_keys AS key SET last_used_at = used.at
FROM unnest($1, $2) AS used (id, at) WHERE key.id = used.id
