INSERT INTO halyard.bodies SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7)
