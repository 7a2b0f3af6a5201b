-- Newest first, between two places. Cheap columns only: rows that match are read whole later.
SELECT seq, state, queue, task FROM jobs WHERE seq > ?1 AND seq < ?2 ORDER BY seq DESC
