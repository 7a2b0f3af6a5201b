-- The same where each server counts in a slot of its own: all of it comes into one.
INSERT INTO halyard.:table (slot, :columns) SELECT 0, * FROM unnest(:parameters)
