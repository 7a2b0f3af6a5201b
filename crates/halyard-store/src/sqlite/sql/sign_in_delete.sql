DELETE FROM sign_ins WHERE hash = ?1
