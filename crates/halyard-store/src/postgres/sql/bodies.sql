SELECT bodies.* FROM unnest($1) AS wanted (seq) JOIN halyard.bodies USING (seq)
