SELECT requests.* FROM unnest($1, $2) AS wanted (scope, value)
JOIN halyard.requests USING (scope, value)
ORDER BY scope, value FOR UPDATE OF requests
