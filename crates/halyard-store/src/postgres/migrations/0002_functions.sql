-- Jobs in the caller's own transaction: create, complete and checkpoint by statements that commit
-- with the caller's rows, or not at all. They run as the schema's owner, so a caller needs USAGE on
-- the schema and nothing else; whoever has it may create and, with a token, complete.
--
-- Each does what the store's own verb does, on the same rows, with the locks in the same order: key,
-- then job. A test compares the two. What they refuse is an error, which leaves nothing behind, so a
-- refusal is not counted. They wake nobody: NOTIFY takes a lock of the whole database at commit, and
-- the servers look every second.

CREATE TYPE halyard.created_job AS (
    id text, state text, life integer, replayed boolean, revived boolean, purged boolean
);
CREATE TYPE halyard.finished_job AS (state text, repeated boolean);
CREATE TYPE halyard.written_checkpoint AS (repeated boolean, cancel_requested boolean);

CREATE FUNCTION halyard.now_ms() RETURNS bigint LANGUAGE sql VOLATILE AS
$$ SELECT pg_catalog.floor(extract(epoch FROM pg_catalog.clock_timestamp()) * 1000)::bigint $$;

-- Refuses. The detail is JSON for programs: the code of the HTTP API, and what belongs to it.
CREATE FUNCTION halyard.refuse(sqlstate text, code text, message text, about json DEFAULT '{}')
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION USING ERRCODE = refuse.sqlstate, MESSAGE = refuse.message,
        DETAIL = json_build_object('code', refuse.code, 'about', refuse.about)::text;
END $$;

CREATE FUNCTION halyard.state_name(number integer) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT ('{scheduled,queued,running,retrying,completed,failed,cancelled}'::text[])[number + 1]
$$;

-- `job_` and a UUIDv7 in 26 characters of Crockford's base32, as on the wire.
CREATE FUNCTION halyard.job_name(id uuid) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT 'job_' || string_agg(
        substr('0123456789abcdefghjkmnpqrstvwxyz', substr(bits, n * 5 + 1, 5)::bit(5)::integer + 1, 1),
        '' ORDER BY n
    )
    FROM generate_series(0, 25) AS n,
        (SELECT '00' || ('x' || replace(id::text, '-', ''))::bit(128)::text AS bits) AS of
$$;

-- The uuid of such a name; null for what no job can be called.
CREATE FUNCTION halyard.job_uuid(name text) RETURNS uuid LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    bits text;
    digits text;
BEGIN
    IF name !~ '^job_[0-7][0-9a-hjkmnp-tv-z]{25}$' THEN RETURN NULL; END IF;
    SELECT string_agg(
        (strpos('0123456789abcdefghjkmnpqrstvwxyz', substr(name, 4 + n, 1)) - 1)::bit(5)::text,
        '' ORDER BY n
    ) INTO bits FROM generate_series(1, 26) AS n;
    SELECT string_agg(to_hex(substr(bits, n * 4 + 3, 4)::bit(4)::integer), '' ORDER BY n)
    INTO digits FROM generate_series(0, 31) AS n;
    IF digits !~ '^.{12}7.{3}[89ab]' THEN RETURN NULL; END IF;
    RETURN digits::uuid;
END $$;

-- A new one: the time, then chance.
CREATE FUNCTION halyard.job_uuid_made(now bigint) RETURNS uuid LANGUAGE sql VOLATILE AS $$
    SELECT (lpad(to_hex(now), 12, '0') || '7' || substr(digits, 14, 19))::uuid
    FROM (SELECT replace(gen_random_uuid()::text, '-', '') AS digits) AS random
$$;

CREATE FUNCTION halyard.token_of(token text) RETURNS uuid LANGUAGE sql IMMUTABLE AS
$$ SELECT CASE WHEN token ~ '^[0-9a-f]{32}$' THEN token::uuid END $$;

