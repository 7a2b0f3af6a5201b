-- Connections of the test's server that have not ended: a connection's counts come with its end.
SELECT count(*) FROM pg_stat_activity WHERE application_name = $1
