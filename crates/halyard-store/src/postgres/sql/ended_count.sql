SELECT coalesce(sum(jobs), 0)::bigint FROM halyard.counters WHERE state >= 4
