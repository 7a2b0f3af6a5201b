UPDATE stamp SET at = ?1
