INSERT INTO halyard.migrations VALUES ($1, $2, $3)
