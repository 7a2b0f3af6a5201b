SELECT name, paused FROM halyard.queues
