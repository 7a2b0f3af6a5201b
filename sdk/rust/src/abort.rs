//! Why a handler must stop, and how it learns of it.

use std::fmt;

use tokio::sync::watch;

use crate::error::Error;

/// Why a handler must not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AbortReason {
    /// The lease is lost, or could not be renewed before it ended: another worker may run the job
    /// by now. What the handler returns is thrown away.
    LeaseLost,
    /// The job's `timeout` has passed. What the handler returns is thrown away.
    TimedOut,
    /// Somebody asked for the job to be cancelled, which is reported as soon as the handler ends.
    Cancelled,
    /// The worker ends and the time it gives its handlers is up; the job is given back.
    WorkerStopped,
}

impl fmt::Display for AbortReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::LeaseLost => "its lease is lost",
            Self::TimedOut => "its time is up",
            Self::Cancelled => "it was cancelled",
            Self::WorkerStopped => "its worker ends",
        })
    }
}

/// Tells a handler that it must stop. Copies tell the same.
#[derive(Clone, Debug)]
pub struct Signal {
    reason: watch::Receiver<Option<AbortReason>>,
}

impl Signal {
    /// Why the handler must stop; `None` while it may go on.
    pub fn reason(&self) -> Option<AbortReason> {
        *self.reason.borrow()
    }

    /// [`Error::Aborted`] once the handler must stop, for `?` in a long loop.
    ///
    /// # Errors
    ///
    /// The reason.
    pub fn check(&self) -> Result<(), Error> {
        self.reason().map_or(Ok(()), |reason| Err(Error::Aborted(reason)))
    }

    /// Waits until the handler must stop; for `tokio::select!`. Never ends otherwise.
    pub async fn aborted(&self) -> AbortReason {
        let mut reason = self.reason.clone();
        if let Ok(reason) = reason.wait_for(Option::is_some).await
            && let Some(reason) = *reason
        {
            return reason;
        }
        // Whoever could have aborted the handler is gone.
        std::future::pending().await
    }
}

/// The end of a [`Signal`] that the worker holds.
#[derive(Debug)]
pub(crate) struct Aborter {
    reason: watch::Sender<Option<AbortReason>>,
}

impl Aborter {
    pub(crate) fn new() -> (Self, Signal) {
        let (sender, receiver) = watch::channel(None);
        (Self { reason: sender }, Signal { reason: receiver })
    }

    /// Sets the reason; the first one stands.
    pub(crate) fn abort(&self, reason: AbortReason) {
        self.reason.send_if_modified(|current| {
            let first = current.is_none();
            if first {
                *current = Some(reason);
            }
            first
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_first_reason_stands() {
        let (aborter, signal) = Aborter::new();
        assert_eq!(signal.reason(), None);
        assert!(signal.check().is_ok());
        let other = signal.clone();
        let waiting = tokio::spawn(async move { other.aborted().await });
        aborter.abort(AbortReason::Cancelled);
        aborter.abort(AbortReason::LeaseLost);
        assert_eq!(waiting.await.ok(), Some(AbortReason::Cancelled));
        assert!(matches!(signal.check(), Err(Error::Aborted(AbortReason::Cancelled))));
    }
}
