select row_to_json(done)::text from halyard.finish_job($1, $2, $3::json) as done
