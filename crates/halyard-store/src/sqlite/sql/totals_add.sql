UPDATE totals SET
    created = created + ?1, replayed = replayed + ?2, keys_refused = keys_refused + ?3,
    completed = completed + ?4, failed = failed + ?5, cancelled = cancelled + ?6,
    retried = retried + ?7, leases_lost = leases_lost + ?8, timed_out = timed_out + ?9,
    reports_rejected = reports_rejected + ?10
