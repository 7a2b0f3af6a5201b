SELECT name, paused FROM queues
