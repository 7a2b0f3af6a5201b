CREATE TABLE IF NOT EXISTS migrations (
    number   INTEGER PRIMARY KEY,
    name     TEXT NOT NULL,
    checksum BLOB NOT NULL
) STRICT
