-- What was done to rows: each update and each delete leaves a dead one. A heap-only update (HOT)
-- leaves nothing in the indexes.
SELECT coalesce(sum(n_tup_upd + n_tup_del), 0)::bigint, coalesce(sum(n_tup_hot_upd), 0)::bigint,
    coalesce(sum(n_dead_tup), 0)::bigint
FROM pg_stat_user_tables WHERE schemaname = $1
