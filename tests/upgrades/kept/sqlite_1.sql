-- story: {"at":1796039925666,"jobs":[{"attempt":1,"attempts":[{"attempt":1,"error":null,"finished_at":"2026-11-30T11:58:45.687Z","id":"att_01m8p54qxbfh3b5n1n5j5j7t5s","life":1,"queued_at":"2026-11-30T11:58:45.671Z","retry_delay_ms":null,"retry_reason":null,"start":1,"started_at":"2026-11-30T11:58:45.675Z","state":"completed","worker":"wrk_1"}],"attempts_total":1,"backoff":{"factor":2.0,"initial_ms":5000,"jitter":0.2,"max_ms":3600000},"cancel_requested":false,"checkpoints":[],"crashes":0,"created_at":"2026-11-30T11:58:45.671Z","error":null,"finished_at":"2026-11-30T11:58:45.687Z","id":"job_01m8p54qx2e8rtftzsnkq7jnk4","idempotency_expires_at":"2026-12-30T11:58:45.687Z","idempotency_key":"completed","life":1,"max_attempts":20,"max_crashes":5,"payload":{"none":null,"numbers":[1,2.5,-0.0,1e+300],"text":"é😀\n"},"priority":0,"queue":"default","rejected":0,"replaced_by":null,"replays":0,"rerun_of":null,"result":{"done":[{"none":null,"numbers":[1,2.5,-0.0,1e+300],"text":"é😀\n"}]},"run_at":"2026-11-30T11:58:45.671Z","started_at":"2026-11-30T11:58:45.675Z","starts":1,"state":"completed","tags":[],"task":"completed","timeout_ms":900000,"traceparent":null},{"attempt":1,"attempts":[{"attempt":1,"error":{"kind":"non_retryable","message":"m","stack":null,"type":"E"},"finished_at":"2026-11-30T11:58:45.690Z","id":"att_01m8p54qxse029yhfdmn2763kn","life":1,"queued_at":"2026-11-30T11:58:45.688Z","retry_delay_ms":null,"retry_reason":null,"start":1,"started_at":"2026-11-30T11:58:45.689Z","state":"failed","worker":"wrk_1"}],"attempts_total":1,"backoff":{"factor":2.0,"initial_ms":5000,"jitter":0.2,"max_ms":3600000},"cancel_requested":false,"checkpoints":[],"crashes":0,"created_at":"2026-11-30T11:58:45.688Z","error":{"kind":"non_retryable","message":"m","stack":null,"type":"E"},"finished_at":"2026-11-30T11:58:45.690Z","id":"job_01m8p54qxrf0cbw6v7mjwtrtxv","idempotency_expires_at":"2026-12-30T11:58:45.690Z","idempotency_key":"failed","life":1,"max_attempts":20,"max_crashes":5,"payload":{"none":null,"numbers":[1,2.5,-0.0,1e+300],"text":"é😀\n"},"priority":0,"queue":"default","rejected":0,"replaced_by":null,"replays":0,"rerun_of":null,"result":null,"run_at":"2026-11-30T11:58:45.688Z","started_at":"2026-11-30T11:58:45.689Z","starts":1,"state":"failed","tags":[],"task":"failed","timeout_ms":900000,"traceparent":null},{"attempt":1,"attempts":[{"attempt":1,"error":{"kind":"error","message":"m","stack":null,"type":"E"},"finished_at":"2026-11-30T11:58:45.694Z","id":"att_01m8p54qxwexpvs2m05gswz6wg","life":1,"queued_at":"2026-11-30T11:58:45.691Z","retry_delay_ms":3600000,"retry_reason":"backoff","start":1,"started_at":"2026-11-30T11:58:45.692Z","state":"failed","worker":"wrk_1"}],"attempts_total":1,"backoff":{"factor":1.0,"initial_ms":3600000,"jitter":0.0,"max_ms":3600000},"cancel_requested":false,"checkpoints":[{"attempt":1,"created_at":"2026-11-30T11:58:45.693Z","life":1,"name":"half","start":1,"value":{"at":50}}],"crashes":0,"created_at":"2026-11-30T11:58:45.691Z","error":{"kind":"error","message":"m","stack":null,"type":"E"},"finished_at":null,"id":"job_01m8p54qxvfm9brrbj6zqevgk4","idempotency_expires_at":null,"idempotency_key":"retrying","life":1,"max_attempts":20,"max_crashes":5,"payload":{"none":null,"numbers":[1,2.5,-0.0,1e+300],"text":"é😀\n"},"priority":0,"queue":"default","rejected":0,"replaced_by":null,"replays":0,"rerun_of":null,"result":null,"run_at":"2026-11-30T12:58:45.694Z","started_at":"2026-11-30T11:58:45.692Z","starts":1,"state":"retrying","tags":[],"task":"retrying","timeout_ms":900000,"traceparent":null},{"attempt":0,"attempts":[{"attempt":1,"error":{"kind":"non_retryable","message":"m","stack":null,"type":"E"},"finished_at":"2026-11-30T11:58:45.698Z","id":"att_01m8p54qy0en0ajjc9p1yw1hj9","life":1,"queued_at":"2026-11-30T11:58:45.695Z","retry_delay_ms":null,"retry_reason":null,"start":1,"started_at":"2026-11-30T11:58:45.696Z","state":"failed","worker":"wrk_1"}],"attempts_total":1,"backoff":{"factor":2.0,"initial_ms":5000,"jitter":0.2,"max_ms":3600000},"cancel_requested":false,"checkpoints":[{"attempt":1,"created_at":"2026-11-30T11:58:45.697Z","life":1,"name":"kept","start":1,"value":"over lives"}],"crashes":0,"created_at":"2026-11-30T11:58:45.695Z","error":null,"finished_at":null,"id":"job_01m8p54qxzfvdb634jn0rebxsw","idempotency_expires_at":null,"idempotency_key":"again","life":2,"max_attempts":20,"max_crashes":5,"payload":{"none":null,"numbers":[1,2.5,-0.0,1e+300],"text":"é😀\n"},"priority":0,"queue":"default","rejected":0,"replaced_by":null,"replays":0,"rerun_of":null,"result":null,"run_at":"2026-11-30T11:58:45.708Z","started_at":"2026-11-30T11:58:45.696Z","starts":1,"state":"queued","tags":[],"task":"again","timeout_ms":900000,"traceparent":null},{"attempt":0,"attempts":[],"attempts_total":0,"backoff":{"factor":2.0,"initial_ms":5000,"jitter":0.2,"max_ms":3600000},"cancel_requested":false,"checkpoints":[],"crashes":0,"created_at":"2026-11-30T11:58:45.712Z","error":null,"finished_at":"2026-11-30T11:58:45.713Z","id":"job_01m8p54qygfhhadgza508sj1p2","idempotency_expires_at":"2026-12-30T11:58:45.713Z","idempotency_key":"cancelled","life":1,"max_attempts":20,"max_crashes":5,"payload":{"none":null,"numbers":[1,2.5,-0.0,1e+300],"text":"é😀\n"},"priority":0,"queue":"default","rejected":0,"replaced_by":null,"replays":0,"rerun_of":null,"result":null,"run_at":"2026-11-30T11:58:45.712Z","started_at":null,"starts":0,"state":"cancelled","tags":[],"task":"cancelled","timeout_ms":900000,"traceparent":null},{"attempt":0,"attempts":[],"attempts_total":0,"backoff":{"factor":2.0,"initial_ms":5000,"jitter":0.2,"max_ms":3600000},"cancel_requested":false,"checkpoints":[],"crashes":0,"created_at":"2026-11-30T11:58:45.717Z","error":null,"finished_at":null,"id":"job_01m8p54qyne1dbhc2ng6w2wywf","idempotency_expires_at":null,"idempotency_key":"scheduled","life":1,"max_attempts":20,"max_crashes":5,"payload":{"none":null,"numbers":[1,2.5,-0.0,1e+300],"text":"é😀\n"},"priority":0,"queue":"default","rejected":0,"replaced_by":null,"replays":0,"rerun_of":null,"result":null,"run_at":"2026-11-30T12:58:45.717Z","started_at":null,"starts":0,"state":"scheduled","tags":[],"task":"scheduled","timeout_ms":900000,"traceparent":null},{"attempt":0,"attempts":[],"attempts_total":0,"backoff":{"factor":2.0,"initial_ms":5000,"jitter":0.2,"max_ms":3600000},"cancel_requested":false,"checkpoints":[],"crashes":0,"created_at":"2026-11-30T11:58:45.719Z","error":null,"finished_at":null,"id":"job_01m8p54qyqfgdat2kq92k203wv","idempotency_expires_at":null,"idempotency_key":null,"life":1,"max_attempts":20,"max_crashes":5,"payload":null,"priority":0,"queue":"held","rejected":0,"replaced_by":null,"replays":0,"rerun_of":null,"result":null,"run_at":"2026-11-30T11:58:45.719Z","started_at":null,"starts":0,"state":"queued","tags":["a:1","b"],"task":"held","timeout_ms":900000,"traceparent":null},{"attempt":0,"attempts":[],"attempts_total":0,"backoff":{"factor":2.0,"initial_ms":5000,"jitter":0.2,"max_ms":3600000},"cancel_requested":false,"checkpoints":[],"crashes":0,"created_at":"2026-11-30T11:58:45.720Z","error":null,"finished_at":null,"id":"job_01m8p54qyreaqt6jty90srxawc","idempotency_expires_at":null,"idempotency_key":null,"life":1,"max_attempts":20,"max_crashes":5,"payload":null,"priority":7,"queue":"default","rejected":0,"replaced_by":null,"replays":0,"rerun_of":null,"result":null,"run_at":"2026-11-30T11:58:45.720Z","started_at":null,"starts":0,"state":"queued","tags":[],"task":"remembered","timeout_ms":900000,"traceparent":null},{"attempt":1,"attempts":[{"attempt":1,"error":null,"finished_at":null,"id":"att_01m8p54qyte7jvx6zz5103pr8k","life":1,"queued_at":"2026-11-30T11:58:45.721Z","retry_delay_ms":null,"retry_reason":null,"start":1,"started_at":"2026-11-30T11:58:45.722Z","state":"running","worker":"wrk_1"}],"attempts_total":1,"backoff":{"factor":2.0,"initial_ms":5000,"jitter":0.2,"max_ms":3600000},"cancel_requested":false,"checkpoints":[{"attempt":1,"created_at":"2026-11-30T11:58:45.724Z","life":1,"name":"begun","start":1,"value":{"pages":3}}],"crashes":0,"created_at":"2026-11-30T11:58:45.721Z","error":null,"finished_at":null,"id":"job_01m8p54qysf5wa278cw1t39dh6","idempotency_expires_at":null,"idempotency_key":"running","life":1,"max_attempts":20,"max_crashes":5,"payload":{"none":null,"numbers":[1,2.5,-0.0,1e+300],"text":"é😀\n"},"priority":0,"queue":"default","rejected":0,"replaced_by":null,"replays":0,"rerun_of":null,"result":null,"run_at":"2026-11-30T11:58:45.721Z","started_at":"2026-11-30T11:58:45.722Z","starts":1,"state":"running","tags":[],"task":"running","timeout_ms":900000,"traceparent":null}],"lease":{"id":"job_01m8p54qysf5wa278cw1t39dh6","token":"42e158ee8fa53d4b3ca82b1e574a5326"},"remembered":{"body":{"priority":7,"task":"remembered"},"id":"job_01m8p54qyreaqt6jty90srxawc"},"repeats":[{"body":{"idempotency_key":"completed","payload":{"none":null,"numbers":[1,2.5,-0.0,1e+300],"text":"é😀\n"},"task":"completed"},"id":"job_01m8p54qx2e8rtftzsnkq7jnk4","status":200},{"body":{"idempotency_key":"failed","payload":{"none":null,"numbers":[1,2.5,-0.0,1e+300],"text":"é😀\n"},"task":"failed"},"id":"job_01m8p54qxrf0cbw6v7mjwtrtxv","status":200},{"body":{"idempotency_key":"retrying","payload":{"none":null,"numbers":[1,2.5,-0.0,1e+300],"text":"é😀\n"},"task":"retrying"},"id":"job_01m8p54qxvfm9brrbj6zqevgk4","status":200},{"body":{"idempotency_key":"again","payload":{"none":null,"numbers":[1,2.5,-0.0,1e+300],"text":"é😀\n"},"task":"again"},"id":"job_01m8p54qxzfvdb634jn0rebxsw","status":200},{"body":{"idempotency_key":"cancelled","payload":{"none":null,"numbers":[1,2.5,-0.0,1e+300],"text":"é😀\n"},"task":"cancelled"},"id":"job_01m8p54qygfhhadgza508sj1p2","status":200},{"body":{"idempotency_key":"gone","payload":{"none":null,"numbers":[1,2.5,-0.0,1e+300],"text":"é😀\n"},"task":"gone"},"id":"job_01m8p54qyje879ec22ez999b51","status":200},{"body":{"idempotency_key":"scheduled","payload":{"none":null,"numbers":[1,2.5,-0.0,1e+300],"text":"é😀\n"},"task":"scheduled"},"id":"job_01m8p54qyne1dbhc2ng6w2wywf","status":200},{"body":{"idempotency_key":"running","payload":{"none":null,"numbers":[1,2.5,-0.0,1e+300],"text":"é😀\n"},"task":"running"},"id":"job_01m8p54qysf5wa278cw1t39dh6","status":200}]}
PRAGMA auto_vacuum = INCREMENTAL;
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE migrations (
    number   INTEGER PRIMARY KEY,
    name     TEXT NOT NULL,
    checksum BLOB NOT NULL
) STRICT
;
INSERT INTO migrations VALUES(1,'jobs',X'ccf605e29738b798917004d9fa18d0210425d026336a995528b2c2022bca7af2');
CREATE TABLE jobs (
    seq               INTEGER PRIMARY KEY,
    id                BLOB    NOT NULL,
    task              TEXT    NOT NULL,
    queue             TEXT    NOT NULL,
    -- 0 scheduled, 1 queued, 2 running, 3 retrying, 4 completed, 5 failed, 6 cancelled
    state             INTEGER NOT NULL CHECK (state BETWEEN 0 AND 6),
    priority          INTEGER NOT NULL,
    created_at        INTEGER NOT NULL,
    run_at            INTEGER NOT NULL,
    life              INTEGER NOT NULL,
    attempt           INTEGER NOT NULL,
    starts            INTEGER NOT NULL,
    max_attempts      INTEGER NOT NULL,
    crashes           INTEGER NOT NULL,
    max_crashes       INTEGER NOT NULL,
    releases          INTEGER NOT NULL,
    snoozes           INTEGER NOT NULL,
    timeout_ms        INTEGER NOT NULL,
    backoff_initial_ms INTEGER NOT NULL,
    backoff_factor    REAL    NOT NULL,
    backoff_max_ms    INTEGER NOT NULL,
    backoff_jitter    REAL    NOT NULL,
    queued_at         INTEGER NOT NULL,
    error_start       INTEGER,
    cancel_requested  INTEGER NOT NULL,
    finished_at       INTEGER,
    holds_key         INTEGER NOT NULL,
    key_ttl_ms        INTEGER NOT NULL,
    checkpoints       INTEGER NOT NULL,
    checkpoints_bytes INTEGER NOT NULL,
    replays           INTEGER NOT NULL,
    rejected          INTEGER NOT NULL,
    replaced_by       BLOB,
    -- the newest start
    start_state       INTEGER,
    attempt_id        BLOB,
    token             BLOB,
    claim_mark        BLOB,
    worker            TEXT,
    start_queued_at   INTEGER,
    started_at        INTEGER,
    lease_ms          INTEGER,
    expires_at        INTEGER,
    deadline          INTEGER,
    -- A running job without a lease that ends would wait for ever. A check that gives null passes,
    -- so it is asked whether it is true.
    CHECK (state <> 2 OR (start_state = 0 AND token IS NOT NULL AND expires_at <= deadline) IS TRUE),
    CHECK ((finished_at IS NOT NULL) = (state >= 4))
) STRICT;
INSERT INTO jobs VALUES(1,X'01a22c525fa27231a7ebf9acee795664','completed','default',4,0,1796039925671,1796039925671,1,1,1,20,0,5,0,0,900000,5000,2.0,3600000,0.2000000000000000111,1796039925671,NULL,0,1796039925687,1,2592000000,0,0,0,0,NULL,1,X'01a22c525fab7c46b2d4352c8b23e8b9',X'3f738c8e8b05daf5deb3a8497e4944bf',NULL,'wrk_1',1796039925671,1796039925675,600000,1796040525675,1796040825675);
INSERT INTO jobs VALUES(2,X'01a22c525fb87818be1b67a4b9ac6bbb','failed','default',5,0,1796039925688,1796039925688,1,1,1,20,0,5,0,0,900000,5000,2.0,3600000,0.2000000000000000111,1796039925688,1,0,1796039925690,1,2592000000,0,0,0,0,NULL,2,X'01a22c525fb970049f45eda544730e75',X'222a06dd2e244893a7b0e1abefcb7490',NULL,'wrk_1',1796039925688,1796039925689,600000,1796040525689,1796040825689);
INSERT INTO jobs VALUES(3,X'01a22c525fbb7d12bc617237eeedc264','retrying','default',3,0,1796039925691,1796043525694,1,1,1,20,0,5,0,0,900000,3600000,1.0,3600000,0.0,1796039925691,1,0,NULL,1,2592000000,1,9,0,0,NULL,2,X'01a22c525fbc776dbc8a802c33cf9b90',X'17ff494693a8d3ca5c923a1cbc55353f',NULL,'wrk_1',1796039925691,1796039925692,600000,1796040525692,1796040825692);
INSERT INTO jobs VALUES(4,X'01a22c525fbf7edab30c92a830e5f73c','again','default',1,0,1796039925695,1796039925708,2,0,1,20,0,5,0,0,900000,5000,2.0,3600000,0.2000000000000000111,1796039925708,NULL,0,NULL,1,2592000000,1,12,0,0,NULL,2,X'01a22c525fc07540a94989b07dc0c649',X'b63964972cfbff393e5edf159a7b6535',NULL,'wrk_1',1796039925695,1796039925696,600000,1796040525696,1796040825696);
INSERT INTO jobs VALUES(5,X'01a22c525fd07c62a6c3ea28119906c2','cancelled','default',6,0,1796039925712,1796039925712,1,0,0,20,0,5,0,0,900000,5000,2.0,3600000,0.2000000000000000111,1796039925712,NULL,0,1796039925713,1,2592000000,0,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO jobs VALUES(7,X'01a22c525fd5705ab8b05581b82e7b8f','scheduled','default',0,0,1796039925717,1796043525717,1,0,0,20,0,5,0,0,900000,5000,2.0,3600000,0.2000000000000000111,1796043525717,NULL,0,NULL,1,2592000000,0,0,0,0,NULL,NULL,X'0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO jobs VALUES(8,X'01a22c525fd77c1aad0a7748a6200f9b','held','held',1,0,1796039925719,1796039925719,1,0,0,20,0,5,0,0,900000,5000,2.0,3600000,0.2000000000000000111,1796039925719,NULL,0,NULL,0,2592000000,0,0,0,0,NULL,NULL,X'0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO jobs VALUES(9,X'01a22c525fd872afa34b5e48338eab8c','remembered','default',1,7,1796039925720,1796039925720,1,0,0,20,0,5,0,0,900000,5000,2.0,3600000,0.2000000000000000111,1796039925720,NULL,0,NULL,0,2592000000,0,0,0,0,NULL,NULL,X'0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO jobs VALUES(10,X'01a22c525fd97978a11d0ce07434b626','running','default',2,0,1796039925721,1796039925721,1,1,1,20,0,5,0,0,900000,5000,2.0,3600000,0.2000000000000000111,1796039925721,NULL,0,NULL,1,2592000000,1,11,0,0,NULL,0,X'01a22c525fda71e5be9bff28403b6113',X'42e158ee8fa53d4b3ca82b1e574a5326',NULL,'wrk_1',1796039925721,1796039925722,600000,1796040525722,1796040825722);
CREATE TABLE bodies (
    seq             INTEGER PRIMARY KEY,
    tags            TEXT,
    traceparent     TEXT,
    idempotency_key TEXT,
    rerun_of        BLOB,
    payload         TEXT NOT NULL
) STRICT;
INSERT INTO bodies VALUES(1,NULL,NULL,'completed',NULL,'{"none":null,"numbers":[1,2.5,-0.0,1e+300],"text":"é😀\n"}');
INSERT INTO bodies VALUES(2,NULL,NULL,'failed',NULL,'{"none":null,"numbers":[1,2.5,-0.0,1e+300],"text":"é😀\n"}');
INSERT INTO bodies VALUES(3,NULL,NULL,'retrying',NULL,'{"none":null,"numbers":[1,2.5,-0.0,1e+300],"text":"é😀\n"}');
INSERT INTO bodies VALUES(4,NULL,NULL,'again',NULL,'{"none":null,"numbers":[1,2.5,-0.0,1e+300],"text":"é😀\n"}');
INSERT INTO bodies VALUES(5,NULL,NULL,'cancelled',NULL,'{"none":null,"numbers":[1,2.5,-0.0,1e+300],"text":"é😀\n"}');
INSERT INTO bodies VALUES(7,NULL,NULL,'scheduled',NULL,'{"none":null,"numbers":[1,2.5,-0.0,1e+300],"text":"é😀\n"}');
INSERT INTO bodies VALUES(8,replace('a:1\nb','\n',char(10)),NULL,NULL,NULL,'null');
INSERT INTO bodies VALUES(9,NULL,NULL,NULL,NULL,'null');
INSERT INTO bodies VALUES(10,NULL,NULL,'running',NULL,'{"none":null,"numbers":[1,2.5,-0.0,1e+300],"text":"é😀\n"}');
CREATE TABLE results (
    seq    INTEGER PRIMARY KEY,
    result TEXT NOT NULL
) STRICT;
INSERT INTO results VALUES(1,'{"done":[{"none":null,"numbers":[1,2.5,-0.0,1e+300],"text":"é😀\n"}]}');
CREATE TABLE attempts (
    seq            INTEGER NOT NULL,
    number         INTEGER NOT NULL,
    id             BLOB    NOT NULL,
    token          BLOB    NOT NULL,
    life           INTEGER NOT NULL,
    attempt        INTEGER NOT NULL,
    state          INTEGER NOT NULL,
    worker         TEXT    NOT NULL,
    queued_at      INTEGER NOT NULL,
    started_at     INTEGER NOT NULL,
    finished_at    INTEGER,
    retry_delay_ms INTEGER,
    retry_reason   INTEGER,
    report         INTEGER,
    result         BLOB,
    state_after    INTEGER NOT NULL,
    error_type     TEXT,
    error_kind     TEXT,
    error_message  TEXT,
    error_stack    TEXT,
    PRIMARY KEY (seq, number)
) STRICT, WITHOUT ROWID;
INSERT INTO attempts VALUES(2,1,X'01a22c525fb970049f45eda544730e75',X'222a06dd2e244893a7b0e1abefcb7490',1,1,2,'wrk_1',1796039925688,1796039925689,1796039925690,NULL,NULL,1,NULL,5,'E','non_retryable','m',NULL);
INSERT INTO attempts VALUES(3,1,X'01a22c525fbc776dbc8a802c33cf9b90',X'17ff494693a8d3ca5c923a1cbc55353f',1,1,2,'wrk_1',1796039925691,1796039925692,1796039925694,3600000,0,1,NULL,3,'E','error','m',NULL);
INSERT INTO attempts VALUES(4,1,X'01a22c525fc07540a94989b07dc0c649',X'b63964972cfbff393e5edf159a7b6535',1,1,2,'wrk_1',1796039925695,1796039925696,1796039925698,NULL,NULL,1,NULL,5,'E','non_retryable','m',NULL);
CREATE TABLE checkpoints (
    seq        INTEGER NOT NULL,
    position   INTEGER NOT NULL,
    name       TEXT    NOT NULL,
    life       INTEGER NOT NULL,
    attempt    INTEGER NOT NULL,
    start      INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    value      TEXT    NOT NULL,
    PRIMARY KEY (seq, position)
) STRICT, WITHOUT ROWID;
INSERT INTO checkpoints VALUES(3,0,'half',1,1,1,1796039925693,'{"at":50}');
INSERT INTO checkpoints VALUES(4,0,'kept',1,1,1,1796039925697,'"over lives"');
INSERT INTO checkpoints VALUES(10,0,'begun',1,1,1,1796039925724,'{"pages":3}');
CREATE TABLE keys (
    task        TEXT    NOT NULL,
    key         TEXT    NOT NULL,
    job_id      BLOB    NOT NULL,
    fingerprint BLOB    NOT NULL,
    algorithm   INTEGER NOT NULL,
    seq         INTEGER,
    queue       TEXT,
    state       INTEGER,
    created_at  INTEGER,
    finished_at INTEGER,
    expires_at  INTEGER,
    PRIMARY KEY (task, key),
    CHECK ((seq IS NULL) = (expires_at IS NOT NULL))
) STRICT, WITHOUT ROWID;
INSERT INTO keys VALUES('again','again',X'01a22c525fbf7edab30c92a830e5f73c',X'385166e0d04fcecbc93d94e903f662f5bd41d7e752d2c36d9f9e031226552e2d',1,4,NULL,NULL,NULL,NULL,NULL);
INSERT INTO keys VALUES('cancelled','cancelled',X'01a22c525fd07c62a6c3ea28119906c2',X'385166e0d04fcecbc93d94e903f662f5bd41d7e752d2c36d9f9e031226552e2d',1,5,NULL,NULL,NULL,NULL,NULL);
INSERT INTO keys VALUES('completed','completed',X'01a22c525fa27231a7ebf9acee795664',X'385166e0d04fcecbc93d94e903f662f5bd41d7e752d2c36d9f9e031226552e2d',1,1,NULL,NULL,NULL,NULL,NULL);
INSERT INTO keys VALUES('failed','failed',X'01a22c525fb87818be1b67a4b9ac6bbb',X'385166e0d04fcecbc93d94e903f662f5bd41d7e752d2c36d9f9e031226552e2d',1,2,NULL,NULL,NULL,NULL,NULL);
INSERT INTO keys VALUES('gone','gone',X'01a22c525fd2720e97304277d294aca1',X'385166e0d04fcecbc93d94e903f662f5bd41d7e752d2c36d9f9e031226552e2d',1,NULL,'default',4,1796039925714,1796039925716,1798631925716);
INSERT INTO keys VALUES('retrying','retrying',X'01a22c525fbb7d12bc617237eeedc264',X'385166e0d04fcecbc93d94e903f662f5bd41d7e752d2c36d9f9e031226552e2d',1,3,NULL,NULL,NULL,NULL,NULL);
INSERT INTO keys VALUES('running','running',X'01a22c525fd97978a11d0ce07434b626',X'385166e0d04fcecbc93d94e903f662f5bd41d7e752d2c36d9f9e031226552e2d',1,10,NULL,NULL,NULL,NULL,NULL);
INSERT INTO keys VALUES('scheduled','scheduled',X'01a22c525fd5705ab8b05581b82e7b8f',X'385166e0d04fcecbc93d94e903f662f5bd41d7e752d2c36d9f9e031226552e2d',1,7,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE requests (
    scope      TEXT    NOT NULL,
    value      TEXT    NOT NULL,
    body       BLOB    NOT NULL,
    expires_at INTEGER NOT NULL,
    results    TEXT    NOT NULL,
    PRIMARY KEY (scope, value)
) STRICT, WITHOUT ROWID;
INSERT INTO requests VALUES('POST /v1/jobs','once',X'3b4befa52fd539b6d1133cf9c7df1ebedd6feac26067dea3582ed2b36814845b',1796126325720,'[{"job":"job_01m8p54qyreaqt6jty90srxawc"}]');
CREATE TABLE counters (
    queue TEXT    NOT NULL,
    task  TEXT    NOT NULL,
    state INTEGER NOT NULL,
    jobs  INTEGER NOT NULL CHECK (jobs >= 0),
    PRIMARY KEY (queue, task, state)
) STRICT, WITHOUT ROWID;
INSERT INTO counters VALUES('default','again',1,1);
INSERT INTO counters VALUES('default','cancelled',6,1);
INSERT INTO counters VALUES('default','completed',4,1);
INSERT INTO counters VALUES('default','failed',5,1);
INSERT INTO counters VALUES('default','remembered',1,1);
INSERT INTO counters VALUES('default','retrying',3,1);
INSERT INTO counters VALUES('default','running',2,1);
INSERT INTO counters VALUES('default','scheduled',0,1);
INSERT INTO counters VALUES('held','held',1,1);
CREATE TABLE queues (
    name   TEXT    PRIMARY KEY,
    paused INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO queues VALUES('held',1);
CREATE TABLE totals (
    created          INTEGER NOT NULL DEFAULT 0,
    replayed         INTEGER NOT NULL DEFAULT 0,
    keys_refused     INTEGER NOT NULL DEFAULT 0,
    completed        INTEGER NOT NULL DEFAULT 0,
    failed           INTEGER NOT NULL DEFAULT 0,
    cancelled        INTEGER NOT NULL DEFAULT 0,
    retried          INTEGER NOT NULL DEFAULT 0,
    leases_lost      INTEGER NOT NULL DEFAULT 0,
    timed_out        INTEGER NOT NULL DEFAULT 0,
    reports_rejected INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO totals VALUES(10,0,0,2,2,1,1,0,0,0);
CREATE TABLE minutes (
    at        INTEGER PRIMARY KEY,
    created   INTEGER NOT NULL,
    completed INTEGER NOT NULL,
    failed    INTEGER NOT NULL
) STRICT;
INSERT INTO minutes VALUES(1796039880000,10,2,2);
CREATE TABLE stamp (at INTEGER NOT NULL) STRICT;
INSERT INTO stamp VALUES(1796039925665);
CREATE UNIQUE INDEX jobs_id ON jobs (id);
CREATE INDEX jobs_ready ON jobs (queue, task, priority DESC, run_at) WHERE state = 1;
CREATE INDEX jobs_due ON jobs (run_at) WHERE state IN (0, 3);
CREATE INDEX jobs_lease ON jobs (expires_at) WHERE state = 2;
CREATE INDEX jobs_ended ON jobs (state, finished_at) WHERE state >= 4;
CREATE INDEX jobs_unhappy ON jobs (state) WHERE state IN (5, 6);
CREATE UNIQUE INDEX checkpoints_name ON checkpoints (seq, name);
CREATE INDEX keys_expiry ON keys (expires_at, job_id) WHERE seq IS NULL;
CREATE INDEX keys_job ON keys (job_id) WHERE seq IS NULL;
CREATE INDEX requests_expiry ON requests (expires_at);
COMMIT;
