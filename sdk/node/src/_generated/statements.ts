/**
 * The statements of the processed store.
 *
 * Made from sdk/rust/src/processed by scripts/generate-statements.js: npm run generate.
 * Do not edit.
 */

export const RECORD = `
-- One verb of the processed store on one record, decided and written in one step.
--
-- KEYS[1]  halyard:processed:<key>
-- ARGV     claim    fingerprint owner in_progress_ms expires_ms
--          complete owner response expires_ms    (the response is JSON, kept as a string, unread)
--          leave    owner
--          remove   owner    (leaves a record whose outcome is unknown, as \`leave\` does)
--
-- An owner that claims again what it has in progress gets its claim again: its client has sent it
-- again, because the answer was lost. So an owner is made for each claim.
--
-- claim gives {'mine', 0 or 1 for unknown}, {'completed', response}, {'in_progress', ms left} or
-- {'reused'}; the others give 1, or 0 when the record is not this owner's any more.
--
-- Times are milliseconds of the clock of Redis. They are written by string.format, because cjson
-- writes large numbers with an exponent.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local text = redis.call('GET', KEYS[1])
local old = text and cjson.decode(text)
if old and old.expires_at <= now then
    -- Redis takes it away a millisecond later.
    old = nil
end

local function write(record, ends)
    local at = string.format('%.0f', ends)
    local until_ms = string.format('%.0f', record.in_progress_until)
    local json = '{"fingerprint":' .. cjson.encode(record.fingerprint)
        .. ',"state":"' .. record.state .. '","owner":' .. cjson.encode(record.owner)
        .. ',"in_progress_until":' .. until_ms
    if record.response then
        json = json .. ',"response":' .. cjson.encode(record.response)
    end
    if record.unknown then
        json = json .. ',"unknown":true'
    end
    redis.call('SET', KEYS[1], json .. ',"expires_at":' .. at .. '}', 'PXAT', at)
end

local function claim(fingerprint, owner, in_progress_ms, expires_ms)
    local unknown = false
    if old then
        if old.fingerprint ~= fingerprint then
            return { 'reused' }
        end
        if old.state == 'completed' then
            return { 'completed', old.response }
        end
        if old.in_progress_until <= now then
            unknown = true
        elseif old.owner == owner then
            unknown = old.unknown
        else
            return { 'in_progress', old.in_progress_until - now }
        end
    end
    local record = { fingerprint = fingerprint, state = 'in_progress', owner = owner }
    record.unknown = unknown
    record.in_progress_until = now + in_progress_ms
    write(record, now + expires_ms)
    return { 'mine', unknown and 1 or 0 }
end

local verb = ARGV[1]
if verb == 'claim' then
    return claim(ARGV[2], ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5]))
end
if not old or old.state ~= 'in_progress' or old.owner ~= ARGV[2] then
    return 0
end
if verb == 'complete' then
    old.state = 'completed'
    old.response = ARGV[3]
    write(old, now + tonumber(ARGV[4]))
elseif verb == 'leave' or old.unknown then
    -- What this run found unknown when it took over is no better known for its end.
    old.in_progress_until = now
    write(old, old.expires_at)
else
    redis.call('DEL', KEYS[1])
end
return 1
`;

export const MIGRATE = `
-- The table of the processed store. The index serves \`prune\`. Workers that start at the same time
-- make it in turn: \`if not exists\` alone lets two of them try.
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
`;

export const CLAIM = `
-- Takes a key that is free, that has expired, or whose run is over and never said how it ended; and
-- one that this owner has in progress already: its client has sent the claim again, because the
-- answer was lost. What was unknown then is as unknown now. So an owner is made for each claim.
-- No row: somebody has it, and \`read\` says who.
insert into halyard_processed as record
    (key, fingerprint, state, owner, in_progress_until, expires_at)
values (
    $1, $2, 'in_progress', $3,
    clock_timestamp() + $4::bigint * interval '1 millisecond',
    clock_timestamp() + $5::bigint * interval '1 millisecond'
)
on conflict (key) do update set
    fingerprint = excluded.fingerprint,
    state = excluded.state,
    owner = excluded.owner,
    unknown = record.expires_at > clock_timestamp()
        and (
            record.unknown
            or record.owner <> excluded.owner
            or record.in_progress_until <= clock_timestamp()
        ),
    in_progress_until = excluded.in_progress_until,
    response = null,
    expires_at = excluded.expires_at
where record.expires_at <= clock_timestamp()
    or record.state = 'in_progress'
    and record.fingerprint = excluded.fingerprint
    and (record.in_progress_until <= clock_timestamp() or record.owner = excluded.owner)
returning unknown
`;

export const READ = `
-- The record that stood in the way of a claim. No row: it is gone by now.
select
    fingerprint, state, response,
    ceil(extract(epoch from in_progress_until - clock_timestamp()) * 1000)::bigint as left_ms
from halyard_processed
where key = $1 and expires_at > clock_timestamp()
`;

export const COMPLETE = `
update halyard_processed
set state = 'completed', response = $3,
    expires_at = clock_timestamp() + $4::bigint * interval '1 millisecond'
where key = $1 and owner = $2 and state = 'in_progress'
`;

export const LEAVE = `
update halyard_processed set in_progress_until = clock_timestamp()
where key = $1 and owner = $2 and state = 'in_progress'
`;

export const REMOVE = `
-- What this run found unknown when it took over is no better known for its end: such a record
-- stays, and is over. One row when the record was its own.
with left_unknown as (
    update halyard_processed set in_progress_until = clock_timestamp()
    where key = $1 and owner = $2 and state = 'in_progress' and unknown
    returning key
), removed as (
    delete from halyard_processed
    where key = $1 and owner = $2 and state = 'in_progress' and not unknown
    returning key
)
select key from left_unknown union all select key from removed
`;

export const PRUNE = `
-- In bites, so that no claim waits for long.
delete from halyard_processed where key in (
    select key from halyard_processed where expires_at <= clock_timestamp()
    order by expires_at limit 1000 for update skip locked
)
`;
