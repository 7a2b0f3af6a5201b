-- Tables of a schema with their live rows and those that are dead and not yet cleared away.
SELECT relname::text, n_live_tup, n_dead_tup FROM pg_stat_user_tables
WHERE schemaname = $1 ORDER BY relname
