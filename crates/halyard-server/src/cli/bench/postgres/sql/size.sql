-- Bytes of the schema's tables with their indexes.
SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class
WHERE relkind = 'r' AND relnamespace = $1::text::regnamespace
