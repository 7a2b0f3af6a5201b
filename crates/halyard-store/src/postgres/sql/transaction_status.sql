-- What became of a transaction, if this is the server that it ran on, in the same life.
SELECT CASE WHEN (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint
        + (checkpoint_lsn - '0/0')::bigint = $2 THEN pg_xact_status($1::xid8) END
FROM pg_control_checkpoint()
