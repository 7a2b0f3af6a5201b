-- Takes a key that is free, that has expired, or whose run is over and never said how it ended.
-- No row: somebody has it, and `read` says who.
insert into halyard_processed as record
    (key, fingerprint, state, owner, in_progress_until, expires_at)
values (
    $1, $2, 'in_progress', $3,
    clock_timestamp() + $4::bigint * interval '1 millisecond',
    clock_timestamp() + $5::bigint * interval '1 millisecond'
)
on conflict (key) do update set
    fingerprint = excluded.fingerprint,
    state = excluded.state,
    owner = excluded.owner,
    unknown = record.expires_at > clock_timestamp(),
    in_progress_until = excluded.in_progress_until,
    response = null,
    expires_at = excluded.expires_at
where record.expires_at <= clock_timestamp()
    or record.state = 'in_progress'
    and record.in_progress_until <= clock_timestamp()
    and record.fingerprint = excluded.fingerprint
returning unknown
