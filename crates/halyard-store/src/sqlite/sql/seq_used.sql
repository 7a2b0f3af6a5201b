-- The newest number that a job was given. That job may be gone, and its number is never given
-- again. The numbers are counted from 1, so the newest one is how many jobs were made, and how many
-- numbers were passed over before a move from PostgreSQL: that stands in `user_version`.
SELECT max(created + user_version, (SELECT coalesce(max(seq), 0) FROM jobs))
FROM totals, pragma_user_version
