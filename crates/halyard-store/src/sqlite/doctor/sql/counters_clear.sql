DELETE FROM counters
