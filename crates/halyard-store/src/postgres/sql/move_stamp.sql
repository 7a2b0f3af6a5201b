-- When this store was last served, and how long ago that is by the clock that wrote it. A new
-- schema has 0 there.
SELECT at, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint - at FROM halyard.stamp
