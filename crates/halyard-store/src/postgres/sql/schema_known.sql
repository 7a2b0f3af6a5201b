-- Is there the schema, and the table of its migrations? Making what is there already needs rights
-- that a server may well lack.
SELECT to_regnamespace($1) IS NOT NULL, to_regclass('halyard.migrations') IS NOT NULL
