SELECT checkpoints.* FROM unnest($1) AS wanted (seq) JOIN halyard.checkpoints USING (seq)
ORDER BY seq, position
