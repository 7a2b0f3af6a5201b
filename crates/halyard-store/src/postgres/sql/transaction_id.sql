-- The transaction's number, by which its outcome can be asked for on another connection, and a mark
-- of the server's life: since when it runs, and since when it counts, which every recovery begins
-- anew. A server that fell over gives numbers again that it had not yet written down.
SELECT pg_current_xact_id()::text,
    (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint
        + coalesce((extract(epoch FROM pg_stat_get_bgwriter_stat_reset_time()) * 1000000)::bigint, 0)
