-- Is there the schema, and the table of its migrations? Making what is there already needs rights
-- that a server may well lack. The schema is looked for in its table: a session may remember that
-- there was none, until it opens a table and hears of what others did.
SELECT EXISTS (SELECT FROM pg_namespace WHERE '"' || nspname || '"' = $1),
    to_regclass('halyard.migrations') IS NOT NULL
