-- The transaction's number, by which its outcome can be asked for on another connection, and a mark
-- of the server's life: since when it runs, and where its last checkpoint lies, which every recovery
-- moves. A server that fell over gives numbers again that it had not yet written down.
SELECT pg_current_xact_id()::text,
    (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint
        + (checkpoint_lsn - '0/0')::bigint
FROM pg_control_checkpoint()
