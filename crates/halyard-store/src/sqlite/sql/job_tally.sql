UPDATE jobs SET replays = replays + ?2, rejected = rejected + ?3 WHERE seq = ?1
