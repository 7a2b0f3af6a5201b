SELECT checksum FROM migrations ORDER BY number
