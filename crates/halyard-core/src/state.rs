//! The words for where a job is, how a start ended, and why; each with its number in a store.

/// Where a job is on its way. The last three are terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum State {
    /// Waits for its `run_at`.
    Scheduled,
    /// May be claimed.
    Queued,
    /// One start holds it.
    Running,
    /// An attempt failed; waits for the next one.
    Retrying,
    /// Its work is done.
    Completed,
    /// No attempt is left, or none would help.
    Failed,
    /// Somebody called it off.
    Cancelled,
}

impl State {
    /// Every state, in the order of the wire's lists.
    pub const ALL: [Self; 7] = [
        Self::Scheduled,
        Self::Queued,
        Self::Running,
        Self::Retrying,
        Self::Completed,
        Self::Failed,
        Self::Cancelled,
    ];

    /// Those that a life ends in, in the order in which retention looks at them.
    pub const ENDED: [Self; 3] = [Self::Completed, Self::Failed, Self::Cancelled];

    /// The word on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Scheduled => "scheduled",
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Retrying => "retrying",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// Reads the word on the wire.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == word)
    }

    /// The number in a store: stable for ever.
    #[must_use]
    pub fn number(self) -> u8 {
        self as u8
    }

    /// Reads what [`State::number`] gave.
    #[must_use]
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }

    /// Says whether a life that is in this state has ended.
    #[must_use]
    pub fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

/// How one start stands, or ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StartState {
    /// Its worker holds the lease.
    Running,
    /// Its worker reported success.
    Completed,
    /// Its worker reported failure, or a result that cannot be kept.
    Failed,
    /// It reached its deadline.
    TimedOut,
    /// Its lease lapsed before the deadline: a crash.
    Lost,
    /// Its worker gave the job back.
    Released,
    /// Its handler asked for a later time.
    Snoozed,
    /// Its handler stopped because a cancel was requested.
    Cancelled,
}

impl StartState {
    const ALL: [Self; 8] = [
        Self::Running,
        Self::Completed,
        Self::Failed,
        Self::TimedOut,
        Self::Lost,
        Self::Released,
        Self::Snoozed,
        Self::Cancelled,
    ];

    /// The word on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::TimedOut => "timed_out",
            Self::Lost => "lost",
            Self::Released => "released",
            Self::Snoozed => "snoozed",
            Self::Cancelled => "cancelled",
        }
    }

    /// The number in a store: stable for ever.
    #[must_use]
    pub fn number(self) -> u8 {
        self as u8
    }

    /// Reads what [`StartState::number`] gave.
    #[must_use]
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }
}

/// What a worker said of its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReportKind {
    /// The work is done.
    Completed,
    /// The work failed.
    Failed,
    /// The worker gives the job back.
    Released,
    /// The handler asks for a later time.
    Snoozed,
    /// The handler stopped on request.
    Cancelled,
}

impl ReportKind {
    const ALL: [Self; 5] =
        [Self::Completed, Self::Failed, Self::Released, Self::Snoozed, Self::Cancelled];

    /// The word on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Released => "released",
            Self::Snoozed => "snoozed",
            Self::Cancelled => "cancelled",
        }
    }

    /// The number in a store: stable for ever.
    #[must_use]
    pub fn number(self) -> u8 {
        self as u8
    }

    /// Reads what [`ReportKind::number`] gave.
    #[must_use]
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }
}

/// Why the next attempt is when it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RetryReason {
    /// The job's own backoff.
    Backoff,
    /// The worker named a later time.
    RetryAfter,
    /// Its worker crashed: spread, so that neighbours part.
    Crash,
}

impl RetryReason {
    const ALL: [Self; 3] = [Self::Backoff, Self::RetryAfter, Self::Crash];

    /// The word on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Backoff => "backoff",
            Self::RetryAfter => "retry_after",
            Self::Crash => "crash",
        }
    }

    /// The number in a store: stable for ever.
    #[must_use]
    pub fn number(self) -> u8 {
        self as u8
    }

    /// Reads what [`RetryReason::number`] gave.
    #[must_use]
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }
}
