-- story: {"at":1796039923552,"jobs":[{"attempt":1,"attempts":[{"attempt":1,"error":null,"finished_at":"2026-11-30T11:58:43.762Z","id":"att_01m8p54p1begt8h2g2wf8w7v1g","life":1,"queued_at":"2026-11-30T11:58:43.566Z","retry_delay_ms":null,"retry_reason":null,"start":1,"started_at":"2026-11-30T11:58:43.755Z","state":"completed","worker":"wrk_1"}],"attempts_total":1,"backoff":{"factor":2.0,"initial_ms":5000,"jitter":0.2,"max_ms":3600000},"cancel_requested":false,"checkpoints":[],"crashes":0,"created_at":"2026-11-30T11:58:43.566Z","error":null,"finished_at":"2026-11-30T11:58:43.762Z","id":"job_01m8p54nv0fbdbvfnmhgmz079a","idempotency_expires_at":"2026-12-30T11:58:43.762Z","idempotency_key":"completed","life":1,"max_attempts":20,"max_crashes":5,"payload":{"none":null,"numbers":[1,2.5,-0.0,1e+300],"text":"é😀\n"},"priority":0,"queue":"default","rejected":0,"replaced_by":null,"replays":0,"rerun_of":null,"result":{"done":[{"none":null,"numbers":[1,2.5,-0.0,1e+300],"text":"é😀\n"}]},"run_at":"2026-11-30T11:58:43.566Z","started_at":"2026-11-30T11:58:43.755Z","starts":1,"state":"completed","tags":[],"task":"completed","timeout_ms":900000,"traceparent":null},{"attempt":1,"attempts":[{"attempt":1,"error":{"kind":"non_retryable","message":"m","stack":null,"type":"E"},"finished_at":"2026-11-30T11:58:43.851Z","id":"att_01m8p54p3gfbgb4hyh2nqej548","life":1,"queued_at":"2026-11-30T11:58:43.814Z","retry_delay_ms":null,"retry_reason":null,"start":1,"started_at":"2026-11-30T11:58:43.824Z","state":"failed","worker":"wrk_1"}],"attempts_total":1,"backoff":{"factor":2.0,"initial_ms":5000,"jitter":0.2,"max_ms":3600000},"cancel_requested":false,"checkpoints":[],"crashes":0,"created_at":"2026-11-30T11:58:43.814Z","error":{"kind":"non_retryable","message":"m","stack":null,"type":"E"},"finished_at":"2026-11-30T11:58:43.851Z","id":"job_01m8p54p1pev198ehn0b17g9c8","idempotency_expires_at":"2026-12-30T11:58:43.851Z","idempotency_key":"failed","life":1,"max_attempts":20,"max_crashes":5,"payload":{"none":null,"numbers":[1,2.5,-0.0,1e+300],"text":"é😀\n"},"priority":0,"queue":"default","rejected":0,"replaced_by":null,"replays":0,"rerun_of":null,"result":null,"run_at":"2026-11-30T11:58:43.814Z","started_at":"2026-11-30T11:58:43.824Z","starts":1,"state":"failed","tags":[],"task":"failed","timeout_ms":900000,"traceparent":null},{"attempt":1,"attempts":[{"attempt":1,"error":{"kind":"error","message":"m","stack":null,"type":"E"},"finished_at":"2026-11-30T11:58:43.936Z","id":"att_01m8p54p4xe2w9e7ncece1j0nb","life":1,"queued_at":"2026-11-30T11:58:43.864Z","retry_delay_ms":3600000,"retry_reason":"backoff","start":1,"started_at":"2026-11-30T11:58:43.869Z","state":"failed","worker":"wrk_1"}],"attempts_total":1,"backoff":{"factor":1.0,"initial_ms":3600000,"jitter":0.0,"max_ms":3600000},"cancel_requested":false,"checkpoints":[{"attempt":1,"created_at":"2026-11-30T11:58:43.888Z","life":1,"name":"half","start":1,"value":{"at":50}}],"crashes":0,"created_at":"2026-11-30T11:58:43.864Z","error":{"kind":"error","message":"m","stack":null,"type":"E"},"finished_at":null,"id":"job_01m8p54p4qeqc8kczpyfm0dx1r","idempotency_expires_at":null,"idempotency_key":"retrying","life":1,"max_attempts":20,"max_crashes":5,"payload":{"none":null,"numbers":[1,2.5,-0.0,1e+300],"text":"é😀\n"},"priority":0,"queue":"default","rejected":0,"replaced_by":null,"replays":0,"rerun_of":null,"result":null,"run_at":"2026-11-30T12:58:43.936Z","started_at":"2026-11-30T11:58:43.869Z","starts":1,"state":"retrying","tags":[],"task":"retrying","timeout_ms":900000,"traceparent":null},{"attempt":0,"attempts":[{"attempt":1,"error":{"kind":"non_retryable","message":"m","stack":null,"type":"E"},"finished_at":"2026-11-30T11:58:43.980Z","id":"att_01m8p54p85fpybmv8njyfdrrbk","life":1,"queued_at":"2026-11-30T11:58:43.955Z","retry_delay_ms":null,"retry_reason":null,"start":1,"started_at":"2026-11-30T11:58:43.973Z","state":"failed","worker":"wrk_1"}],"attempts_total":1,"backoff":{"factor":2.0,"initial_ms":5000,"jitter":0.2,"max_ms":3600000},"cancel_requested":false,"checkpoints":[{"attempt":1,"created_at":"2026-11-30T11:58:43.977Z","life":1,"name":"kept","start":1,"value":"over lives"}],"crashes":0,"created_at":"2026-11-30T11:58:43.955Z","error":null,"finished_at":null,"id":"job_01m8p54p7ket8srxf8r5dkahwe","idempotency_expires_at":null,"idempotency_key":"again","life":2,"max_attempts":20,"max_crashes":5,"payload":{"none":null,"numbers":[1,2.5,-0.0,1e+300],"text":"é😀\n"},"priority":0,"queue":"default","rejected":0,"replaced_by":null,"replays":0,"rerun_of":null,"result":null,"run_at":"2026-11-30T11:58:43.989Z","started_at":"2026-11-30T11:58:43.973Z","starts":1,"state":"queued","tags":[],"task":"again","timeout_ms":900000,"traceparent":null},{"attempt":0,"attempts":[],"attempts_total":0,"backoff":{"factor":2.0,"initial_ms":5000,"jitter":0.2,"max_ms":3600000},"cancel_requested":false,"checkpoints":[],"crashes":0,"created_at":"2026-11-30T11:58:44.002Z","error":null,"finished_at":"2026-11-30T11:58:44.006Z","id":"job_01m8p54p91erctrv7f2qtr1mdb","idempotency_expires_at":"2026-12-30T11:58:44.006Z","idempotency_key":"cancelled","life":1,"max_attempts":20,"max_crashes":5,"payload":{"none":null,"numbers":[1,2.5,-0.0,1e+300],"text":"é😀\n"},"priority":0,"queue":"default","rejected":0,"replaced_by":null,"replays":0,"rerun_of":null,"result":null,"run_at":"2026-11-30T11:58:44.002Z","started_at":null,"starts":0,"state":"cancelled","tags":[],"task":"cancelled","timeout_ms":900000,"traceparent":null},{"attempt":0,"attempts":[],"attempts_total":0,"backoff":{"factor":2.0,"initial_ms":5000,"jitter":0.2,"max_ms":3600000},"cancel_requested":false,"checkpoints":[],"crashes":0,"created_at":"2026-11-30T11:58:44.471Z","error":null,"finished_at":null,"id":"job_01m8p54pqqe1jbz49vanq4yc1e","idempotency_expires_at":null,"idempotency_key":"scheduled","life":1,"max_attempts":20,"max_crashes":5,"payload":{"none":null,"numbers":[1,2.5,-0.0,1e+300],"text":"é😀\n"},"priority":0,"queue":"default","rejected":0,"replaced_by":null,"replays":0,"rerun_of":null,"result":null,"run_at":"2026-11-30T12:58:44.471Z","started_at":null,"starts":0,"state":"scheduled","tags":[],"task":"scheduled","timeout_ms":900000,"traceparent":null},{"attempt":0,"attempts":[],"attempts_total":0,"backoff":{"factor":2.0,"initial_ms":5000,"jitter":0.2,"max_ms":3600000},"cancel_requested":false,"checkpoints":[],"crashes":0,"created_at":"2026-11-30T11:58:44.485Z","error":null,"finished_at":null,"id":"job_01m8p54pr5exsraqpmzs8a54my","idempotency_expires_at":null,"idempotency_key":null,"life":1,"max_attempts":20,"max_crashes":5,"payload":null,"priority":0,"queue":"held","rejected":0,"replaced_by":null,"replays":0,"rerun_of":null,"result":null,"run_at":"2026-11-30T11:58:44.485Z","started_at":null,"starts":0,"state":"queued","tags":["a:1","b"],"task":"held","timeout_ms":900000,"traceparent":null},{"attempt":0,"attempts":[],"attempts_total":0,"backoff":{"factor":2.0,"initial_ms":5000,"jitter":0.2,"max_ms":3600000},"cancel_requested":false,"checkpoints":[],"crashes":0,"created_at":"2026-11-30T11:58:44.497Z","error":null,"finished_at":null,"id":"job_01m8p54praeqm97vc46n14dgr7","idempotency_expires_at":null,"idempotency_key":null,"life":1,"max_attempts":20,"max_crashes":5,"payload":null,"priority":7,"queue":"default","rejected":0,"replaced_by":null,"replays":0,"rerun_of":null,"result":null,"run_at":"2026-11-30T11:58:44.497Z","started_at":null,"starts":0,"state":"queued","tags":[],"task":"remembered","timeout_ms":900000,"traceparent":null},{"attempt":1,"attempts":[{"attempt":1,"error":null,"finished_at":null,"id":"att_01m8p54ptef4er33m99606re3w","life":1,"queued_at":"2026-11-30T11:58:44.537Z","retry_delay_ms":null,"retry_reason":null,"start":1,"started_at":"2026-11-30T11:58:44.558Z","state":"running","worker":"wrk_1"}],"attempts_total":1,"backoff":{"factor":2.0,"initial_ms":5000,"jitter":0.2,"max_ms":3600000},"cancel_requested":false,"checkpoints":[{"attempt":1,"created_at":"2026-11-30T11:58:44.620Z","life":1,"name":"begun","start":1,"value":{"pages":3}}],"crashes":0,"created_at":"2026-11-30T11:58:44.537Z","error":null,"finished_at":null,"id":"job_01m8p54psffswb53amg624e95j","idempotency_expires_at":null,"idempotency_key":"running","life":1,"max_attempts":20,"max_crashes":5,"payload":{"none":null,"numbers":[1,2.5,-0.0,1e+300],"text":"é😀\n"},"priority":0,"queue":"default","rejected":0,"replaced_by":null,"replays":0,"rerun_of":null,"result":null,"run_at":"2026-11-30T11:58:44.537Z","started_at":"2026-11-30T11:58:44.558Z","starts":1,"state":"running","tags":[],"task":"running","timeout_ms":900000,"traceparent":null}],"lease":{"id":"job_01m8p54psffswb53amg624e95j","token":"ae4b5cf6e781ba894c56d71eff110069"},"remembered":{"body":{"priority":7,"task":"remembered"},"id":"job_01m8p54praeqm97vc46n14dgr7"},"repeats":[{"body":{"idempotency_key":"completed","payload":{"none":null,"numbers":[1,2.5,-0.0,1e+300],"text":"é😀\n"},"task":"completed"},"id":"job_01m8p54nv0fbdbvfnmhgmz079a","status":200},{"body":{"idempotency_key":"failed","payload":{"none":null,"numbers":[1,2.5,-0.0,1e+300],"text":"é😀\n"},"task":"failed"},"id":"job_01m8p54p1pev198ehn0b17g9c8","status":200},{"body":{"idempotency_key":"retrying","payload":{"none":null,"numbers":[1,2.5,-0.0,1e+300],"text":"é😀\n"},"task":"retrying"},"id":"job_01m8p54p4qeqc8kczpyfm0dx1r","status":200},{"body":{"idempotency_key":"again","payload":{"none":null,"numbers":[1,2.5,-0.0,1e+300],"text":"é😀\n"},"task":"again"},"id":"job_01m8p54p7ket8srxf8r5dkahwe","status":200},{"body":{"idempotency_key":"cancelled","payload":{"none":null,"numbers":[1,2.5,-0.0,1e+300],"text":"é😀\n"},"task":"cancelled"},"id":"job_01m8p54p91erctrv7f2qtr1mdb","status":200},{"body":{"idempotency_key":"gone","payload":{"none":null,"numbers":[1,2.5,-0.0,1e+300],"text":"é😀\n"},"task":"gone"},"id":"job_01m8p54p9kfmtrxrnd8keczzrp","status":200},{"body":{"idempotency_key":"scheduled","payload":{"none":null,"numbers":[1,2.5,-0.0,1e+300],"text":"é😀\n"},"task":"scheduled"},"id":"job_01m8p54pqqe1jbz49vanq4yc1e","status":200},{"body":{"idempotency_key":"running","payload":{"none":null,"numbers":[1,2.5,-0.0,1e+300],"text":"é😀\n"},"task":"running"},"id":"job_01m8p54psffswb53amg624e95j","status":200}]}
--
-- PostgreSQL database dump
--


