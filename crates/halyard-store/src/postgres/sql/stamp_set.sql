UPDATE halyard.stamp SET at = greatest(at, $1)
