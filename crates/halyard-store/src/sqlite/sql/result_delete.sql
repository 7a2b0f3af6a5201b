DELETE FROM results WHERE seq = ?1