-- Dumped from database version 15.18 (Debian 15.18-0+deb12u1)
-- Dumped by pg_dump version 15.18 (Debian 15.18-0+deb12u1)

SET check_function_bodies = false;

--
-- Name: halyard; Type: SCHEMA; Schema: -; Owner: -
--

CREATE SCHEMA halyard;


--
-- Name: created_job; Type: TYPE; Schema: halyard; Owner: -
--

CREATE TYPE halyard.created_job AS (
	id text,
	state text,
	life integer,
	replayed boolean,
	revived boolean,
	purged boolean
);


--
-- Name: finished_job; Type: TYPE; Schema: halyard; Owner: -
--

CREATE TYPE halyard.finished_job AS (
	state text,
	repeated boolean
);


--
-- Name: written_checkpoint; Type: TYPE; Schema: halyard; Owner: -
--

CREATE TYPE halyard.written_checkpoint AS (
	repeated boolean,
	cancel_requested boolean
);




--
-- Name: bodies; Type: TABLE; Schema: halyard; Owner: -
--

CREATE TABLE halyard.bodies (
    seq bigint NOT NULL,
    id uuid NOT NULL,
    tags text,
    traceparent text,
    idempotency_key text COLLATE pg_catalog."C",
    rerun_of uuid,
    payload text NOT NULL
);


--
-- Name: admit_body(uuid, json, json); Type: FUNCTION; Schema: halyard; Owner: -
--

CREATE FUNCTION halyard.admit_body(id uuid, payload json, options json) RETURNS halyard.bodies
    LANGUAGE plpgsql
    AS $_$
DECLARE
    body "halyard".bodies;
    tags json := CASE WHEN json_typeof(options -> 'tags') <> 'null' THEN options -> 'tags' END;
    key text := "halyard".option_text(options, 'idempotency_key');
    trace text := "halyard".option_text(options, 'traceparent');
