UPDATE jobs SET replays = replays + ?2, rejected = rejected + ?3 WHERE id = ?1
