-- The transaction's number, by which its outcome can be asked for on another connection.
SELECT pg_current_xact_id_if_assigned()::text
