SELECT attempts.* FROM unnest($1, $2) AS wanted (seq, number)
JOIN halyard.attempts USING (seq, number)
