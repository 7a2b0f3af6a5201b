SELECT checkpoints.* FROM unnest($1, $2) AS wanted (seq, name)
JOIN halyard.checkpoints USING (seq, name)
