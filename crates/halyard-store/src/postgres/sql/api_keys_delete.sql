DELETE FROM halyard.api_keys WHERE id = ANY ($1)
