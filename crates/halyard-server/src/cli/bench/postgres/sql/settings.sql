-- What decides how fast a database is, and whether what it acknowledged is kept.
SELECT name, current_setting(name) FROM unnest(ARRAY[
    'server_version', 'fsync', 'synchronous_commit', 'full_page_writes', 'wal_level',
    'synchronous_standby_names', 'shared_buffers', 'max_wal_size', 'checkpoint_timeout', 'wal_buffers',
    'autovacuum', 'data_checksums', 'jit'
]) AS name
