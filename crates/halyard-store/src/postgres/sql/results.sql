SELECT results.* FROM unnest($1) AS wanted (seq) JOIN halyard.results USING (seq)
