INSERT INTO halyard.queues SELECT * FROM unnest($1, $2)
ON CONFLICT (name) DO UPDATE SET paused = excluded.paused
