-- A job has few starts, and this is asked only when a token is not the newest one.
SELECT * FROM attempts WHERE seq = ?1 AND token = ?2
