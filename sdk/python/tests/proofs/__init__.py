"""`prove_idempotent` finds every mistake of the shared list, and nothing in the mended twins."""
