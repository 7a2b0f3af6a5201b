-- Oldest first, between two places.
SELECT seq, state, queue, task FROM jobs WHERE seq > ?1 AND seq < ?2 ORDER BY seq
