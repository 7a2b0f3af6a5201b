-- The row that a new store begins with, before the one that is carried takes its place.
DELETE FROM :table
