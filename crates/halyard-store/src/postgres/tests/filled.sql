-- A store of 30,000 jobs: every tenth of the older half failed, the newest 400 wait, are due later
-- or run, the rest are done. `autovacuum` keeps off, so that statistics come when a test says so.
ALTER TABLE halyard.jobs SET (autovacuum_enabled = false);
ALTER TABLE halyard.bodies SET (autovacuum_enabled = false);
ALTER TABLE halyard.attempts SET (autovacuum_enabled = false);
ALTER TABLE halyard.checkpoints SET (autovacuum_enabled = false);
ALTER TABLE halyard.results SET (autovacuum_enabled = false);
ALTER TABLE halyard.keys SET (autovacuum_enabled = false);
ALTER TABLE halyard.counters SET (autovacuum_enabled = false);
ALTER TABLE halyard.audit SET (autovacuum_enabled = false);

INSERT INTO halyard.jobs
SELECT n, lpad(to_hex(n), 32, '0')::uuid, 'task' || n % 3, 'queue' || n % 5, state, n % 2,
    1000 * n, 1000 * n, 1, (state >= 4)::int, (state >= 2)::int, 20, 0, 5, 0, 0, 60000, 1000, 2,
    60000, 0, 1000 * n, CASE WHEN state = 5 THEN 1 END, false,
    CASE WHEN state >= 4 THEN 1000 * n + 5 END, n % 100 = 0, 86300000, 0, 0, 0, 0, NULL,
    CASE state WHEN 2 THEN 0 WHEN 4 THEN 1 WHEN 5 THEN 2 END, gen_random_uuid(), gen_random_uuid(),
    NULL, 'worker' || n % 7, 1000 * n, 1000 * n, 30000, 1000 * n + 30000, 1000 * n + 60000
FROM (
    SELECT n, CASE
        WHEN n > 29600 THEN (n % 3)::smallint
        WHEN n < 15000 AND n % 10 = 0 THEN 5
        ELSE 4
    END AS state FROM generate_series(1, 30000) AS n
) AS made;

INSERT INTO halyard.bodies
SELECT n, lpad(to_hex(n), 32, '0')::uuid, CASE WHEN n % 1000 = 0 THEN 'rare' || chr(10) || 'x' END,
    NULL, CASE WHEN n % 100 = 0 THEN 'key' || n END, NULL, repeat('{}', 100)
FROM generate_series(1, 30000) AS n;

INSERT INTO halyard.attempts
SELECT seq, 1, gen_random_uuid(), gen_random_uuid(), 1, 1, 2, worker, queued_at, started_at,
    finished_at, NULL, NULL, 1, NULL, 5, 'Broken', 'error', 'it broke', NULL
FROM halyard.jobs WHERE state = 5;

INSERT INTO halyard.keys
SELECT task, 'key' || seq, id, '\x00', 1, seq FROM halyard.jobs WHERE holds_key;

INSERT INTO halyard.counters
SELECT slot, queue, task, state, count(*) FROM halyard.jobs, generate_series(1, 1) AS slot
GROUP BY slot, queue, task, state;
-- Another slot's part of the same, below zero where the first one's is above.
INSERT INTO halyard.counters SELECT 2, queue, task, state, -3 FROM halyard.counters WHERE slot = 1;
INSERT INTO halyard.counters SELECT 3, queue, task, state, 3 FROM halyard.counters WHERE slot = 1;
INSERT INTO halyard.counters VALUES (1, 'gone', 'gone', 4, 2), (2, 'gone', 'gone', 4, -2);
INSERT INTO halyard.queues VALUES ('queue1', true), ('idle', false);
INSERT INTO halyard.minutes SELECT 1, 60000 * n, 1, 2, 3 FROM generate_series(1, 2000) AS n;
INSERT INTO halyard.checkpoints
SELECT n, 1, 'one', 1, 1, 1, 1000 * n, '1' FROM generate_series(1, 30000, 2) AS n;
INSERT INTO halyard.results SELECT n, '{}' FROM generate_series(1, 30000, 2) AS n;

INSERT INTO halyard.audit (at, actor, request_id, action, job_ids)
SELECT 1000 * n, 'actor', 'req', 'cancel', 'job_' || n FROM generate_series(1, 30000) AS n;
