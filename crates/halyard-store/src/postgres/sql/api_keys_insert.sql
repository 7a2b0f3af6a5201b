INSERT INTO halyard.api_keys SELECT * FROM unnest($1, $2, $3, $4, $5, $6)
