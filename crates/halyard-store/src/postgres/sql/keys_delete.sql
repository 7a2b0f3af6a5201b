DELETE FROM halyard.keys USING unnest($1, $2) AS freed (task, key)
WHERE keys.task = freed.task AND keys.key = freed.key
