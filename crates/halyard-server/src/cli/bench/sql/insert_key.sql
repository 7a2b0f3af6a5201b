-- One (task, key) is one job.
INSERT INTO keys VALUES (?1, ?2, ?3, ?4, 1, ?5, NULL, NULL, NULL, NULL, NULL)
