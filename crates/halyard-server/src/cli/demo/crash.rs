//! Where a worker dies: a point in the middle of its work at which it tells its parent and then
//! stands still, until the parent's SIGKILL takes it.
//!
//! The points lie in what the handlers call, not in the handlers: these are the guide's own.

use super::note::Note;

/// The one point at which this worker stops; none for a worker that lives on.
#[derive(Clone, Debug, Default)]
pub(super) struct CrashPoint(Option<String>);

impl CrashPoint {
    pub(super) fn new(point: Option<String>) -> Self {
        Self(point)
    }

    /// The customer's card is charged, and nobody but the provider knows.
    pub(super) fn after_charge_of(customer: &str) -> String {
        format!("charged:{customer}")
    }

    /// A step of closing a month is about to run.
    pub(super) fn before_step(step: &str) -> String {
        format!("step:{step}")
    }

    /// Comes back at once, unless this is the point.
    pub(super) async fn reach(&self, point: &str) {
        if self.0.as_deref() == Some(point) {
            Note::Reached.send();
            std::future::pending::<()>().await;
        }
    }
}
