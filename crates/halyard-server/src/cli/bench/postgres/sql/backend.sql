-- Which process this is, and whether it is known to run on this machine.
SELECT pg_backend_pid(), coalesce(host(inet_server_addr()) = host(inet_client_addr()), true)
