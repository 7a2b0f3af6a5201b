SELECT result FROM results WHERE seq = ?1
