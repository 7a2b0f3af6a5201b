-- The time and what stands around a transaction, read at its beginning.
SELECT at, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint,
    current_setting('synchronous_commit'), current_setting('halyard_server.session', true)
FROM halyard.stamp
