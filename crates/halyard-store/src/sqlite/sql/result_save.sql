INSERT OR REPLACE INTO results (seq, result) VALUES (?1, ?2)
