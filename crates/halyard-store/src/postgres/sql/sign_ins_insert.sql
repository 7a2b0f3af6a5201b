INSERT INTO halyard.sign_ins SELECT * FROM unnest($1, $2, $3)
