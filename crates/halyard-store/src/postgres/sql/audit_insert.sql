INSERT INTO halyard.audit (at, actor, key_id, request_id, action, target, job_ids)
SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7)
