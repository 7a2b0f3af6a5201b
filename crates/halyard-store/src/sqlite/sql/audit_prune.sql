-- Up to the newest line that is too old, and up to the last one beyond those that are kept.
DELETE FROM audit WHERE number IN (
    SELECT number FROM audit WHERE number <= max(
        coalesce((SELECT number FROM audit WHERE at < ?1 ORDER BY at DESC, number DESC LIMIT 1), 0),
        coalesce((SELECT max(number) FROM audit), 0) - ?2
    ) ORDER BY number LIMIT ?3
)
