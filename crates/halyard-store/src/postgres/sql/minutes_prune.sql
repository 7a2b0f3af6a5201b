DELETE FROM halyard.minutes WHERE at <= $1
