DELETE FROM queues WHERE name = ?1
