update halyard_processed
set state = 'completed', response = $3,
    expires_at = clock_timestamp() + $4::bigint * interval '1 millisecond'
where key = $1 and owner = $2 and state = 'in_progress'
