-- The leases that claims gave. Asked only when one is repeated.
SELECT * FROM halyard.jobs WHERE state = 2 AND expires_at > $1 AND claim_mark = ANY ($2)
ORDER BY id FOR UPDATE
