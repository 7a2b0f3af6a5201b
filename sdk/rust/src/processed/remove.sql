delete from halyard_processed where key = $1 and owner = $2 and state = 'in_progress'
