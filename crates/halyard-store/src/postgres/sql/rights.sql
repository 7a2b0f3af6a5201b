-- What a server does in a schema and this session's user may not, as a grant would name it. The
-- tables are named, as a schema may hold those of others too.
SELECT string_agg(wanted, ', ' ORDER BY place) || ' ON ' || subject
FROM (
    SELECT 1 AS place, 'USAGE' AS wanted, 'SCHEMA ' || quote_ident(nspname) AS subject,
        has_schema_privilege(oid, 'USAGE') AS held
    FROM pg_namespace WHERE nspname = $1
    UNION ALL
    SELECT at, name, 'TABLE ' || quote_ident(nspname) || '.' || relname,
        has_table_privilege(pg_class.oid, name)
    FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace,
        unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) WITH ORDINALITY AS one (name, at)
    WHERE nspname = $1 AND relkind = 'r' AND relname IN (
            'api_keys', 'attempts', 'audit', 'bodies', 'checkpoints', 'counters', 'jobs', 'keys',
            'migrations', 'minutes', 'queues', 'requests', 'results', 'sign_ins', 'stamp', 'totals'
        ) AND (relname <> 'migrations' OR name = 'SELECT')
    UNION ALL
    SELECT 1, 'USAGE', 'SEQUENCE ' || quote_ident(nspname) || '.' || relname,
        has_sequence_privilege(pg_class.oid, 'USAGE')
    FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE nspname = $1 AND relkind = 'S' AND relname = 'jobs_seq'
) AS rights
WHERE NOT held GROUP BY subject ORDER BY subject
