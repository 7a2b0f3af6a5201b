SELECT number, at, actor, key_id, request_id, action, target, job_ids FROM audit
WHERE number < ?1 ORDER BY number DESC LIMIT ?2
