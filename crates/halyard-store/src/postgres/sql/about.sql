-- What a database is asked before jobs are kept in it.
SELECT current_setting('server_version_num'), current_setting('server_version'),
       current_setting('server_encoding'), current_setting('synchronous_commit'),
       pg_is_in_recovery()::text, current_setting('default_transaction_read_only')
