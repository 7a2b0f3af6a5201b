-- What became of a transaction, if this is the server that it ran on, in the same life, and whether
-- a commit waits for a standby.
SELECT CASE WHEN is_same THEN pg_xact_status($1::xid8) END, is_same,
    current_setting('synchronous_standby_names') <> ''
FROM (
    SELECT (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint
        + coalesce((extract(epoch FROM pg_stat_get_bgwriter_stat_reset_time()) * 1000000)::bigint, 0)
        = $2
) AS it (is_same)
