-- Rows as they were, an array for each column.
INSERT INTO halyard.:table (:columns) SELECT * FROM unnest(:parameters)
