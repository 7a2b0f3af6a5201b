-- Whoever held a key: it was locked, or there was none, and then somebody else who is as quick
-- makes this fail.
INSERT INTO halyard.keys SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
