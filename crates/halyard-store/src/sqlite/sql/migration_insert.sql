INSERT INTO migrations VALUES (?1, ?2, ?3)
