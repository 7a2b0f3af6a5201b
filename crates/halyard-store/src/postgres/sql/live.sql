-- The leases that were live at a stamp. They are locked as they are free: the store must not stand
-- still until somebody else's transaction ends.
SELECT id FROM halyard.jobs WHERE state = 2 AND expires_at > $1
