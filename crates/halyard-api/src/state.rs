//! The words of the API that come from closed lists.
//!
//! Each is written in `snake_case`. `word_list!` gives every list its three ways: to a word, from a
//! word, and all of them in the order of the documentation. (The words stand beside serde's
//! `rename_all`, because the schema's derive does not see a `rename` that a macro hands in; a test
//! holds the two together.)

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Defines an enum of wire words and gives it `ALL`, `as_str` and `from_word`.
macro_rules! word_list {
    ($(#[$meta:meta])* pub enum $name:ident {
        $($(#[$variant_meta:meta])* $variant:ident = $word:literal,)+
    }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum $name {
            $($(#[$variant_meta])* $variant,)+
        }

        impl $name {
            /// Every word of the list.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Every word of the list as it is written.
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            /// The word as it is written on the wire.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }

            /// The member of the list that is written as `word`, if there is one.
            pub fn from_word(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.pad(self.as_str())
            }
        }
    };
}
pub(crate) use word_list;

word_list! {
    /// Where a job stands. `completed`, `failed` and `cancelled` are terminal: they end a life.
    pub enum State {
        /// Waits for its `run_at`.
        Scheduled = "scheduled",
        /// Due, waits for a worker.
        Queued = "queued",
        /// Held by a worker under a lease.
        Running = "running",
        /// A start ended badly; waits for its next attempt at `run_at`.
        Retrying = "retrying",
        /// Ended well.
        Completed = "completed",
        /// Ended badly: not retryable, or no attempts or crashes left.
        Failed = "failed",
        /// Ended by a cancel.
        Cancelled = "cancelled",
    }
}

impl State {
    /// Whether a life ends in this state.
    pub const fn is_terminal(self) -> bool {
        match self {
            Self::Completed | Self::Failed | Self::Cancelled => true,
            Self::Scheduled | Self::Queued | Self::Running | Self::Retrying => false,
        }
    }
}

word_list! {
    /// What a key may do. Each role may do what the ones before it may.
    pub enum Role {
        /// Jobs: create, read, wait, retry, cancel, run now.
        Producer = "producer",
        /// The worker calls too.
        Worker = "worker",
        /// Everything.
        Admin = "admin",
    }
}

word_list! {
    /// What an operator did.
    pub enum AuditAction {
        /// Opened new lives of jobs.
        Retry = "retry",
        /// Called jobs off.
        Cancel = "cancel",
        /// Made waiting jobs claimable at once.
        RunNow = "run_now",
        /// Created the same work again.
        RunAsNew = "run_as_new",
        /// Removed jobs.
        Delete = "delete",
        /// Freed the idempotency key of a job.
        ForgetKey = "forget_key",
        /// Paused a queue.
        Pause = "pause",
        /// Let a queue go on.
        Resume = "resume",
        /// Made an API key.
        CreateKey = "create_key",
        /// Took an API key away.
        RevokeKey = "revoke_key",
        /// Signed in with a key.
        SignIn = "sign_in",
    }
}

word_list! {
    /// How a start (one claim of a job) stands or ended.
    pub enum AttemptState {
        /// Still held by its worker.
        Running = "running",
        /// Reported as done.
        Completed = "completed",
        /// Reported as failed.
        Failed = "failed",
        /// Ended at its deadline without a report.
        TimedOut = "timed_out",
        /// Ended when its lease ran out without a report: a crash.
        Lost = "lost",
        /// Given back by the worker; the attempt was refunded.
        Released = "released",
        /// Put off by the worker; the attempt was refunded.
        Snoozed = "snoozed",
        /// Reported as cancelled after a cancel was requested.
        Cancelled = "cancelled",
    }
}

word_list! {
    /// What kind of failure an error report tells of.
    pub enum ErrorKind {
        /// The handler failed and the failure is retryable.
        Error = "error",
        /// The start passed its deadline.
        Timeout = "timeout",
        /// The lease ran out without a report.
        Lost = "lost",
        /// The handler failed and said that a retry is useless.
        NonRetryable = "non_retryable",
    }
}

word_list! {
    /// Why a job that is retrying waits as long as it does.
    pub enum RetryReason {
        /// The job's own backoff.
        Backoff = "backoff",
        /// The worker asked for at least this delay.
        RetryAfter = "retry_after",
        /// The backoff after a crash, which is spread more widely.
        Crash = "crash",
    }
}

word_list! {
    /// What a duplicate create gets when the key's job has failed or was cancelled.
    pub enum IfFailed {
        /// The job as it is.
        Return = "return",
        /// A failed job is retried: same id, checkpoints kept, a new life.
        Retry = "retry",
        /// A new job takes the key from the failed or cancelled one.
        Replace = "replace",
    }
}

word_list! {
    /// What a worker reports about a start.
    pub enum Outcome {
        /// The handler returned.
        Completed = "completed",
        /// The handler failed.
        Failed = "failed",
        /// The worker gives the job back unstarted or unfinished.
        Released = "released",
        /// The worker puts the job off.
        Snoozed = "snoozed",
        /// The handler stopped because a cancel was requested.
        Cancelled = "cancelled",
    }
}

word_list! {
    /// What a bulk call does to each job.
    pub enum BulkAction {
        /// As `POST /v1/jobs/{id}/retry`.
        Retry = "retry",
        /// As `POST /v1/jobs/{id}/cancel`.
        Cancel = "cancel",
        /// As `DELETE /v1/jobs/{id}`.
        Delete = "delete",
        /// As `POST /v1/jobs/{id}/run-now`.
        RunNow = "run_now",
    }
}

word_list! {
    /// The order of a list by time of creation.
    pub enum Order {
        /// Oldest first.
        Asc = "asc",
        /// Newest first, the default.
        Desc = "desc",
    }
}
