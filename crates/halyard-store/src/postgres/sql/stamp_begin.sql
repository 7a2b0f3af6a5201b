-- A new store begins with a stamp of its opening.
UPDATE halyard.stamp SET at = $1 WHERE at = 0
