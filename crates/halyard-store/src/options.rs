//! What every store is opened with.

use std::fmt;
use std::sync::Arc;

use crate::clock::{Clock, SystemClock};
use crate::{OnChange, OnClaimable};

/// What every store is opened with, whatever it keeps its jobs in.
#[derive(Clone)]
pub struct Options {
    /// Gives the time.
    pub clock: Arc<dyn Clock>,
    /// Hears of every committed change.
    pub on_change: OnChange,
    /// Wakes waiting claims, before [`Options::on_change`] hears of the same changes.
    pub on_claimable: OnClaimable,
}

impl Default for Options {
    /// The system's clock, and nobody who listens.
    fn default() -> Self {
        Self {
            clock: Arc::new(SystemClock::start()),
            on_change: Arc::new(|_| {}),
            on_claimable: Arc::new(|_, _| 0),
        }
    }
}

/// What a server does when it cannot trust its storage, or itself, any more: it stops, and starts
/// again from what is stored.
pub(crate) fn exit_on_fatal() -> Arc<dyn Fn(&str) + Send + Sync> {
    Arc::new(|reason| {
        tracing::error!(reason, "the storage failed; stopping, so that nothing is lost");
        std::process::exit(74);
    })
}

/// Says in the log that leases were given a fresh length, so that an operator knows why jobs of
/// dead workers wait longer.
pub(crate) fn tell_of_outage(gap_ms: i64, jobs: usize) {
    if jobs > 0 {
        tracing::warn!(
            gap_ms,
            jobs,
            "no server served the store for a while; live leases began anew"
        );
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Options(…)")
    }
}
