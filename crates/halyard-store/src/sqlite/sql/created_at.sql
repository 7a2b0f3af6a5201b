-- The first job at or after a place, to find the place of a time by halving.
SELECT seq, created_at FROM jobs WHERE seq >= ?1 ORDER BY seq LIMIT 1
