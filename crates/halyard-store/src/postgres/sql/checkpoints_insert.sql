INSERT INTO halyard.checkpoints SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7, $8)
