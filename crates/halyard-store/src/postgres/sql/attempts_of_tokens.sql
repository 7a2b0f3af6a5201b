SELECT attempts.* FROM unnest($1, $2) AS wanted (seq, token)
JOIN halyard.attempts USING (seq, token)
