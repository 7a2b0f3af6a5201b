SELECT checksum FROM halyard.migrations ORDER BY number
