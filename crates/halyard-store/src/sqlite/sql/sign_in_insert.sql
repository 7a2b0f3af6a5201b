INSERT INTO sign_ins VALUES (?1, ?2, ?3)
