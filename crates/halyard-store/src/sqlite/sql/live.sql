-- The leases that were live at a stamp.
SELECT seq FROM jobs INDEXED BY jobs_lease WHERE state = 2 AND expires_at > ?1
