-- Takes a key that is free, that has expired, or whose run is over and never said how it ended; and
-- one that this owner has in progress already: its client has sent the claim again, because the
-- answer was lost. What was unknown then is as unknown now. So an owner is made for each claim.
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
    unknown = record.expires_at > clock_timestamp()
        and (
            record.unknown
            or record.owner <> excluded.owner
            or record.in_progress_until <= clock_timestamp()
        ),
    in_progress_until = excluded.in_progress_until,
    response = null,
    expires_at = excluded.expires_at
where record.expires_at <= clock_timestamp()
    or record.state = 'in_progress'
    and record.fingerprint = excluded.fingerprint
    and (record.in_progress_until <= clock_timestamp() or record.owner = excluded.owner)
returning unknown
