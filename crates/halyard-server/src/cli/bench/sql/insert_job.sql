-- A queued job as a create writes it, at the time of its number.
INSERT INTO jobs VALUES (
    ?1, ?2, ?3, ?4, 1, 0, 1764000000000 + ?1, 1764000000000 + ?1, 1, 0, 0, 20, 0, 5, 0, 0, 900000,
    5000, 2.0, 3600000, 0.2, 1764000000000 + ?1, NULL, 0, NULL, ?5, 2592000000, 0, 0, 0, 0, NULL,
    NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
)
