-- A bounded number of freed pages at a time: a row for each, which is freed when that is asked for.
PRAGMA incremental_vacuum(256)
