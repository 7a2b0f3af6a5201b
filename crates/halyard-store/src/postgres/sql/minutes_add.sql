INSERT INTO halyard.minutes VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (at, slot) DO UPDATE SET
    created = minutes.created + excluded.created,
    completed = minutes.completed + excluded.completed, failed = minutes.failed + excluded.failed
