-- The row stays after a resume, so that a repeated resume finds the queue.
INSERT INTO queues VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET paused = excluded.paused
