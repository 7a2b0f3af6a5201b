select row_to_json(written)::text from halyard.checkpoint_job($1, $2, $3, $4::json) as written
