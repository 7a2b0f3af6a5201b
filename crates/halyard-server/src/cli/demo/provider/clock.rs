//! The provider's clock: the system's, plus what a test moved it ahead.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

#[derive(Debug, Default)]
pub(super) struct Clock {
    ahead_ms: AtomicU64,
}

impl Clock {
    /// Milliseconds since 1970.
    pub(super) fn now_ms(&self) -> u64 {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let system_ms = u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX);
        system_ms.saturating_add(self.ahead_ms.load(Ordering::Relaxed))
    }

    pub(super) fn advance(&self, ms: u64) {
        let add = |ahead: u64| Some(ahead.saturating_add(ms));
        // The closure never refuses, so there is no error to look at.
        let _ = self.ahead_ms.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
    }
}
