INSERT OR REPLACE INTO keys (task, key, job_id, fingerprint, algorithm, seq)
VALUES (?1, ?2, ?3, ?4, ?5, ?6)
