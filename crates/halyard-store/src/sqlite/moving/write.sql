-- One row, as it was.
INSERT INTO :table (:columns) VALUES (:values)
