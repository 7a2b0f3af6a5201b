-- The newest number that a job was given. The job may be gone, and its number is never given again;
-- each job that was made got one, so their number is the newest of them.
SELECT max(created, (SELECT coalesce(max(seq), 0) FROM jobs)) FROM totals
