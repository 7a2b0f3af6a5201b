-- One verb of the processed store on one record, decided and written in one step.
--
-- KEYS[1]  halyard:processed:<key>
-- ARGV     claim    fingerprint owner in_progress_ms expires_ms
--          complete owner response expires_ms    (the response is JSON, kept as a string, unread)
--          leave    owner
--          remove   owner    (leaves a record whose outcome is unknown, as `leave` does)
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
