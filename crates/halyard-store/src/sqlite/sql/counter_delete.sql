DELETE FROM counters WHERE queue = ?1 AND task = ?2 AND state = ?3