-- The one form of all literals of one number: sign, digits without outer zeros, exponent.
CREATE FUNCTION halyard.canonical_number(literal text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    part text[] := regexp_match(literal, '^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([-+]?[0-9]+))?$');
    fraction text := coalesce(part[3], '');
    digits text := ltrim(part[2] || fraction, '0');
    short text := rtrim(digits, '0');
BEGIN
    IF short = '' THEN RETURN '0e0'; END IF;
    RETURN part[1] || short || 'e'
        || (coalesce(part[4], '0')::numeric + length(digits) - length(short) - length(fraction))::text;
END $$;

-- The canonical form whose SHA-256 is a payload's fingerprint, as the server makes it. It reads the
-- text and not `jsonb`, which changes numbers and drops the first of two members of one name. Half a
-- surrogate pair and NUL are refused by PostgreSQL itself when a string is read.
CREATE FUNCTION halyard.canonical(field text, value json, depth integer DEFAULT 0) RETURNS text
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    kind text := json_typeof(value);
    made text;
    names bigint;
    names_apart bigint;
BEGIN
    IF kind = 'string' THEN RETURN to_json(value #>> '{}')::text; END IF;
    IF kind = 'number' THEN RETURN halyard.canonical_number(value #>> '{}'); END IF;
    IF kind IN ('null', 'boolean') THEN RETURN btrim(value::text, E' \t\n\r'); END IF;
    IF depth >= 64 THEN
        PERFORM halyard.refuse('YH006', 'invalid_field', field || ' is nested deeper than 64 levels');
    END IF;
    IF kind = 'array' THEN
        SELECT string_agg(halyard.canonical(field, it.element, depth + 1), ',' ORDER BY it.place)
        INTO made FROM json_array_elements(value) WITH ORDINALITY AS it (element, place);
        RETURN '[' || coalesce(made, '') || ']';
    END IF;
    SELECT string_agg(
            to_json(it.name)::text || ':' || halyard.canonical(field, it.member, depth + 1),
            ',' ORDER BY it.name COLLATE "C"
        ), count(*), count(DISTINCT it.name COLLATE "C")
    INTO made, names, names_apart FROM json_each(value) AS it (name, member);
    IF names <> names_apart THEN
        PERFORM halyard.refuse('YH006', 'invalid_field', field || ' has two members of one name');
    END IF;
    RETURN '{' || coalesce(made, '') || '}';
END $$;

CREATE FUNCTION halyard.fingerprint(field text, value json) RETURNS bytea LANGUAGE sql IMMUTABLE AS
$$ SELECT sha256(convert_to(halyard.canonical(field, value), 'UTF8')) $$;

-- The sender's own text of a value that may be kept.
CREATE FUNCTION halyard.value_text(field text, value json, bytes_max integer) RETURNS text
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    written text := btrim(value::text, E' \t\n\r');
BEGIN
    IF octet_length(written) > bytes_max THEN
        PERFORM halyard.refuse('YH007', 'payload_too_large', format(
            '%s has %s bytes; at most %s are kept', field, octet_length(written), bytes_max));
    END IF;
    RETURN written;
END $$;

CREATE FUNCTION halyard.refuse_field(field text, value text, rule text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM halyard.refuse('YH006', 'invalid_field',
        format('%s is %s; it %s', field, to_json(left(value, 60)), rule),
        json_build_object('field', field));
END $$;

CREATE FUNCTION halyard.check_name(field text, name text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    IF name IS NULL OR name COLLATE "C" !~ '^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$' THEN
        PERFORM halyard.refuse_field(field, coalesce(name, ''), 'must be 1 to 128 characters of '
            'A-Z a-z 0-9 . _ : / - and start with a letter or a digit');
    END IF;
    RETURN name;
END $$;

-- Keys and names of checkpoints: any script; nothing that cannot be seen. Which code points are
-- assigned is not known to every PostgreSQL, so that is left to the SDK.
CREATE FUNCTION halyard.check_text(field text, told text, length_max integer) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    space text := '[\u0020\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]';
BEGIN
    IF told IS NULL OR length(told) NOT BETWEEN 1 AND length_max THEN
        PERFORM halyard.refuse_field(field, coalesce(told, ''),
            format('must be 1 to %s characters long', length_max));
    ELSIF told ~ ('^' || space || '|' || space || '$') THEN
        PERFORM halyard.refuse_field(field, told, 'must not begin or end with white space');
    ELSIF told ~ '[\u0001-\u001f\u007f-\u009f]' THEN
        PERFORM halyard.refuse_field(field, told, 'must not hold control characters');
    END IF;
    RETURN told;
END $$;

-- The members of `options`: a text, a whole number written as digits, a share.
CREATE FUNCTION halyard.option_text(options json, name text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    IF coalesce(json_typeof(options -> name), 'null') NOT IN ('null', 'string') THEN
        PERFORM halyard.refuse_field(name, (options -> name)::text, 'must be a string');
    END IF;
    RETURN options ->> name;
END $$;

CREATE FUNCTION halyard.option_number(
    options json, name text, low bigint, high bigint, otherwise bigint, field text DEFAULT ''
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    told text := options ->> name;
BEGIN
    IF told IS NULL THEN RETURN otherwise; END IF;
    IF json_typeof(options -> name) <> 'number' OR told !~ '^-?[0-9]{1,18}$'
        OR told::bigint NOT BETWEEN low AND high
    THEN
        PERFORM halyard.refuse_field(field || name, (options -> name)::text,
            format('must be a whole number from %s to %s', low, high));
    END IF;
    RETURN told::bigint;
END $$;

CREATE FUNCTION halyard.option_share(
    options json, name text, low double precision, high double precision,
    otherwise double precision, field text
) RETURNS double precision LANGUAGE plpgsql AS $$
DECLARE
    told text := options ->> name;
BEGIN
    IF told IS NULL THEN RETURN otherwise; END IF;
    IF json_typeof(options -> name) <> 'number' OR told::numeric NOT BETWEEN low AND high THEN
        PERFORM halyard.refuse_field(field || name, (options -> name)::text,
            format('must be a number from %s to %s', low, high));
    END IF;
    RETURN told::double precision;
END $$;

-- A time in RFC 3339, in milliseconds; what is finer is dropped.
CREATE FUNCTION halyard.option_time(options json, name text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    told text := halyard.option_text(options, name);
    part text[] := regexp_match(told, '^(\d{4}-\d\d-\d\d)[Tt]((?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d)'
        '(?:\.(\d+))?([Zz]|[-+](?:[01]\d|2[0-3]):[0-5]\d)$');
    offset_s bigint := 0;
BEGIN
    IF told IS NULL THEN RETURN NULL; END IF;
    IF part IS NULL THEN
        PERFORM halyard.refuse_field(name, told,
            'must be a time in RFC 3339 such as 2026-11-29T08:15:30Z');
    END IF;
    IF upper(part[4]) <> 'Z' THEN
        offset_s := extract(epoch FROM substr(part[4], 2)::interval)
            * CASE WHEN part[4] LIKE '-%' THEN -1 ELSE 1 END;
    END IF;
    RETURN (extract(epoch FROM (part[1] || ' ' || part[2])::timestamp)::bigint - offset_s) * 1000
        + rpad(left(coalesce(part[3], '0'), 3), 3, '0')::bigint;
END $$;

-- The job that a create asks for, as it begins.
CREATE FUNCTION halyard.admit_job(task text, options json, now bigint) RETURNS halyard.jobs
LANGUAGE plpgsql AS $$
DECLARE
    job halyard.jobs;
    day constant bigint := 86400000;
    backoff json := CASE WHEN json_typeof(options -> 'backoff') <> 'null' THEN options -> 'backoff' END;
    stray text;
    told text := halyard.option_text(options, 'id');
    run_at bigint := halyard.option_time(options, 'run_at');
    delay bigint := halyard.option_number(options, 'delay_ms', 0, 400 * day, NULL);
BEGIN
    IF json_typeof(options) <> 'object' OR json_typeof(backoff) <> 'object' THEN
        PERFORM halyard.refuse('YH006', 'invalid_field', 'options and backoff must be objects');
    END IF;
    -- Also finds two members of one name.
    PERFORM halyard.canonical('options', options);
    SELECT name INTO stray FROM json_object_keys(options) AS name WHERE name NOT IN (
        'queue', 'idempotency_key', 'if_failed', 'idempotency_ttl_ms', 'id', 'run_at', 'delay_ms',
        'priority', 'max_attempts', 'max_crashes', 'timeout_ms', 'backoff', 'tags', 'traceparent'
    );
    IF NOT FOUND AND backoff IS NOT NULL THEN
        SELECT 'backoff/' || name INTO stray FROM json_object_keys(backoff) AS name
        WHERE name NOT IN ('initial_ms', 'factor', 'max_ms', 'jitter');
    END IF;
    IF stray IS NOT NULL THEN
        PERFORM halyard.refuse('YH006', 'unknown_field', format('there is no option %s', stray));
    END IF;
    job.task := halyard.check_name('task', task);
    job.queue := halyard.check_name(
        'queue', coalesce(halyard.option_text(options, 'queue'), 'default'));
    job.id := CASE WHEN told IS NULL THEN halyard.job_uuid_made(now) ELSE halyard.job_uuid(told) END;
    IF job.id IS NULL THEN
        PERFORM halyard.refuse_field('id', told,
            'must be job_ and a UUIDv7 in 26 characters of lower-case Crockford base32');
    END IF;
    IF run_at IS NOT NULL AND delay IS NOT NULL THEN
        PERFORM halyard.refuse('YH006', 'invalid_field', 'delay_ms must be left out beside run_at');
    ELSIF run_at > now + 400 * day THEN
        PERFORM halyard.refuse('YH006', 'invalid_field', 'run_at is more than 400 days ahead');
    END IF;
    job.created_at := now;
    job.run_at := greatest(coalesce(run_at, now + coalesce(delay, 0)), now);
    job.queued_at := job.run_at;
    job.state := CASE WHEN job.run_at > now THEN 0 ELSE 1 END;
    job.priority := halyard.option_number(options, 'priority', -100, 100, 0);
    job.max_attempts := halyard.option_number(options, 'max_attempts', 1, 100, 20);
    job.max_crashes := halyard.option_number(options, 'max_crashes', 1, 100, 5);
    job.timeout_ms := halyard.option_number(options, 'timeout_ms', 100, day, 900000);
    job.backoff_initial_ms
        := halyard.option_number(backoff, 'initial_ms', 0, day, 5000, 'backoff/');
    job.backoff_factor := halyard.option_share(backoff, 'factor', 1, 10, 2, 'backoff/');
    job.backoff_max_ms := halyard.option_number(backoff, 'max_ms', 0, 7 * day, 3600000, 'backoff/');
    job.backoff_jitter := halyard.option_share(backoff, 'jitter', 0, 1, 0.2, 'backoff/');
    job.key_ttl_ms
        := halyard.option_number(options, 'idempotency_ttl_ms', 60000, 400 * day, 30 * day);
    job.holds_key := options ->> 'idempotency_key' IS NOT NULL;
    job.life := 1;
    job.attempt := 0;
    job.starts := 0;
    job.crashes := 0;
    job.releases := 0;
    job.snoozes := 0;
    job.cancel_requested := false;
    job.checkpoints := 0;
    job.checkpoints_bytes := 0;
    job.replays := 0;
    job.rejected := 0;
    RETURN job;
END $$;

-- What never changes of it.
CREATE FUNCTION halyard.admit_body(id uuid, payload json, options json) RETURNS halyard.bodies
LANGUAGE plpgsql AS $$
DECLARE
    body halyard.bodies;
    tags json := CASE WHEN json_typeof(options -> 'tags') <> 'null' THEN options -> 'tags' END;
    key text := halyard.option_text(options, 'idempotency_key');
    trace text := halyard.option_text(options, 'traceparent');
BEGIN
    body.id := id;
    body.payload := halyard.value_text('payload', payload, 1048576);
    IF key IS NOT NULL THEN
        body.idempotency_key := halyard.check_text('idempotency_key', key, 255);
    END IF;
    IF json_typeof(tags) <> 'array' THEN
        PERFORM halyard.refuse_field('tags', tags::text, 'must be a list');
    ELSIF json_array_length(tags) > 10 THEN
        PERFORM halyard.refuse('YH006', 'invalid_field', format(
            'tags has %s entries; at most 10 are kept', json_array_length(tags)));
    END IF;
    SELECT string_agg(halyard.check_name('tags', it.tag #>> '{}'), E'\n' ORDER BY it.place)
    INTO body.tags FROM json_array_elements(tags) WITH ORDINALITY AS it (tag, place);
    IF trace COLLATE "C" !~ ('^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}'
        '-[0-9a-f]{2}(-[\x01-\x7f]*)?$') OR length(trace) > 128 OR trace ~ '^00.{54}'
    THEN
        PERFORM halyard.refuse_field('traceparent', trace, 'must be a W3C traceparent, as in '
            '00-<32 hex digits>-<16 hex digits>-<2 hex digits>, with neither id all zeros');
    END IF;
    body.traceparent := trace;
    RETURN body;
END $$;

-- Where this transaction counts: in a slot that no server uses, and nobody else until it ends. So
-- nobody waits for a counter until the caller commits. The lock never waits.
CREATE FUNCTION halyard.slot() RETURNS smallint LANGUAGE plpgsql AS $$
DECLARE
    slot integer := 64 + pg_backend_pid() % 16;
BEGIN
    WHILE NOT pg_try_advisory_xact_lock(hashtext('halyard.counters'), slot) LOOP
        slot := slot + 1;
    END LOOP;
    RETURN slot;
END $$;

-- Counts a job that came from a state, or from nowhere, into another one, or stayed.
CREATE FUNCTION halyard.count_job(
    job halyard.jobs, state_before integer, now bigint,
    created integer DEFAULT 0, replayed integer DEFAULT 0, completed integer DEFAULT 0,
    retried integer DEFAULT 0
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    slot smallint := halyard.slot();
BEGIN
    IF state_before IS DISTINCT FROM job.state THEN
        INSERT INTO halyard.counters AS counters
        SELECT slot, job.queue, job.task, moved.state, moved.jobs
        FROM (VALUES (state_before, -1), (job.state::integer, 1)) AS moved (state, jobs)
        WHERE moved.state IS NOT NULL
        ON CONFLICT ON CONSTRAINT counters_pkey
        DO UPDATE SET jobs = counters.jobs + excluded.jobs;
    END IF;
    INSERT INTO halyard.totals AS totals
    VALUES (slot, created, replayed, 0, completed, 0, 0, retried, 0, 0, 0)
    ON CONFLICT ON CONSTRAINT totals_pkey DO UPDATE SET
        created = totals.created + excluded.created,
        replayed = totals.replayed + excluded.replayed,
        completed = totals.completed + excluded.completed,
        retried = totals.retried + excluded.retried;
    IF created + completed > 0 THEN
        INSERT INTO halyard.minutes AS minutes
        VALUES (slot, now - now % 60000, created, completed, 0)
        ON CONFLICT ON CONSTRAINT minutes_pkey DO UPDATE SET
            created = minutes.created + excluded.created,
            completed = minutes.completed + excluded.completed;
    END IF;
END $$;

-- Answers a create with a job that is there, which is locked.
CREATE FUNCTION halyard.replay(job halyard.jobs, now bigint) RETURNS halyard.created_job
LANGUAGE plpgsql AS $$
BEGIN
    UPDATE halyard.jobs AS it SET replays = it.replays + 1 WHERE it.seq = job.seq;
    PERFORM halyard.count_job(job, job.state, now, replayed => 1);
    RETURN ROW(
        halyard.job_name(job.id), halyard.state_name(job.state), job.life, true, false, false);
END $$;

-- Opens a new life of a failed job, which is locked.
CREATE FUNCTION halyard.revive(job halyard.jobs, now bigint) RETURNS halyard.created_job
LANGUAGE plpgsql AS $$
BEGIN
    UPDATE halyard.jobs AS it SET
        state = 1, life = it.life + 1, attempt = 0, crashes = 0, releases = 0, snoozes = 0,
        error_start = NULL, finished_at = NULL, run_at = now, queued_at = now,
        replays = it.replays + 1
    WHERE it.seq = job.seq RETURNING it.* INTO job;
    PERFORM halyard.count_job(job, 5, now, replayed => 1, retried => 1);
    RETURN ROW(
        halyard.job_name(job.id), halyard.state_name(job.state), job.life, true, true, false);
END $$;

-- One create: `task`, `payload` and, in `options`, the other members of the body of POST /v1/jobs.
CREATE FUNCTION halyard.create_job(
    task text, payload json DEFAULT NULL, options json DEFAULT NULL
) RETURNS halyard.created_job LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off AS $$
DECLARE
    now bigint := halyard.now_ms();
    given json := coalesce(payload, 'null');
    job halyard.jobs := halyard.admit_job(task, coalesce(options, '{}'), now);
    body halyard.bodies := halyard.admit_body(job.id, given, coalesce(options, '{}'));
    if_failed text := coalesce(halyard.option_text(options, 'if_failed'), 'return');
    mark bytea := halyard.fingerprint('payload', given);
    held halyard.keys;
    known halyard.jobs;
    known_body halyard.bodies;
    is_held boolean := false;
    replaces boolean;
    state integer;
    expires_at bigint;
BEGIN
    IF if_failed NOT IN ('return', 'retry', 'replace') THEN
        PERFORM halyard.refuse_field('if_failed', if_failed, 'must be return, retry or replace');
    END IF;
    LOOP
        replaces := false;
        IF body.idempotency_key IS NOT NULL THEN
            SELECT it.* INTO held FROM halyard.keys AS it
            WHERE it.task = job.task AND it.key = body.idempotency_key FOR UPDATE;
            is_held := FOUND;
        END IF;
        IF is_held THEN
            SELECT it.* INTO known FROM halyard.jobs AS it WHERE it.seq = held.seq FOR UPDATE;
            state := coalesce(known.state, held.state);
            expires_at := coalesce(known.finished_at + known.key_ttl_ms, held.expires_at);
            IF expires_at <= now THEN
                NULL; -- It is free again.
            ELSIF state >= 5 AND if_failed = 'replace' AND held.job_id <> job.id THEN
                replaces := true;
            ELSIF held.fingerprint <> mark THEN
                PERFORM halyard.refuse('YH001', 'idempotency_key_reused',
                    'the idempotency key was used for a job with another payload',
                    json_build_object('job', halyard.job_name(held.job_id)));
            ELSIF held.seq IS NULL THEN
                job.queue := held.queue;
                job.state := held.state;
                PERFORM halyard.count_job(job, job.state, now, replayed => 1);
                RETURN ROW(halyard.job_name(held.job_id), halyard.state_name(state), 1, true, false,
                    true);
            ELSIF state = 5 AND if_failed = 'retry' AND held.job_id <> job.id THEN
                RETURN halyard.revive(known, now);
            ELSE
                RETURN halyard.replay(known, now);
            END IF;
        END IF;
        job.seq := nextval('halyard.jobs_seq');
        body.seq := job.seq;
        INSERT INTO halyard.bodies VALUES (body.*) ON CONFLICT (id) DO NOTHING;
        IF NOT FOUND THEN
            SELECT it.* INTO known_body FROM halyard.bodies AS it WHERE it.id = job.id;
            SELECT it.* INTO known FROM halyard.jobs AS it WHERE it.seq = known_body.seq FOR UPDATE;
            CONTINUE WHEN NOT FOUND;
            IF known.task <> job.task
                OR halyard.fingerprint('payload', known_body.payload::json) <> mark
                OR (body.idempotency_key IS NOT NULL
                    AND body.idempotency_key IS DISTINCT FROM known_body.idempotency_key)
            THEN
                PERFORM halyard.refuse('YH002', 'id_taken', 'the id belongs to another job',
                    json_build_object('job', halyard.job_name(job.id)));
            END IF;
            RETURN halyard.replay(known, now);
        END IF;
        IF is_held THEN
            UPDATE halyard.keys AS it SET
                job_id = job.id, fingerprint = mark, algorithm = 1, seq = job.seq, queue = NULL,
                state = NULL, created_at = NULL, finished_at = NULL, expires_at = NULL
            WHERE it.task = job.task AND it.key = body.idempotency_key;
            UPDATE halyard.jobs AS it SET
                holds_key = false,
                replaced_by = CASE WHEN replaces THEN job.id ELSE it.replaced_by END
            WHERE it.seq = held.seq;
        ELSIF body.idempotency_key IS NOT NULL THEN
            INSERT INTO halyard.keys
            VALUES (job.task, body.idempotency_key, job.id, mark, 1, job.seq)
            ON CONFLICT DO NOTHING;
            IF NOT FOUND THEN
                -- Somebody else has just taken it: look again.
                DELETE FROM halyard.bodies AS it WHERE it.seq = body.seq;
                CONTINUE;
            END IF;
        END IF;
        INSERT INTO halyard.jobs VALUES (job.*);
        PERFORM halyard.count_job(job, NULL, now, created => 1);
        RETURN ROW(
            halyard.job_name(job.id), halyard.state_name(job.state), 1, false, false, false);
    END LOOP;
END $$;

-- A job by its name, locked.
CREATE FUNCTION halyard.locked_job(name text) RETURNS halyard.jobs LANGUAGE plpgsql AS $$
DECLARE
    job halyard.jobs;
BEGIN
    SELECT it.* INTO job FROM halyard.bodies AS body JOIN halyard.jobs AS it ON it.seq = body.seq
    WHERE body.id = halyard.job_uuid(name) FOR UPDATE OF it;
    IF NOT FOUND THEN
        PERFORM halyard.refuse('YH005', 'job_not_found', 'there is no such job');
    END IF;
    RETURN job;
END $$;

-- Says whether a token holds the running start. After an outage of all servers a lease that was live
-- at its beginning is given a fresh length before anything else is done, so it counts as live; a
-- transaction that does not see the present cannot tell, and takes no such lease.
CREATE FUNCTION halyard.is_live(job halyard.jobs, token text, now bigint) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT coalesce(
        job.start_state = 0 AND job.token = halyard.token_of(is_live.token) AND (
            now < job.expires_at
            OR (now - stamp.at > 5000 AND stamp.at < job.expires_at
                AND current_setting('transaction_isolation') = 'read committed')
        ), false)
    FROM halyard.stamp
$$;

CREATE FUNCTION halyard.refuse_lease() RETURNS void LANGUAGE sql AS
$$ SELECT halyard.refuse('YH003', 'lease_lost', 'the lease is not live any more') $$;

-- Completes a job with the live token of its start. The same again is no error.
CREATE FUNCTION halyard.finish_job(job_id text, token text, result json DEFAULT NULL)
RETURNS halyard.finished_job LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off AS $$
DECLARE
    now bigint;
    given json := coalesce(result, 'null');
    written text := halyard.value_text('result', given, 1048576);
    mark bytea := halyard.fingerprint('result', given);
    job halyard.jobs := halyard.locked_job(job_id);
    past halyard.attempts;
BEGIN
    now := halyard.now_ms();
    IF halyard.is_live(job, token, now) THEN
        UPDATE halyard.jobs AS it SET
            state = 4, start_state = 1, crashes = 0, error_start = NULL, finished_at = now,
            cancel_requested = false
        WHERE it.seq = job.seq RETURNING it.* INTO job;
        IF written <> 'null' THEN
            INSERT INTO halyard.results VALUES (job.seq, written);
        END IF;
        PERFORM halyard.count_job(job, 2, now, completed => 1);
        RETURN ROW('completed'::text, false);
    END IF;
    SELECT it.* INTO past FROM halyard.attempts AS it
    WHERE it.seq = job.seq AND it.token = halyard.token_of(finish_job.token);
    IF job.state = 4 AND job.start_state = 1 AND job.token = halyard.token_of(finish_job.token) THEN
        past.report := 0;
        past.state_after := 4;
        past.result := halyard.fingerprint('result', coalesce(
            (SELECT it.result::json FROM halyard.results AS it WHERE it.seq = job.seq), 'null'));
    END IF;
    IF past.report = 0 AND past.result = mark THEN
        RETURN ROW(halyard.state_name(past.state_after), true);
    END IF;
    PERFORM halyard.refuse_lease();
END $$;

-- Saves a checkpoint with the live token of the job's start. The first write of a name wins.
CREATE FUNCTION halyard.checkpoint_job(
    job_id text, token text, name text, value json DEFAULT NULL
) RETURNS halyard.written_checkpoint LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off AS $$
DECLARE
    now bigint;
    given json := coalesce(value, 'null');
    marker text := halyard.check_text('name', name, 128);
    written text := halyard.value_text('value', given, 262144);
    mark bytea := halyard.fingerprint('value', given);
    job halyard.jobs := halyard.locked_job(job_id);
    known halyard.checkpoints;
    reported boolean;
    live boolean;
BEGIN
    now := halyard.now_ms();
    live := halyard.is_live(job, token, now);
    reported := (job.state = 4 AND job.start_state = 1
        AND job.token = halyard.token_of(checkpoint_job.token)) IS TRUE
        OR EXISTS (SELECT FROM halyard.attempts AS it WHERE it.seq = job.seq
            AND it.token = halyard.token_of(checkpoint_job.token) AND it.report IS NOT NULL);
    SELECT it.* INTO known FROM halyard.checkpoints AS it
    WHERE it.seq = job.seq AND it.name = marker;
    IF NOT live AND NOT (reported AND known.seq IS NOT NULL) THEN
        PERFORM halyard.refuse_lease();
    ELSIF known.seq IS NOT NULL THEN
        IF halyard.fingerprint('value', known.value::json) = mark THEN
            RETURN ROW(true, job.cancel_requested);
        ELSIF reported THEN
            PERFORM halyard.refuse_lease();
        END IF;
        PERFORM halyard.refuse('YH004', 'checkpoint_conflict',
            'the checkpoint exists with another value',
            json_build_object('checkpoint', known.name, 'value', known.value::json));
    END IF;
    IF job.checkpoints >= 1000 OR job.checkpoints_bytes + octet_length(written) > 4194304 THEN
        PERFORM halyard.refuse('YH007', 'payload_too_large',
            'a job may have 1000 checkpoints, and 4194304 bytes in all their values');
    END IF;
    INSERT INTO halyard.checkpoints VALUES (
        job.seq, job.checkpoints, marker, job.life, job.attempt, job.starts, now, written);
    UPDATE halyard.jobs AS it SET
        checkpoints = it.checkpoints + 1,
        checkpoints_bytes = it.checkpoints_bytes + octet_length(written),
        crashes = 0, releases = 0, snoozes = 0
    WHERE it.seq = job.seq;
    RETURN ROW(false, job.cancel_requested);
END $$;
