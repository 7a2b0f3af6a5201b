-- What a database says of itself when it is examined. What a role may not see is null, so it is
-- asked for its right to see it.
SELECT current_setting('server_version_num')::bigint, current_setting('server_version'),
    current_setting('synchronous_commit'), current_setting('synchronous_standby_names') <> '',
    (SELECT count(*) FROM pg_stat_replication),
    floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint,
    pg_has_role('pg_read_all_stats', 'USAGE'),
    (SELECT floor(extract(epoch FROM clock_timestamp() - min(xact_start)) * 1000)::bigint
     FROM pg_stat_activity
     WHERE (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL) AND pid <> pg_backend_pid()
        AND backend_type = 'client backend'),
    (SELECT floor(extract(epoch FROM clock_timestamp() - min(prepared)) * 1000)::bigint
     FROM pg_prepared_xacts),
    (SELECT max(greatest(age(xmin), age(catalog_xmin)))::bigint FROM pg_replication_slots),
    (SELECT age(datfrozenxid)::bigint FROM pg_database WHERE datname = current_database()),
    EXISTS (SELECT FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
            WHERE nspname = $1 AND relname = 'stamp'),
    current_setting('server_encoding'), pg_is_in_recovery(),
    current_setting('default_transaction_read_only') = 'on'
