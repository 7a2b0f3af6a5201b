-- The leases that were live at a stamp. One that a transaction of somebody else's holds is passed by:
-- the store must not stand still until that ends.
SELECT * FROM halyard.jobs WHERE state = 2 AND expires_at > $1 ORDER BY id FOR UPDATE SKIP LOCKED
