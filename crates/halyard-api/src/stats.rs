//! `GET /v1/stats`: counters of the whole store.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Timestamp;
use crate::job::Counts;

/// Counters by state, totals since the store was made, and the last 24 hours by minute.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Stats {
    /// The jobs in the store by state.
    pub counts: Counts,
    /// What happened so far.
    pub totals: Totals,
    /// What happened in each minute of the last 24 hours, oldest first.
    pub minutes: Vec<Minute>,
}

/// What happened so far, as counters that only grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Totals {
    /// Jobs created.
    pub created: u64,
    /// Creates answered with a job that was there already.
    pub replayed: u64,
    /// Creates refused because their key was used with another payload.
    pub keys_refused: u64,
    /// Lives that completed.
    pub completed: u64,
    /// Lives that failed.
    pub failed: u64,
    /// Lives that were cancelled.
    pub cancelled: u64,
    /// Lives opened by a retry.
    pub retried: u64,
    /// Starts whose lease ran out without a report.
    pub leases_lost: u64,
    /// Starts that passed their deadline.
    pub timed_out: u64,
    /// Worker calls rejected because they carried a stale token.
    pub reports_rejected: u64,
}

/// What happened in one minute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Minute {
    /// When it began.
    pub at: Timestamp,
    /// Jobs created in it.
    pub created: u64,
    /// Lives that completed in it.
    pub completed: u64,
    /// Lives that failed in it.
    pub failed: u64,
}