BEGIN
    body.id := id;
    body.payload := "halyard".value_text('payload', payload, 1048576);
    IF key IS NOT NULL THEN
        body.idempotency_key := "halyard".check_text('idempotency_key', key, 255);
    END IF;
    IF json_typeof(tags) <> 'array' THEN
        PERFORM "halyard".refuse_field('tags', tags::text, 'must be a list');
    ELSIF json_array_length(tags) > 10 THEN
        PERFORM "halyard".refuse('YH006', 'invalid_field', format(
            'tags has %s entries; at most 10 are kept', json_array_length(tags)));
    END IF;
    SELECT string_agg("halyard".check_name('tags', it.tag #>> '{}'), E'\n' ORDER BY it.place)
    INTO body.tags FROM json_array_elements(tags) WITH ORDINALITY AS it (tag, place);
    IF trace COLLATE "C" !~ ('^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}'
        '-[0-9a-f]{2}(-[\x01-\x7f]*)?$') OR length(trace) > 128 OR trace ~ '^00.{54}'
    THEN
        PERFORM "halyard".refuse_field('traceparent', trace, 'must be a W3C traceparent, as in '
            '00-<32 hex digits>-<16 hex digits>-<2 hex digits>, with neither id all zeros');
    END IF;
    body.traceparent := trace;
    RETURN body;
END $_$;


--
-- Name: jobs; Type: TABLE; Schema: halyard; Owner: -
--

CREATE TABLE halyard.jobs (
    seq bigint NOT NULL,
    id uuid NOT NULL,
    task text NOT NULL COLLATE pg_catalog."C",
    queue text NOT NULL COLLATE pg_catalog."C",
    state smallint NOT NULL,
    priority integer NOT NULL,
    created_at bigint NOT NULL,
    run_at bigint NOT NULL,
    life integer NOT NULL,
    attempt integer NOT NULL,
    starts bigint NOT NULL,
    max_attempts integer NOT NULL,
    crashes integer NOT NULL,
    max_crashes integer NOT NULL,
    releases bigint NOT NULL,
    snoozes bigint NOT NULL,
    timeout_ms bigint NOT NULL,
    backoff_initial_ms bigint NOT NULL,
    backoff_factor double precision NOT NULL,
    backoff_max_ms bigint NOT NULL,
    backoff_jitter double precision NOT NULL,
    queued_at bigint NOT NULL,
    error_start bigint,
    cancel_requested boolean NOT NULL,
    finished_at bigint,
    holds_key boolean NOT NULL,
    key_ttl_ms bigint NOT NULL,
    checkpoints integer NOT NULL,
    checkpoints_bytes bigint NOT NULL,
    replays bigint NOT NULL,
    rejected bigint NOT NULL,
    replaced_by uuid,
    start_state smallint,
    attempt_id uuid,
    token uuid,
    claim_mark uuid,
    worker text COLLATE pg_catalog."C",
    start_queued_at bigint,
    started_at bigint,
    lease_ms bigint,
    expires_at bigint,
    deadline bigint,
    CONSTRAINT jobs_check CHECK (((state <> 2) OR (((start_state = 0) AND (token IS NOT NULL) AND (expires_at <= deadline)) IS TRUE))),
    CONSTRAINT jobs_check1 CHECK (((finished_at IS NOT NULL) = (state >= 4))),
    CONSTRAINT jobs_state_check CHECK (((state >= 0) AND (state <= 6)))
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_cost_delay='0', autovacuum_analyze_scale_factor='0.05');


--
-- Name: admit_job(text, json, bigint); Type: FUNCTION; Schema: halyard; Owner: -
--

CREATE FUNCTION halyard.admit_job(task text, options json, now bigint) RETURNS halyard.jobs
    LANGUAGE plpgsql
    AS $$
DECLARE
    job "halyard".jobs;
    day constant bigint := 86400000;
    backoff json := CASE WHEN json_typeof(options -> 'backoff') <> 'null' THEN options -> 'backoff' END;
    stray text;
    told text := "halyard".option_text(options, 'id');
    run_at bigint := "halyard".option_time(options, 'run_at');
    delay bigint := "halyard".option_number(options, 'delay_ms', 0, 400 * day, NULL);
BEGIN
    IF json_typeof(options) <> 'object' OR json_typeof(backoff) <> 'object' THEN
        PERFORM "halyard".refuse('YH006', 'invalid_field', 'options and backoff must be objects');
    END IF;
    -- Also finds two members of one name.
    PERFORM "halyard".canonical('options', options);
    SELECT name INTO stray FROM json_object_keys(options) AS name WHERE name NOT IN (
        'queue', 'idempotency_key', 'if_failed', 'idempotency_ttl_ms', 'id', 'run_at', 'delay_ms',
        'priority', 'max_attempts', 'max_crashes', 'timeout_ms', 'backoff', 'tags', 'traceparent'
    );
    IF NOT FOUND AND backoff IS NOT NULL THEN
        SELECT 'backoff/' || name INTO stray FROM json_object_keys(backoff) AS name
        WHERE name NOT IN ('initial_ms', 'factor', 'max_ms', 'jitter');
    END IF;
    IF stray IS NOT NULL THEN
        PERFORM "halyard".refuse('YH006', 'unknown_field', format('there is no option %s', stray));
    END IF;
    job.task := "halyard".check_name('task', task);
    job.queue := "halyard".check_name(
        'queue', coalesce("halyard".option_text(options, 'queue'), 'default'));
    job.id := CASE WHEN told IS NULL THEN "halyard".job_uuid_made(now) ELSE "halyard".job_uuid(told) END;
    IF job.id IS NULL THEN
        PERFORM "halyard".refuse_field('id', told,
            'must be job_ and a UUIDv7 in 26 characters of lower-case Crockford base32');
    END IF;
    IF run_at IS NOT NULL AND delay IS NOT NULL THEN
        PERFORM "halyard".refuse('YH006', 'invalid_field', 'delay_ms must be left out beside run_at');
    ELSIF run_at > now + 400 * day THEN
        PERFORM "halyard".refuse('YH006', 'invalid_field', 'run_at is more than 400 days ahead');
    END IF;
    job.created_at := now;
    job.run_at := greatest(coalesce(run_at, now + coalesce(delay, 0)), now);
    job.queued_at := job.run_at;
    job.state := CASE WHEN job.run_at > now THEN 0 ELSE 1 END;
    job.priority := "halyard".option_number(options, 'priority', -100, 100, 0);
    job.max_attempts := "halyard".option_number(options, 'max_attempts', 1, 100, 20);
    job.max_crashes := "halyard".option_number(options, 'max_crashes', 1, 100, 5);
    job.timeout_ms := "halyard".option_number(options, 'timeout_ms', 100, day, 900000);
    job.backoff_initial_ms
        := "halyard".option_number(backoff, 'initial_ms', 0, day, 5000, 'backoff/');
    job.backoff_factor := "halyard".option_share(backoff, 'factor', 1, 10, 2, 'backoff/');
    job.backoff_max_ms := "halyard".option_number(backoff, 'max_ms', 0, 7 * day, 3600000, 'backoff/');
    job.backoff_jitter := "halyard".option_share(backoff, 'jitter', 0, 1, 0.2, 'backoff/');
    job.key_ttl_ms
        := "halyard".option_number(options, 'idempotency_ttl_ms', 60000, 400 * day, 30 * day);
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


--
-- Name: canonical(text, json, integer); Type: FUNCTION; Schema: halyard; Owner: -
--

CREATE FUNCTION halyard.canonical(field text, value json, depth integer DEFAULT 0) RETURNS text
    LANGUAGE plpgsql IMMUTABLE
    AS $$
DECLARE
    kind text := json_typeof(value);
    made text;
    names bigint;
    names_apart bigint;
BEGIN
    IF kind = 'string' THEN RETURN to_json(value #>> '{}')::text; END IF;
    IF kind = 'number' THEN RETURN "halyard".canonical_number(value #>> '{}'); END IF;
    IF kind IN ('null', 'boolean') THEN RETURN btrim(value::text, E' \t\n\r'); END IF;
    IF depth >= 64 THEN
        PERFORM "halyard".refuse('YH006', 'invalid_field', field || ' is nested deeper than 64 levels');
    END IF;
    IF kind = 'array' THEN
        SELECT string_agg("halyard".canonical(field, it.element, depth + 1), ',' ORDER BY it.place)
        INTO made FROM json_array_elements(value) WITH ORDINALITY AS it (element, place);
        RETURN '[' || coalesce(made, '') || ']';
    END IF;
    SELECT string_agg(
            to_json(it.name)::text || ':' || "halyard".canonical(field, it.member, depth + 1),
            ',' ORDER BY it.name COLLATE "C"
        ), count(*), count(DISTINCT it.name COLLATE "C")
    INTO made, names, names_apart FROM json_each(value) AS it (name, member);
    IF names <> names_apart THEN
        PERFORM "halyard".refuse('YH006', 'invalid_field', field || ' has two members of one name');
    END IF;
    RETURN '{' || coalesce(made, '') || '}';
END $$;


--
-- Name: canonical_number(text); Type: FUNCTION; Schema: halyard; Owner: -
--

CREATE FUNCTION halyard.canonical_number(literal text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE
    AS $_$
DECLARE
    part text[] := regexp_match(literal, '^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([-+]?[0-9]+))?$');
    fraction text := coalesce(part[3], '');
    digits text := ltrim(part[2] || fraction, '0');
    short text := rtrim(digits, '0');
BEGIN
    IF short = '' THEN RETURN '0e0'; END IF;
    RETURN part[1] || short || 'e'
        || (coalesce(part[4], '0')::numeric + length(digits) - length(short) - length(fraction))::text;
END $_$;


--
-- Name: check_name(text, text); Type: FUNCTION; Schema: halyard; Owner: -
--

CREATE FUNCTION halyard.check_name(field text, name text) RETURNS text
    LANGUAGE plpgsql
    AS $_$
BEGIN
    IF name IS NULL OR name COLLATE "C" !~ '^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$' THEN
        PERFORM "halyard".refuse_field(field, coalesce(name, ''), 'must be 1 to 128 characters of '
            'A-Z a-z 0-9 . _ : / - and start with a letter or a digit');
    END IF;
    RETURN name;
END $_$;


--
-- Name: check_text(text, text, integer); Type: FUNCTION; Schema: halyard; Owner: -
--

CREATE FUNCTION halyard.check_text(field text, told text, length_max integer) RETURNS text
    LANGUAGE plpgsql
    AS $_$
DECLARE
    space text := '[\u0020\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]';
BEGIN
    IF told IS NULL OR length(told) NOT BETWEEN 1 AND length_max THEN
        PERFORM "halyard".refuse_field(field, coalesce(told, ''),
            format('must be 1 to %s characters long', length_max));
    ELSIF told ~ ('^' || space || '|' || space || '$') THEN
        PERFORM "halyard".refuse_field(field, told, 'must not begin or end with white space');
    ELSIF told ~ '[\u0001-\u001f\u007f-\u009f]' THEN
        PERFORM "halyard".refuse_field(field, told, 'must not hold control characters');
    END IF;
    RETURN told;
END $_$;


--
-- Name: checkpoint_job(text, text, text, json); Type: FUNCTION; Schema: halyard; Owner: -
--

CREATE FUNCTION halyard.checkpoint_job(job_id text, token text, name text, value json DEFAULT NULL::json) RETURNS halyard.written_checkpoint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET jit TO 'off'
    AS $$
DECLARE
    now bigint;
    given json := coalesce(value, 'null');
    marker text := "halyard".check_text('name', name, 128);
    written text := "halyard".value_text('value', given, 262144);
    mark bytea := "halyard".fingerprint('value', given);
    job "halyard".jobs := "halyard".locked_job(job_id);
    known "halyard".checkpoints;
    reported boolean;
    live boolean;
BEGIN
    now := "halyard".now_ms();
    live := "halyard".is_live(job, token, now);
    reported := (job.state = 4 AND job.start_state = 1
        AND job.token = "halyard".token_of(checkpoint_job.token)) IS TRUE
        OR EXISTS (SELECT FROM "halyard".attempts AS it WHERE it.seq = job.seq
            AND it.token = "halyard".token_of(checkpoint_job.token) AND it.report IS NOT NULL);
    SELECT it.* INTO known FROM "halyard".checkpoints AS it
    WHERE it.seq = job.seq AND it.name = marker;
    IF NOT live AND NOT (reported AND known.seq IS NOT NULL) THEN
        PERFORM "halyard".refuse_lease();
    ELSIF known.seq IS NOT NULL THEN
        IF "halyard".fingerprint('value', known.value::json) = mark THEN
            RETURN ROW(true, job.cancel_requested);
        ELSIF reported THEN
            PERFORM "halyard".refuse_lease();
        END IF;
        PERFORM "halyard".refuse('YH004', 'checkpoint_conflict',
            'the checkpoint exists with another value',
            json_build_object('checkpoint', known.name, 'value', known.value::json));
    END IF;
    IF job.checkpoints >= 1000 OR job.checkpoints_bytes + octet_length(written) > 4194304 THEN
        PERFORM "halyard".refuse('YH007', 'payload_too_large',
            'a job may have 1000 checkpoints, and 4194304 bytes in all their values');
    END IF;
    INSERT INTO "halyard".checkpoints VALUES (
        job.seq, job.checkpoints, marker, job.life, job.attempt, job.starts, now, written);
    UPDATE "halyard".jobs AS it SET
        checkpoints = it.checkpoints + 1,
        checkpoints_bytes = it.checkpoints_bytes + octet_length(written),
        crashes = 0, releases = 0, snoozes = 0
    WHERE it.seq = job.seq;
    RETURN ROW(false, job.cancel_requested);
END $$;


--
-- Name: count_job(halyard.jobs, integer, bigint, integer, integer, integer, integer); Type: FUNCTION; Schema: halyard; Owner: -
--

CREATE FUNCTION halyard.count_job(job halyard.jobs, state_before integer, now bigint, created integer DEFAULT 0, replayed integer DEFAULT 0, completed integer DEFAULT 0, retried integer DEFAULT 0) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    slot smallint := "halyard".slot();
BEGIN
    IF state_before IS DISTINCT FROM job.state THEN
        INSERT INTO "halyard".counters AS counters
        SELECT slot, job.queue, job.task, moved.state, moved.jobs
        FROM (VALUES (state_before, -1), (job.state::integer, 1)) AS moved (state, jobs)
        WHERE moved.state IS NOT NULL
        ON CONFLICT ON CONSTRAINT counters_pkey
        DO UPDATE SET jobs = counters.jobs + excluded.jobs;
    END IF;
    INSERT INTO "halyard".totals AS totals
    VALUES (slot, created, replayed, 0, completed, 0, 0, retried, 0, 0, 0)
    ON CONFLICT ON CONSTRAINT totals_pkey DO UPDATE SET
        created = totals.created + excluded.created,
        replayed = totals.replayed + excluded.replayed,
        completed = totals.completed + excluded.completed,
        retried = totals.retried + excluded.retried;
    IF created + completed > 0 THEN
        INSERT INTO "halyard".minutes AS minutes
        VALUES (slot, now - now % 60000, created, completed, 0)
        ON CONFLICT ON CONSTRAINT minutes_pkey DO UPDATE SET
            created = minutes.created + excluded.created,
            completed = minutes.completed + excluded.completed;
    END IF;
END $$;


--
-- Name: create_job(text, json, json); Type: FUNCTION; Schema: halyard; Owner: -
--

CREATE FUNCTION halyard.create_job(task text, payload json DEFAULT NULL::json, options json DEFAULT NULL::json) RETURNS halyard.created_job
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET jit TO 'off'
    AS $$
DECLARE
    now bigint := "halyard".now_ms();
    given json := coalesce(payload, 'null');
    job "halyard".jobs := "halyard".admit_job(task, coalesce(options, '{}'), now);
    body "halyard".bodies := "halyard".admit_body(job.id, given, coalesce(options, '{}'));
    if_failed text := coalesce("halyard".option_text(options, 'if_failed'), 'return');
    mark bytea := "halyard".fingerprint('payload', given);
    held "halyard".keys;
    known "halyard".jobs;
    known_body "halyard".bodies;
    is_held boolean := false;
    replaces boolean;
    state integer;
    expires_at bigint;
BEGIN
    IF if_failed NOT IN ('return', 'retry', 'replace') THEN
        PERFORM "halyard".refuse_field('if_failed', if_failed, 'must be return, retry or replace');
    END IF;
    LOOP
        replaces := false;
        IF body.idempotency_key IS NOT NULL THEN
            SELECT it.* INTO held FROM "halyard".keys AS it
            WHERE it.task = job.task AND it.key = body.idempotency_key FOR UPDATE;
            is_held := FOUND;
        END IF;
        IF is_held THEN
            SELECT it.* INTO known FROM "halyard".jobs AS it WHERE it.seq = held.seq FOR UPDATE;
            state := coalesce(known.state, held.state);
            expires_at := coalesce(known.finished_at + known.key_ttl_ms, held.expires_at);
            IF expires_at <= now THEN
                NULL; -- It is free again.
            ELSIF state >= 5 AND if_failed = 'replace' AND held.job_id <> job.id THEN
                replaces := true;
            ELSIF held.fingerprint <> mark THEN
                PERFORM "halyard".refuse('YH001', 'idempotency_key_reused',
                    'the idempotency key was used for a job with another payload',
                    json_build_object('job', "halyard".job_name(held.job_id)));
            ELSIF held.seq IS NULL THEN
                job.queue := held.queue;
                job.state := held.state;
                PERFORM "halyard".count_job(job, job.state, now, replayed => 1);
                RETURN ROW("halyard".job_name(held.job_id), "halyard".state_name(state), 1, true, false,
                    true);
            ELSIF state = 5 AND if_failed = 'retry' AND held.job_id <> job.id THEN
                RETURN "halyard".revive(known, now);
            ELSE
                RETURN "halyard".replay(known, now);
            END IF;
        END IF;
        job.seq := nextval('"halyard".jobs_seq');
        body.seq := job.seq;
        INSERT INTO "halyard".bodies VALUES (body.*) ON CONFLICT (id) DO NOTHING;
        IF NOT FOUND THEN
            SELECT it.* INTO known_body FROM "halyard".bodies AS it WHERE it.id = job.id;
            SELECT it.* INTO known FROM "halyard".jobs AS it WHERE it.seq = known_body.seq FOR UPDATE;
            CONTINUE WHEN NOT FOUND;
            IF known.task <> job.task
                OR "halyard".fingerprint('payload', known_body.payload::json) <> mark
                OR (body.idempotency_key IS NOT NULL
                    AND body.idempotency_key IS DISTINCT FROM known_body.idempotency_key)
            THEN
                PERFORM "halyard".refuse('YH002', 'id_taken', 'the id belongs to another job',
                    json_build_object('job', "halyard".job_name(job.id)));
            END IF;
            RETURN "halyard".replay(known, now);
        END IF;
        IF is_held THEN
            UPDATE "halyard".keys AS it SET
                job_id = job.id, fingerprint = mark, algorithm = 1, seq = job.seq, queue = NULL,
                state = NULL, created_at = NULL, finished_at = NULL, expires_at = NULL
            WHERE it.task = job.task AND it.key = body.idempotency_key;
            UPDATE "halyard".jobs AS it SET
                holds_key = false,
                replaced_by = CASE WHEN replaces THEN job.id ELSE it.replaced_by END
            WHERE it.seq = held.seq;
        ELSIF body.idempotency_key IS NOT NULL THEN
            INSERT INTO "halyard".keys
            VALUES (job.task, body.idempotency_key, job.id, mark, 1, job.seq)
            ON CONFLICT DO NOTHING;
            IF NOT FOUND THEN
                -- Somebody else has just taken it: look again.
                DELETE FROM "halyard".bodies AS it WHERE it.seq = body.seq;
                CONTINUE;
            END IF;
        END IF;
        INSERT INTO "halyard".jobs VALUES (job.*);
        PERFORM "halyard".count_job(job, NULL, now, created => 1);
        RETURN ROW(
            "halyard".job_name(job.id), "halyard".state_name(job.state), 1, false, false, false);
    END LOOP;
END $$;


--
-- Name: fingerprint(text, json); Type: FUNCTION; Schema: halyard; Owner: -
--

CREATE FUNCTION halyard.fingerprint(field text, value json) RETURNS bytea
    LANGUAGE sql IMMUTABLE
    AS $$ SELECT sha256(convert_to("halyard".canonical(field, value), 'UTF8')) $$;


--
-- Name: finish_job(text, text, json); Type: FUNCTION; Schema: halyard; Owner: -
--

CREATE FUNCTION halyard.finish_job(job_id text, token text, result json DEFAULT NULL::json) RETURNS halyard.finished_job
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET jit TO 'off'
    AS $$
DECLARE
    now bigint;
    given json := coalesce(result, 'null');
    written text := "halyard".value_text('result', given, 1048576);
    mark bytea := "halyard".fingerprint('result', given);
    job "halyard".jobs := "halyard".locked_job(job_id);
    past "halyard".attempts;
BEGIN
    now := "halyard".now_ms();
    IF "halyard".is_live(job, token, now) THEN
        UPDATE "halyard".jobs AS it SET
            state = 4, start_state = 1, crashes = 0, error_start = NULL, finished_at = now,
            cancel_requested = false
        WHERE it.seq = job.seq RETURNING it.* INTO job;
        IF written <> 'null' THEN
            INSERT INTO "halyard".results VALUES (job.seq, written);
        END IF;
        PERFORM "halyard".count_job(job, 2, now, completed => 1);
        RETURN ROW('completed'::text, false);
    END IF;
    SELECT it.* INTO past FROM "halyard".attempts AS it
    WHERE it.seq = job.seq AND it.token = "halyard".token_of(finish_job.token);
    IF job.state = 4 AND job.start_state = 1 AND job.token = "halyard".token_of(finish_job.token) THEN
        past.report := 0;
        past.state_after := 4;
        past.result := "halyard".fingerprint('result', coalesce(
            (SELECT it.result::json FROM "halyard".results AS it WHERE it.seq = job.seq), 'null'));
    END IF;
    IF past.report = 0 AND past.result = mark THEN
        RETURN ROW("halyard".state_name(past.state_after), true);
    END IF;
    PERFORM "halyard".refuse_lease();
END $$;


--
-- Name: is_live(halyard.jobs, text, bigint); Type: FUNCTION; Schema: halyard; Owner: -
--

CREATE FUNCTION halyard.is_live(job halyard.jobs, token text, now bigint) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
    SELECT coalesce(
        job.start_state = 0 AND job.token = "halyard".token_of(is_live.token) AND (
            now < job.expires_at
            OR (now - stamp.at > 5000 AND stamp.at < job.expires_at
                AND current_setting('transaction_isolation') = 'read committed')
        ), false)
    FROM "halyard".stamp
$$;


--
-- Name: job_name(uuid); Type: FUNCTION; Schema: halyard; Owner: -
--

CREATE FUNCTION halyard.job_name(id uuid) RETURNS text
    LANGUAGE sql IMMUTABLE
    AS $$
    SELECT 'job_' || string_agg(
        substr('0123456789abcdefghjkmnpqrstvwxyz', substr(bits, n * 5 + 1, 5)::bit(5)::integer + 1, 1),
        '' ORDER BY n
    )
    FROM generate_series(0, 25) AS n,
        (SELECT '00' || ('x' || replace(id::text, '-', ''))::bit(128)::text AS bits) AS of
$$;


--
-- Name: job_uuid(text); Type: FUNCTION; Schema: halyard; Owner: -
--

CREATE FUNCTION halyard.job_uuid(name text) RETURNS uuid
    LANGUAGE plpgsql IMMUTABLE
    AS $_$
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
END $_$;


--
-- Name: job_uuid_made(bigint); Type: FUNCTION; Schema: halyard; Owner: -
--

CREATE FUNCTION halyard.job_uuid_made(now bigint) RETURNS uuid
    LANGUAGE sql
    AS $$
    SELECT (lpad(to_hex(now), 12, '0') || '7' || substr(digits, 14, 19))::uuid
    FROM (SELECT replace(gen_random_uuid()::text, '-', '') AS digits) AS random
$$;


--
-- Name: locked_job(text); Type: FUNCTION; Schema: halyard; Owner: -
--

CREATE FUNCTION halyard.locked_job(name text) RETURNS halyard.jobs
    LANGUAGE plpgsql
    AS $$
DECLARE
    job "halyard".jobs;
BEGIN
    SELECT it.* INTO job FROM "halyard".bodies AS body JOIN "halyard".jobs AS it ON it.seq = body.seq
    WHERE body.id = "halyard".job_uuid(name) FOR UPDATE OF it;
    IF NOT FOUND THEN
        PERFORM "halyard".refuse('YH005', 'job_not_found', 'there is no such job');
    END IF;
    RETURN job;
END $$;


--
-- Name: now_ms(); Type: FUNCTION; Schema: halyard; Owner: -
--

CREATE FUNCTION halyard.now_ms() RETURNS bigint
    LANGUAGE sql
    AS $$ SELECT pg_catalog.floor(extract(epoch FROM pg_catalog.clock_timestamp()) * 1000)::bigint $$;


--
-- Name: option_number(json, text, bigint, bigint, bigint, text); Type: FUNCTION; Schema: halyard; Owner: -
--

CREATE FUNCTION halyard.option_number(options json, name text, low bigint, high bigint, otherwise bigint, field text DEFAULT ''::text) RETURNS bigint
    LANGUAGE plpgsql
    AS $_$
DECLARE
    told text := options ->> name;
BEGIN
    IF told IS NULL THEN RETURN otherwise; END IF;
    IF json_typeof(options -> name) <> 'number' OR told !~ '^-?[0-9]{1,18}$'
        OR told::bigint NOT BETWEEN low AND high
    THEN
        PERFORM "halyard".refuse_field(field || name, (options -> name)::text,
            format('must be a whole number from %s to %s', low, high));
    END IF;
    RETURN told::bigint;
END $_$;


--
-- Name: option_share(json, text, double precision, double precision, double precision, text); Type: FUNCTION; Schema: halyard; Owner: -
--

CREATE FUNCTION halyard.option_share(options json, name text, low double precision, high double precision, otherwise double precision, field text) RETURNS double precision
    LANGUAGE plpgsql
    AS $$
DECLARE
    told text := options ->> name;
BEGIN
    IF told IS NULL THEN RETURN otherwise; END IF;
    IF json_typeof(options -> name) <> 'number' OR told::numeric NOT BETWEEN low AND high THEN
        PERFORM "halyard".refuse_field(field || name, (options -> name)::text,
            format('must be a number from %s to %s', low, high));
    END IF;
    RETURN told::double precision;
END $$;


--
-- Name: option_text(json, text); Type: FUNCTION; Schema: halyard; Owner: -
--

CREATE FUNCTION halyard.option_text(options json, name text) RETURNS text
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF coalesce(json_typeof(options -> name), 'null') NOT IN ('null', 'string') THEN
        PERFORM "halyard".refuse_field(name, (options -> name)::text, 'must be a string');
    END IF;
    RETURN options ->> name;
END $$;


--
-- Name: option_time(json, text); Type: FUNCTION; Schema: halyard; Owner: -
--

CREATE FUNCTION halyard.option_time(options json, name text) RETURNS bigint
    LANGUAGE plpgsql
    AS $_$
DECLARE
    told text := "halyard".option_text(options, name);
    part text[] := regexp_match(told, '^(\d{4}-\d\d-\d\d)[Tt]((?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d)'
        '(?:\.(\d+))?([Zz]|[-+](?:[01]\d|2[0-3]):[0-5]\d)$');
    offset_s bigint := 0;
BEGIN
    IF told IS NULL THEN RETURN NULL; END IF;
    IF part IS NULL THEN
        PERFORM "halyard".refuse_field(name, told,
            'must be a time in RFC 3339 such as 2026-11-29T08:15:30Z');
    END IF;
    IF upper(part[4]) <> 'Z' THEN
        offset_s := extract(epoch FROM substr(part[4], 2)::interval)
            * CASE WHEN part[4] LIKE '-%' THEN -1 ELSE 1 END;
    END IF;
    RETURN (extract(epoch FROM (part[1] || ' ' || part[2])::timestamp)::bigint - offset_s) * 1000
        + rpad(left(coalesce(part[3], '0'), 3), 3, '0')::bigint;
END $_$;


--
-- Name: refuse(text, text, text, json); Type: FUNCTION; Schema: halyard; Owner: -
--

CREATE FUNCTION halyard.refuse(sqlstate text, code text, message text, about json DEFAULT '{}'::json) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    RAISE EXCEPTION USING ERRCODE = refuse.sqlstate, MESSAGE = refuse.message,
        DETAIL = json_build_object('code', refuse.code, 'about', refuse.about)::text;
END $$;


--
-- Name: refuse_field(text, text, text); Type: FUNCTION; Schema: halyard; Owner: -
--

CREATE FUNCTION halyard.refuse_field(field text, value text, rule text) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM "halyard".refuse('YH006', 'invalid_field',
        format('%s is %s; it %s', field, to_json(left(value, 60)), rule),
        json_build_object('field', field));
END $$;


--
-- Name: refuse_lease(); Type: FUNCTION; Schema: halyard; Owner: -
--

CREATE FUNCTION halyard.refuse_lease() RETURNS void
    LANGUAGE sql
    AS $$ SELECT "halyard".refuse('YH003', 'lease_lost', 'the lease is not live any more') $$;


--
-- Name: replay(halyard.jobs, bigint); Type: FUNCTION; Schema: halyard; Owner: -
--

CREATE FUNCTION halyard.replay(job halyard.jobs, now bigint) RETURNS halyard.created_job
    LANGUAGE plpgsql
    AS $$
BEGIN
    UPDATE "halyard".jobs AS it SET replays = it.replays + 1 WHERE it.seq = job.seq;
    PERFORM "halyard".count_job(job, job.state, now, replayed => 1);
    RETURN ROW(
        "halyard".job_name(job.id), "halyard".state_name(job.state), job.life, true, false, false);
END $$;


--
-- Name: revive(halyard.jobs, bigint); Type: FUNCTION; Schema: halyard; Owner: -
--

CREATE FUNCTION halyard.revive(job halyard.jobs, now bigint) RETURNS halyard.created_job
    LANGUAGE plpgsql
    AS $$
BEGIN
    UPDATE "halyard".jobs AS it SET
        state = 1, life = it.life + 1, attempt = 0, crashes = 0, releases = 0, snoozes = 0,
        error_start = NULL, finished_at = NULL, run_at = now, queued_at = now,
        replays = it.replays + 1
    WHERE it.seq = job.seq RETURNING it.* INTO job;
    PERFORM "halyard".count_job(job, 5, now, replayed => 1, retried => 1);
    RETURN ROW(
        "halyard".job_name(job.id), "halyard".state_name(job.state), job.life, true, true, false);
END $$;


--
-- Name: slot(); Type: FUNCTION; Schema: halyard; Owner: -
--

CREATE FUNCTION halyard.slot() RETURNS smallint
    LANGUAGE plpgsql
    AS $$
DECLARE
    slot integer := 64 + pg_backend_pid() % 16;
BEGIN
    WHILE NOT pg_try_advisory_xact_lock(hashtext('"halyard".counters'), slot) LOOP
        slot := slot + 1;
    END LOOP;
    RETURN slot;
END $$;


--
-- Name: state_name(integer); Type: FUNCTION; Schema: halyard; Owner: -
--

CREATE FUNCTION halyard.state_name(number integer) RETURNS text
    LANGUAGE sql IMMUTABLE
    AS $$
    SELECT ('{scheduled,queued,running,retrying,completed,failed,cancelled}'::text[])[number + 1]
$$;


--
-- Name: token_of(text); Type: FUNCTION; Schema: halyard; Owner: -
--

CREATE FUNCTION halyard.token_of(token text) RETURNS uuid
    LANGUAGE sql IMMUTABLE
    AS $_$ SELECT CASE WHEN token ~ '^[0-9a-f]{32}$' THEN token::uuid END $_$;


--
-- Name: value_text(text, json, integer); Type: FUNCTION; Schema: halyard; Owner: -
--

CREATE FUNCTION halyard.value_text(field text, value json, bytes_max integer) RETURNS text
    LANGUAGE plpgsql IMMUTABLE
    AS $$
DECLARE
    written text := btrim(value::text, E' \t\n\r');
BEGIN
    IF octet_length(written) > bytes_max THEN
        PERFORM "halyard".refuse('YH007', 'payload_too_large', format(
            '%s has %s bytes; at most %s are kept', field, octet_length(written), bytes_max));
    END IF;
    RETURN written;
END $$;


--
-- Name: attempts; Type: TABLE; Schema: halyard; Owner: -
--

CREATE TABLE halyard.attempts (
    seq bigint NOT NULL,
    number bigint NOT NULL,
    id uuid NOT NULL,
    token uuid NOT NULL,
    life integer NOT NULL,
    attempt integer NOT NULL,
    state smallint NOT NULL,
    worker text NOT NULL COLLATE pg_catalog."C",
    queued_at bigint NOT NULL,
    started_at bigint NOT NULL,
    finished_at bigint,
    retry_delay_ms bigint,
    retry_reason smallint,
    report smallint,
    result bytea,
    state_after smallint NOT NULL,
    error_type text,
    error_kind text,
    error_message text,
    error_stack text
);


--
-- Name: checkpoints; Type: TABLE; Schema: halyard; Owner: -
--

CREATE TABLE halyard.checkpoints (
    seq bigint NOT NULL,
    "position" integer NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    life integer NOT NULL,
    attempt integer NOT NULL,
    start bigint NOT NULL,
    created_at bigint NOT NULL,
    value text NOT NULL
);


--
-- Name: counters; Type: TABLE; Schema: halyard; Owner: -
--

CREATE TABLE halyard.counters (
    slot smallint NOT NULL,
    queue text NOT NULL COLLATE pg_catalog."C",
    task text NOT NULL COLLATE pg_catalog."C",
    state smallint NOT NULL,
    jobs bigint NOT NULL
)
WITH (fillfactor='50', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_cost_delay='0');


--
-- Name: jobs_seq; Type: SEQUENCE; Schema: halyard; Owner: -
--

CREATE SEQUENCE halyard.jobs_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: keys; Type: TABLE; Schema: halyard; Owner: -
--

CREATE TABLE halyard.keys (
    task text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    job_id uuid NOT NULL,
    fingerprint bytea NOT NULL,
    algorithm smallint NOT NULL,
    seq bigint,
    queue text COLLATE pg_catalog."C",
    state smallint,
    created_at bigint,
    finished_at bigint,
    expires_at bigint,
    CONSTRAINT keys_check CHECK (((seq IS NULL) = (expires_at IS NOT NULL)))
);


--
-- Name: migrations; Type: TABLE; Schema: halyard; Owner: -
--

CREATE TABLE halyard.migrations (
    number bigint NOT NULL,
    name text NOT NULL,
    checksum bytea NOT NULL
);


--
-- Name: minutes; Type: TABLE; Schema: halyard; Owner: -
--

CREATE TABLE halyard.minutes (
    slot smallint NOT NULL,
    at bigint NOT NULL,
    created bigint NOT NULL,
    completed bigint NOT NULL,
    failed bigint NOT NULL
)
WITH (fillfactor='50', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_cost_delay='0');


--
-- Name: queues; Type: TABLE; Schema: halyard; Owner: -
--

CREATE TABLE halyard.queues (
    name text NOT NULL COLLATE pg_catalog."C",
    paused boolean NOT NULL
);


--
-- Name: requests; Type: TABLE; Schema: halyard; Owner: -
--

CREATE TABLE halyard.requests (
    scope text NOT NULL COLLATE pg_catalog."C",
    value text NOT NULL COLLATE pg_catalog."C",
    body bytea NOT NULL,
    expires_at bigint NOT NULL,
    results text NOT NULL
);


--
-- Name: results; Type: TABLE; Schema: halyard; Owner: -
--

CREATE TABLE halyard.results (
    seq bigint NOT NULL,
    result text NOT NULL
);


--
-- Name: stamp; Type: TABLE; Schema: halyard; Owner: -
--

CREATE TABLE halyard.stamp (
    at bigint NOT NULL
)
WITH (fillfactor='20');


--
-- Name: totals; Type: TABLE; Schema: halyard; Owner: -
--

CREATE TABLE halyard.totals (
    slot smallint NOT NULL,
    created bigint NOT NULL,
    replayed bigint NOT NULL,
    keys_refused bigint NOT NULL,
    completed bigint NOT NULL,
    failed bigint NOT NULL,
    cancelled bigint NOT NULL,
    retried bigint NOT NULL,
    leases_lost bigint NOT NULL,
    timed_out bigint NOT NULL,
    reports_rejected bigint NOT NULL
)
WITH (fillfactor='20', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_cost_delay='0');


--
-- Data for Name: attempts; Type: TABLE DATA; Schema: halyard; Owner: -
--

INSERT INTO halyard.attempts VALUES (2, 1, '01a22c52-5870-7ae0-b247-d1156ee91488', 'b3654ff3-28b2-2373-d8bf-d594b8c8a478', 1, 1, 2, 'wrk_1', 1796039923814, 1796039923824, 1796039923851, NULL, NULL, 1, NULL, 5, 'E', 'non_retryable', 'm', NULL);
INSERT INTO halyard.attempts VALUES (3, 1, '01a22c52-589d-70b8-971e-ac731c1902ab', '543c94c0-f56f-1eea-dd86-0724ef8763d3', 1, 1, 2, 'wrk_1', 1796039923864, 1796039923869, 1796039923936, 3600000, 0, 1, NULL, 3, 'E', 'error', 'm', NULL);
INSERT INTO halyard.attempts VALUES (4, 1, '01a22c52-5905-7dbc-ba6d-15979edc6173', 'b1b26aab-c6a1-7f86-7cda-d052aae01e76', 1, 1, 2, 'wrk_1', 1796039923955, 1796039923973, 1796039923980, NULL, NULL, 1, NULL, 5, 'E', 'non_retryable', 'm', NULL);


--
-- Data for Name: bodies; Type: TABLE DATA; Schema: halyard; Owner: -
--

INSERT INTO halyard.bodies VALUES (1, '01a22c52-5760-7ada-bdbe-b48c29f01d2a', NULL, NULL, 'completed', NULL, '{"none":null,"numbers":[1,2.5,-0.0,1e+300],"text":"é😀\n"}');
INSERT INTO halyard.bodies VALUES (2, '01a22c52-5836-76c2-943a-3502c2782588', NULL, NULL, 'failed', NULL, '{"none":null,"numbers":[1,2.5,-0.0,1e+300],"text":"é😀\n"}');
INSERT INTO halyard.bodies VALUES (3, '01a22c52-5897-75d8-89b3-f6f3e806f438', NULL, NULL, 'retrying', NULL, '{"none":null,"numbers":[1,2.5,-0.0,1e+300],"text":"é😀\n"}');
INSERT INTO halyard.bodies VALUES (4, '01a22c52-58f3-7691-9c75-e8c15b35478e', NULL, NULL, 'again', NULL, '{"none":null,"numbers":[1,2.5,-0.0,1e+300],"text":"é😀\n"}');
INSERT INTO halyard.bodies VALUES (5, '01a22c52-5921-7619-ac6c-ef15f580d1ab', NULL, NULL, 'cancelled', NULL, '{"none":null,"numbers":[1,2.5,-0.0,1e+300],"text":"é😀\n"}');
INSERT INTO halyard.bodies VALUES (7, '01a22c52-5af7-7064-bf91-3b556e4f302e', NULL, NULL, 'scheduled', NULL, '{"none":null,"numbers":[1,2.5,-0.0,1e+300],"text":"é😀\n"}');
INSERT INTO halyard.bodies VALUES (8, '01a22c52-5b05-7773-855e-d4fe50a2929e', 'a:1
b', NULL, NULL, NULL, 'null');
INSERT INTO halyard.bodies VALUES (9, '01a22c52-5b0a-75e8-93ed-84354246c307', NULL, NULL, NULL, NULL, 'null');
INSERT INTO halyard.bodies VALUES (10, '01a22c52-5b2f-7e78-b28d-5481844724b2', NULL, NULL, 'running', NULL, '{"none":null,"numbers":[1,2.5,-0.0,1e+300],"text":"é😀\n"}');


--
-- Data for Name: checkpoints; Type: TABLE DATA; Schema: halyard; Owner: -
--

INSERT INTO halyard.checkpoints VALUES (3, 0, 'half', 1, 1, 1, 1796039923888, '{"at":50}');
INSERT INTO halyard.checkpoints VALUES (4, 0, 'kept', 1, 1, 1, 1796039923977, '"over lives"');
INSERT INTO halyard.checkpoints VALUES (10, 0, 'begun', 1, 1, 1, 1796039924620, '{"pages":3}');


--
-- Data for Name: counters; Type: TABLE DATA; Schema: halyard; Owner: -
--

INSERT INTO halyard.counters VALUES (37, 'default', 'completed', 1, 1);
INSERT INTO halyard.counters VALUES (39, 'default', 'completed', 1, -1);
INSERT INTO halyard.counters VALUES (39, 'default', 'completed', 2, 1);
INSERT INTO halyard.counters VALUES (38, 'default', 'completed', 2, -1);
INSERT INTO halyard.counters VALUES (38, 'default', 'completed', 4, 1);
INSERT INTO halyard.counters VALUES (40, 'default', 'failed', 1, 1);
INSERT INTO halyard.counters VALUES (37, 'default', 'failed', 1, -1);
INSERT INTO halyard.counters VALUES (37, 'default', 'failed', 2, 1);
INSERT INTO halyard.counters VALUES (40, 'default', 'failed', 2, -1);
INSERT INTO halyard.counters VALUES (40, 'default', 'failed', 5, 1);
INSERT INTO halyard.counters VALUES (38, 'default', 'retrying', 1, 1);
INSERT INTO halyard.counters VALUES (39, 'default', 'retrying', 1, -1);
INSERT INTO halyard.counters VALUES (39, 'default', 'retrying', 2, 1);
INSERT INTO halyard.counters VALUES (40, 'default', 'retrying', 2, -1);
INSERT INTO halyard.counters VALUES (40, 'default', 'retrying', 3, 1);
INSERT INTO halyard.counters VALUES (39, 'default', 'again', 1, -1);
INSERT INTO halyard.counters VALUES (39, 'default', 'again', 2, 1);
INSERT INTO halyard.counters VALUES (40, 'default', 'again', 2, -1);
INSERT INTO halyard.counters VALUES (40, 'default', 'again', 5, 1);
INSERT INTO halyard.counters VALUES (38, 'default', 'again', 1, 2);
INSERT INTO halyard.counters VALUES (38, 'default', 'again', 5, -1);
INSERT INTO halyard.counters VALUES (39, 'default', 'cancelled', 1, 1);
INSERT INTO halyard.counters VALUES (37, 'default', 'cancelled', 1, -1);
INSERT INTO halyard.counters VALUES (37, 'default', 'cancelled', 6, 1);
INSERT INTO halyard.counters VALUES (40, 'default', 'gone', 1, 1);
INSERT INTO halyard.counters VALUES (38, 'default', 'gone', 1, -1);
INSERT INTO halyard.counters VALUES (38, 'default', 'gone', 2, 1);
INSERT INTO halyard.counters VALUES (40, 'default', 'gone', 2, -1);
INSERT INTO halyard.counters VALUES (40, 'default', 'gone', 4, 1);
INSERT INTO halyard.counters VALUES (37, 'default', 'gone', 4, -1);
INSERT INTO halyard.counters VALUES (39, 'default', 'scheduled', 0, 1);
INSERT INTO halyard.counters VALUES (40, 'held', 'held', 1, 1);
INSERT INTO halyard.counters VALUES (37, 'default', 'remembered', 1, 1);
INSERT INTO halyard.counters VALUES (39, 'default', 'running', 1, 1);
INSERT INTO halyard.counters VALUES (40, 'default', 'running', 1, -1);
INSERT INTO halyard.counters VALUES (40, 'default', 'running', 2, 1);


--
-- Data for Name: jobs; Type: TABLE DATA; Schema: halyard; Owner: -
--

INSERT INTO halyard.jobs VALUES (1, '01a22c52-5760-7ada-bdbe-b48c29f01d2a', 'completed', 'default', 4, 0, 1796039923566, 1796039923566, 1, 1, 1, 20, 0, 5, 0, 0, 900000, 5000, 2, 3600000, 0.2, 1796039923566, NULL, false, 1796039923762, true, 2592000000, 0, 0, 0, 0, NULL, 1, '01a22c52-582b-7434-888a-02e3d1c3ec30', '944c887f-abce-7663-8d03-2fa75ec2afd0', NULL, 'wrk_1', 1796039923566, 1796039923755, 600000, 1796040523755, 1796040823755);
INSERT INTO halyard.jobs VALUES (2, '01a22c52-5836-76c2-943a-3502c2782588', 'failed', 'default', 5, 0, 1796039923814, 1796039923814, 1, 1, 1, 20, 0, 5, 0, 0, 900000, 5000, 2, 3600000, 0.2, 1796039923814, 1, false, 1796039923851, true, 2592000000, 0, 0, 0, 0, NULL, 2, '01a22c52-5870-7ae0-b247-d1156ee91488', 'b3654ff3-28b2-2373-d8bf-d594b8c8a478', NULL, 'wrk_1', 1796039923814, 1796039923824, 600000, 1796040523824, 1796040823824);
INSERT INTO halyard.jobs VALUES (7, '01a22c52-5af7-7064-bf91-3b556e4f302e', 'scheduled', 'default', 0, 0, 1796039924471, 1796043524471, 1, 0, 0, 20, 0, 5, 0, 0, 900000, 5000, 2, 3600000, 0.2, 1796043524471, NULL, false, NULL, true, 2592000000, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO halyard.jobs VALUES (3, '01a22c52-5897-75d8-89b3-f6f3e806f438', 'retrying', 'default', 3, 0, 1796039923864, 1796043523936, 1, 1, 1, 20, 0, 5, 0, 0, 900000, 3600000, 1, 3600000, 0, 1796039923864, 1, false, NULL, true, 2592000000, 1, 9, 0, 0, NULL, 2, '01a22c52-589d-70b8-971e-ac731c1902ab', '543c94c0-f56f-1eea-dd86-0724ef8763d3', NULL, 'wrk_1', 1796039923864, 1796039923869, 600000, 1796040523869, 1796040823869);
INSERT INTO halyard.jobs VALUES (8, '01a22c52-5b05-7773-855e-d4fe50a2929e', 'held', 'held', 1, 0, 1796039924485, 1796039924485, 1, 0, 0, 20, 0, 5, 0, 0, 900000, 5000, 2, 3600000, 0.2, 1796039924485, NULL, false, NULL, false, 2592000000, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO halyard.jobs VALUES (4, '01a22c52-58f3-7691-9c75-e8c15b35478e', 'again', 'default', 1, 0, 1796039923955, 1796039923989, 2, 0, 1, 20, 0, 5, 0, 0, 900000, 5000, 2, 3600000, 0.2, 1796039923989, NULL, false, NULL, true, 2592000000, 1, 12, 0, 0, NULL, 2, '01a22c52-5905-7dbc-ba6d-15979edc6173', 'b1b26aab-c6a1-7f86-7cda-d052aae01e76', NULL, 'wrk_1', 1796039923955, 1796039923973, 600000, 1796040523973, 1796040823973);
INSERT INTO halyard.jobs VALUES (5, '01a22c52-5921-7619-ac6c-ef15f580d1ab', 'cancelled', 'default', 6, 0, 1796039924002, 1796039924002, 1, 0, 0, 20, 0, 5, 0, 0, 900000, 5000, 2, 3600000, 0.2, 1796039924002, NULL, false, 1796039924006, true, 2592000000, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO halyard.jobs VALUES (9, '01a22c52-5b0a-75e8-93ed-84354246c307', 'remembered', 'default', 1, 7, 1796039924497, 1796039924497, 1, 0, 0, 20, 0, 5, 0, 0, 900000, 5000, 2, 3600000, 0.2, 1796039924497, NULL, false, NULL, false, 2592000000, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO halyard.jobs VALUES (10, '01a22c52-5b2f-7e78-b28d-5481844724b2', 'running', 'default', 2, 0, 1796039924537, 1796039924537, 1, 1, 1, 20, 0, 5, 0, 0, 900000, 5000, 2, 3600000, 0.2, 1796039924537, NULL, false, NULL, true, 2592000000, 1, 11, 0, 0, NULL, 0, '01a22c52-5b4e-791d-818e-8949806c387c', 'ae4b5cf6-e781-ba89-4c56-d71eff110069', NULL, 'wrk_1', 1796039924537, 1796039924558, 600000, 1796040524558, 1796040824558);


--
-- Data for Name: keys; Type: TABLE DATA; Schema: halyard; Owner: -
--

INSERT INTO halyard.keys VALUES ('completed', 'completed', '01a22c52-5760-7ada-bdbe-b48c29f01d2a', '\x385166e0d04fcecbc93d94e903f662f5bd41d7e752d2c36d9f9e031226552e2d', 1, 1, NULL, NULL, NULL, NULL, NULL);
INSERT INTO halyard.keys VALUES ('failed', 'failed', '01a22c52-5836-76c2-943a-3502c2782588', '\x385166e0d04fcecbc93d94e903f662f5bd41d7e752d2c36d9f9e031226552e2d', 1, 2, NULL, NULL, NULL, NULL, NULL);
INSERT INTO halyard.keys VALUES ('retrying', 'retrying', '01a22c52-5897-75d8-89b3-f6f3e806f438', '\x385166e0d04fcecbc93d94e903f662f5bd41d7e752d2c36d9f9e031226552e2d', 1, 3, NULL, NULL, NULL, NULL, NULL);
INSERT INTO halyard.keys VALUES ('again', 'again', '01a22c52-58f3-7691-9c75-e8c15b35478e', '\x385166e0d04fcecbc93d94e903f662f5bd41d7e752d2c36d9f9e031226552e2d', 1, 4, NULL, NULL, NULL, NULL, NULL);
INSERT INTO halyard.keys VALUES ('cancelled', 'cancelled', '01a22c52-5921-7619-ac6c-ef15f580d1ab', '\x385166e0d04fcecbc93d94e903f662f5bd41d7e752d2c36d9f9e031226552e2d', 1, 5, NULL, NULL, NULL, NULL, NULL);
INSERT INTO halyard.keys VALUES ('gone', 'gone', '01a22c52-5933-7d35-8ee2-ad44dccfff16', '\x385166e0d04fcecbc93d94e903f662f5bd41d7e752d2c36d9f9e031226552e2d', 1, NULL, 'default', 4, 1796039924045, 1796039924428, 1798631924428);
INSERT INTO halyard.keys VALUES ('scheduled', 'scheduled', '01a22c52-5af7-7064-bf91-3b556e4f302e', '\x385166e0d04fcecbc93d94e903f662f5bd41d7e752d2c36d9f9e031226552e2d', 1, 7, NULL, NULL, NULL, NULL, NULL);
INSERT INTO halyard.keys VALUES ('running', 'running', '01a22c52-5b2f-7e78-b28d-5481844724b2', '\x385166e0d04fcecbc93d94e903f662f5bd41d7e752d2c36d9f9e031226552e2d', 1, 10, NULL, NULL, NULL, NULL, NULL);


--
-- Data for Name: migrations; Type: TABLE DATA; Schema: halyard; Owner: -
--

INSERT INTO halyard.migrations VALUES (1, 'jobs', '\x9e1abf6a81a70596aa145c1dc854edc79e240f4d75c9c2b609450da43a6f6372');
INSERT INTO halyard.migrations VALUES (2, 'functions', '\xd2a11c600b6ba88aae51ce0c6c231673388ee4b890e647d7e2884478a343ddb7');


--
-- Data for Name: minutes; Type: TABLE DATA; Schema: halyard; Owner: -
--

INSERT INTO halyard.minutes VALUES (38, 1796039880000, 2, 1, 0);
INSERT INTO halyard.minutes VALUES (40, 1796039880000, 3, 1, 2);
INSERT INTO halyard.minutes VALUES (37, 1796039880000, 2, 0, 0);
INSERT INTO halyard.minutes VALUES (39, 1796039880000, 3, 0, 0);


--
-- Data for Name: queues; Type: TABLE DATA; Schema: halyard; Owner: -
--

INSERT INTO halyard.queues VALUES ('held', true);


--
-- Data for Name: requests; Type: TABLE DATA; Schema: halyard; Owner: -
--

INSERT INTO halyard.requests VALUES ('POST /v1/jobs', 'once', '\x3b4befa52fd539b6d1133cf9c7df1ebedd6feac26067dea3582ed2b36814845b', 1796126324497, '[{"job":"job_01m8p54praeqm97vc46n14dgr7"}]');


--
-- Data for Name: results; Type: TABLE DATA; Schema: halyard; Owner: -
--

INSERT INTO halyard.results VALUES (1, '{"done":[{"none":null,"numbers":[1,2.5,-0.0,1e+300],"text":"é😀\n"}]}');


--
-- Data for Name: stamp; Type: TABLE DATA; Schema: halyard; Owner: -
--

INSERT INTO halyard.stamp VALUES (1796039924556);


--
-- Data for Name: totals; Type: TABLE DATA; Schema: halyard; Owner: -
--

INSERT INTO halyard.totals VALUES (37, 2, 0, 0, 0, 0, 1, 0, 0, 0, 0);
INSERT INTO halyard.totals VALUES (39, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0);
INSERT INTO halyard.totals VALUES (38, 2, 0, 0, 1, 0, 0, 1, 0, 0, 0);
INSERT INTO halyard.totals VALUES (40, 3, 0, 0, 1, 2, 0, 0, 0, 0, 0);


--
-- Name: jobs_seq; Type: SEQUENCE SET; Schema: halyard; Owner: -
--

SELECT pg_catalog.setval('halyard.jobs_seq', 11, true);


--
-- Name: attempts attempts_pkey; Type: CONSTRAINT; Schema: halyard; Owner: -
--

ALTER TABLE ONLY halyard.attempts
    ADD CONSTRAINT attempts_pkey PRIMARY KEY (seq, number);


--
-- Name: bodies bodies_pkey; Type: CONSTRAINT; Schema: halyard; Owner: -
--

ALTER TABLE ONLY halyard.bodies
    ADD CONSTRAINT bodies_pkey PRIMARY KEY (seq);


--
-- Name: checkpoints checkpoints_pkey; Type: CONSTRAINT; Schema: halyard; Owner: -
--

ALTER TABLE ONLY halyard.checkpoints
    ADD CONSTRAINT checkpoints_pkey PRIMARY KEY (seq, "position");


--
-- Name: counters counters_pkey; Type: CONSTRAINT; Schema: halyard; Owner: -
--

ALTER TABLE ONLY halyard.counters
    ADD CONSTRAINT counters_pkey PRIMARY KEY (slot, queue, task, state);


--
-- Name: jobs jobs_pkey; Type: CONSTRAINT; Schema: halyard; Owner: -
--

ALTER TABLE ONLY halyard.jobs
    ADD CONSTRAINT jobs_pkey PRIMARY KEY (seq);


--
-- Name: keys keys_pkey; Type: CONSTRAINT; Schema: halyard; Owner: -
--

ALTER TABLE ONLY halyard.keys
    ADD CONSTRAINT keys_pkey PRIMARY KEY (task, key);


--
-- Name: migrations migrations_pkey; Type: CONSTRAINT; Schema: halyard; Owner: -
--

ALTER TABLE ONLY halyard.migrations
    ADD CONSTRAINT migrations_pkey PRIMARY KEY (number);


--
-- Name: minutes minutes_pkey; Type: CONSTRAINT; Schema: halyard; Owner: -
--

ALTER TABLE ONLY halyard.minutes
    ADD CONSTRAINT minutes_pkey PRIMARY KEY (at, slot);


--
-- Name: queues queues_pkey; Type: CONSTRAINT; Schema: halyard; Owner: -
--

ALTER TABLE ONLY halyard.queues
    ADD CONSTRAINT queues_pkey PRIMARY KEY (name);


--
-- Name: requests requests_pkey; Type: CONSTRAINT; Schema: halyard; Owner: -
--

ALTER TABLE ONLY halyard.requests
    ADD CONSTRAINT requests_pkey PRIMARY KEY (scope, value);


--
-- Name: results results_pkey; Type: CONSTRAINT; Schema: halyard; Owner: -
--

ALTER TABLE ONLY halyard.results
    ADD CONSTRAINT results_pkey PRIMARY KEY (seq);


--
-- Name: totals totals_pkey; Type: CONSTRAINT; Schema: halyard; Owner: -
--

ALTER TABLE ONLY halyard.totals
    ADD CONSTRAINT totals_pkey PRIMARY KEY (slot);


--
-- Name: bodies_id; Type: INDEX; Schema: halyard; Owner: -
--

CREATE UNIQUE INDEX bodies_id ON halyard.bodies USING btree (id);


--
-- Name: checkpoints_name; Type: INDEX; Schema: halyard; Owner: -
--

CREATE UNIQUE INDEX checkpoints_name ON halyard.checkpoints USING btree (seq, name);


--
-- Name: jobs_due; Type: INDEX; Schema: halyard; Owner: -
--

CREATE INDEX jobs_due ON halyard.jobs USING btree (run_at, seq) WHERE (state = ANY (ARRAY[0, 3]));


--
-- Name: jobs_ended; Type: INDEX; Schema: halyard; Owner: -
--

CREATE INDEX jobs_ended ON halyard.jobs USING btree (state, finished_at, seq) WHERE (state >= 4);


--
-- Name: jobs_lease; Type: INDEX; Schema: halyard; Owner: -
--

CREATE INDEX jobs_lease ON halyard.jobs USING btree (expires_at, seq) WHERE (state = 2);


--
-- Name: jobs_ready; Type: INDEX; Schema: halyard; Owner: -
--

CREATE INDEX jobs_ready ON halyard.jobs USING btree (queue, task, priority DESC, run_at, seq) WHERE (state = 1);


--
-- Name: jobs_unhappy; Type: INDEX; Schema: halyard; Owner: -
--

CREATE INDEX jobs_unhappy ON halyard.jobs USING btree (state, seq) WHERE (state = ANY (ARRAY[5, 6]));


--
-- Name: keys_expiry; Type: INDEX; Schema: halyard; Owner: -
--

CREATE INDEX keys_expiry ON halyard.keys USING btree (expires_at, job_id) WHERE (seq IS NULL);


--
-- Name: keys_job; Type: INDEX; Schema: halyard; Owner: -
--

CREATE INDEX keys_job ON halyard.keys USING btree (job_id) WHERE (seq IS NULL);


--
-- Name: requests_expiry; Type: INDEX; Schema: halyard; Owner: -
--

CREATE INDEX requests_expiry ON halyard.requests USING btree (expires_at);


--
-- PostgreSQL database dump complete
--


