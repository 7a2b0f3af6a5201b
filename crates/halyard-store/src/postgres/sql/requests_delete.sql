DELETE FROM halyard.requests USING unnest($1, $2) AS expired (scope, value)
WHERE requests.scope = expired.scope AND requests.value = expired.value
