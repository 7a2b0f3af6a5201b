INSERT INTO halyard.totals VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
ON CONFLICT (slot) DO UPDATE SET
    created = totals.created + excluded.created, replayed = totals.replayed + excluded.replayed,
    keys_refused = totals.keys_refused + excluded.keys_refused,
    completed = totals.completed + excluded.completed, failed = totals.failed + excluded.failed,
    cancelled = totals.cancelled + excluded.cancelled, retried = totals.retried + excluded.retried,
    leases_lost = totals.leases_lost + excluded.leases_lost,
    timed_out = totals.timed_out + excluded.timed_out,
    reports_rejected = totals.reports_rejected + excluded.reports_rejected
