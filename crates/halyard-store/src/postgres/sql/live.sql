-- The leases that were live at a stamp.
SELECT * FROM halyard.jobs WHERE state = 2 AND expires_at > $1 ORDER BY id FOR UPDATE
