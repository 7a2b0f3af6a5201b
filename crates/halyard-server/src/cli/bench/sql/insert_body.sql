-- What never changes.
INSERT INTO bodies VALUES (?1, NULL, NULL, ?2, NULL, ?3)
