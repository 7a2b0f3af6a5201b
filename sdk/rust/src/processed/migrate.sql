-- The table of the processed store. The index serves `prune`. Workers that start at the same time
-- make it in turn: `if not exists` alone lets two of them try.
select pg_advisory_xact_lock(hashtext('halyard_processed'));
create table if not exists halyard_processed (
    key text primary key,
    fingerprint text not null,
    state text not null check (state in ('in_progress', 'completed')),
    owner text not null,
    -- Whether this run took over from one that never said how it ended.
    unknown boolean not null default false,
    in_progress_until timestamptz not null,
    -- JSON as it was written, every digit of it.
    response text,
    expires_at timestamptz not null
);
create index if not exists halyard_processed_expires_at on halyard_processed (expires_at);
