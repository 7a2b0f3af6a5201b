-- The leases that one claim gave. Asked only when a claim is repeated.
SELECT seq FROM jobs INDEXED BY jobs_lease
WHERE state = 2 AND expires_at > ?1 AND claim_mark = ?2 ORDER BY priority DESC, run_at, seq
