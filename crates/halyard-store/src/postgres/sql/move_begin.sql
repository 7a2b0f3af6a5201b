-- One transaction, which takes the time that it needs but does not wait long for others. A server
-- that comes meanwhile cannot write.
SET LOCAL statement_timeout = 0;
SET LOCAL idle_in_transaction_session_timeout = 0;
SET LOCAL synchronous_commit = on;
SET LOCAL lock_timeout = '5s';
LOCK TABLE :tables IN EXCLUSIVE MODE;
SET LOCAL lock_timeout = 0;
