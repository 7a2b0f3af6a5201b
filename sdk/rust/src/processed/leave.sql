update halyard_processed set in_progress_until = clock_timestamp()
where key = $1 and owner = $2 and state = 'in_progress'
