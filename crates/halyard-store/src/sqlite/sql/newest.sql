-- Up to when this store was written, as far as a start can tell by indexes: the last stamp is up to
-- a second older than the last job made, started or ended. Below it time must not begin again.
SELECT max(
    at,
    coalesce((SELECT created_at FROM jobs WHERE seq = (SELECT max(seq) FROM jobs)), 0),
    coalesce((SELECT max(started_at) FROM jobs INDEXED BY jobs_lease WHERE state = 2), 0),
    coalesce((SELECT max(finished_at) FROM jobs INDEXED BY jobs_ended
              WHERE state >= 4 AND state = 4), 0),
    coalesce((SELECT max(finished_at) FROM jobs INDEXED BY jobs_ended
              WHERE state >= 4 AND state = 5), 0),
    coalesce((SELECT max(finished_at) FROM jobs INDEXED BY jobs_ended
              WHERE state >= 4 AND state = 6), 0)
) FROM stamp
