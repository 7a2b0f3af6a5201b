-- A planted bug: the table of keys as it is, but nothing keeps a key from standing there twice.
ALTER TABLE keys RENAME TO keys_once;
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
    expires_at  INTEGER
) STRICT;
INSERT INTO keys SELECT * FROM keys_once;
DROP TABLE keys_once;
CREATE INDEX keys_name ON keys (task, key);
CREATE INDEX keys_expiry ON keys (expires_at, job_id) WHERE seq IS NULL;
CREATE INDEX keys_job ON keys (job_id) WHERE seq IS NULL;
