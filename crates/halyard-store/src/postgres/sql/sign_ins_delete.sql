DELETE FROM halyard.sign_ins WHERE hash = ANY ($1)
