INSERT INTO halyard.results SELECT * FROM unnest($1, $2)
ON CONFLICT (seq) DO UPDATE SET result = excluded.result
