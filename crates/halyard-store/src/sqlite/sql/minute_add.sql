INSERT INTO minutes VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (at) DO UPDATE SET created = created + excluded.created,
    completed = completed + excluded.completed, failed = failed + excluded.failed
