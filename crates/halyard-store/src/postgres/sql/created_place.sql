-- A place before which every job was created before a time, but for those that were created within
-- the same seconds: numbers are nearly in the order of time, and halving finds it.
WITH RECURSIVE halves AS (
    SELECT 1::bigint AS low, coalesce(max(seq), 0) + 1 AS high FROM halyard.jobs
    UNION ALL
    SELECT CASE WHEN there.created_at < $1 THEN there.seq + 1 ELSE halves.low END,
        CASE WHEN there.created_at < $1 THEN halves.high ELSE (halves.low + halves.high) / 2 END
    FROM halves LEFT JOIN LATERAL (
        SELECT seq, created_at FROM halyard.jobs WHERE seq >= (halves.low + halves.high) / 2
        ORDER BY seq LIMIT 1
    ) AS there ON true
    WHERE halves.low < halves.high
)
SELECT low FROM halves WHERE low >= high
