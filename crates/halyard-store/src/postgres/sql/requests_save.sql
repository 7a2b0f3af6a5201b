INSERT INTO halyard.requests SELECT * FROM unnest($1, $2, $3, $4, $5)
