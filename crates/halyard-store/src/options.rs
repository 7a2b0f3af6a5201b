//! What every store is opened with.

use std::fmt;
use std::sync::Arc;

use crate::OnChange;
use crate::clock::{Clock, SystemClock};

/// What every store is opened with, whatever it keeps its jobs in.
#[derive(Clone)]
pub struct Options {
    /// Gives the time.
    pub clock: Arc<dyn Clock>,
    /// Hears of every committed change.
    pub on_change: OnChange,
}

impl Default for Options {
    /// The system's clock, and nobody who listens.
    fn default() -> Self {
        Self { clock: Arc::new(SystemClock::start()), on_change: Arc::new(|_| {}) }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Options(…)")
    }
}
