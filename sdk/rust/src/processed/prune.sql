-- In bites, so that no claim waits for long.
delete from halyard_processed where key in (
    select key from halyard_processed where expires_at <= clock_timestamp()
    order by expires_at limit 1000 for update skip locked
)
