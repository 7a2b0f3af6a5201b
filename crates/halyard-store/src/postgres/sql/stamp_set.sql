UPDATE halyard.stamp SET at = $1
