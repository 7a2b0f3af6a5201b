-- One server at a time, and it takes the time that it needs. The lock ends with the transaction.
SET LOCAL statement_timeout = 0;
SET LOCAL lock_timeout = 0;
SET LOCAL idle_in_transaction_session_timeout = 0;
SELECT pg_advisory_xact_lock(hashtextextended('halyard migrations', 0));
