-- A mark in the session, by which a transaction finds out whether it runs in the session that its
-- connection had before.
SELECT set_config('halyard_server.session', gen_random_uuid()::text, false)
