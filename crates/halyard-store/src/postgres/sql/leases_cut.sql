-- A lease that ends later than the longest one from now was not given by a server: nobody would
-- take the job back. It gets a length as from a claim at this moment.
UPDATE halyard.jobs
SET expires_at = $1 + least(coalesce(lease_ms, $2), timeout_ms, $2), deadline = $1 + timeout_ms
WHERE state = 2 AND expires_at > $1 + $2 + $3
