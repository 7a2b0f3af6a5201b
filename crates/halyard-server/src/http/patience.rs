//! How long a client is waited for.

use std::time::Duration;

/// How long a client is waited for before its connection is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// For the head of a request, from its first byte, or from connecting.
    pub head: Duration,
    /// For another request, when no call is under way.
    pub idle: Duration,
    /// For a whole body.
    pub body: Duration,
    /// For a client that reads nothing of its answer.
    pub stall: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            head: Duration::from_secs(10),
            idle: Duration::from_secs(75),
            body: Duration::from_secs(30),
            stall: Duration::from_secs(30),
        }
    }
}
