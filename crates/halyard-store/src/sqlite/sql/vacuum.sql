-- A bounded number of freed pages at a time.
PRAGMA incremental_vacuum(256)
