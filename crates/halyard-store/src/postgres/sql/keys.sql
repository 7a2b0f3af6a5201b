-- Keys are locked before jobs, both in one order everywhere.
SELECT keys.* FROM unnest($1, $2) AS wanted (task, key)
JOIN halyard.keys USING (task, key)
ORDER BY task, key FOR UPDATE OF keys
