INSERT OR REPLACE INTO requests VALUES (?1, ?2, ?3, ?4, ?5)
