SELECT name FROM queues WHERE paused
