//! How long a caller waits, whatever the database does.
//!
//! One that stands still, or whose commits wait for a standby that is away, answers nobody. The
//! lanes wait for it: what they have begun may yet be done, and another connection would fare no
//! better. Callers do not: they are told in time that nobody knows. A call that no lane has begun
//! by then never will be, and what it carries is let go of at once, also when its caller has gone.

use std::time::Duration;

use tokio::sync::oneshot;

use super::Trouble;
use super::call::Call;
use super::lanes::stopped;
use crate::Answer;

/// How long a call that changes something waits for its answer: less than clients do, and long
/// enough for a call beside one whose job a stranger has locked.
pub const ANSWER_MAX: Duration = Duration::from_secs(20);

/// A call on its way to a lane.
pub(super) type Ticket = crate::ticket::Ticket<dyn Call>;

impl Ticket {
    /// Waits for the answer.
    ///
    /// # Errors
    /// The call's own, or that there was no answer in time.
    pub(super) async fn answered<T>(self, answer: oneshot::Receiver<Answer<T>>) -> Answer<T> {
        let _caller = self.caller();
        match tokio::time::timeout(ANSWER_MAX, answer).await {
            Ok(answer) => answer.unwrap_or_else(|_| Err(stopped())),
            Err(_) => Err(Trouble::TooSlow(ANSWER_MAX).into()),
        }
    }
}
