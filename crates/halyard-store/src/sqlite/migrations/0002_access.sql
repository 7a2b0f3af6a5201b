-- Who may call, and what operators did.

-- Of a key only the SHA-256 of its text is kept.
CREATE TABLE api_keys (
    id           BLOB    PRIMARY KEY,
    name         TEXT    NOT NULL,
    role         TEXT    NOT NULL CHECK (role IN ('producer', 'worker', 'admin')),
    hash         BLOB    NOT NULL,
    created_at   INTEGER NOT NULL,
    last_used_at INTEGER
) STRICT, WITHOUT ROWID;

-- Browsers that have signed in: the SHA-256 of the cookie's secret, and of the key's text.
CREATE TABLE sign_ins (
    hash       BLOB    PRIMARY KEY,
    key_hash   BLOB    NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Numbers grow; the oldest lines go. `job_ids` has commas between them.
CREATE TABLE audit (
    number     INTEGER PRIMARY KEY,
    at         INTEGER NOT NULL,
    actor      TEXT    NOT NULL,
    key_id     BLOB,
    request_id TEXT    NOT NULL,
    action     TEXT    NOT NULL,
    target     TEXT,
    job_ids    TEXT    NOT NULL
) STRICT;

CREATE INDEX audit_at ON audit (at);
