CREATE TABLE halyard.migrations (
    number   bigint PRIMARY KEY,
    name     text   NOT NULL,
    checksum bytea  NOT NULL
)
