-- The record that stood in the way of a claim. No row: it is gone by now.
select
    fingerprint, state, response,
    ceil(extract(epoch from in_progress_until - clock_timestamp()) * 1000)::bigint as left_ms
from halyard_processed
where key = $1 and expires_at > clock_timestamp()
