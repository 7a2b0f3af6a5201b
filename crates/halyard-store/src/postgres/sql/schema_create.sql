-- `halyard` stands for the schema's own name.
CREATE SCHEMA halyard
