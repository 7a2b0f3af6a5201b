-- The slots' sums, in the order of the table.
SELECT coalesce(sum(created), 0)::bigint,
    coalesce(sum(replayed), 0)::bigint,
    coalesce(sum(keys_refused), 0)::bigint,
    coalesce(sum(completed), 0)::bigint,
    coalesce(sum(failed), 0)::bigint,
    coalesce(sum(cancelled), 0)::bigint,
    coalesce(sum(retried), 0)::bigint,
    coalesce(sum(leases_lost), 0)::bigint,
    coalesce(sum(timed_out), 0)::bigint,
    coalesce(sum(reports_rejected), 0)::bigint
FROM halyard.totals
