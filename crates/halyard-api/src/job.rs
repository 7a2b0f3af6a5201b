//! The job object and its parts.
//!
//! One list of members, five shapes. `job_object!` writes the members that every shape has, so
//! that no shape can forget one; a shape adds its own.
//!
//! | shape | beside the common members | answered by |
//! |---|---|---|
//! | [`JobSummary`] | – | a row of `GET /v1/jobs` |
//! | [`Job`] | `payload result backoff` | cancel, run-now, run-as-new, bulk, queues |
//! | [`JobDetail`] | those, `checkpoints attempts attempts_total` | `GET /v1/jobs/{id}` |
//! | [`CreatedJob`](crate::jobs::create::CreatedJob) | of `Job`, `replayed` … | create, batch |
//! | [`RetriedJob`](crate::jobs::retry::RetriedJob) | of `Job`, `repeated` | retry |
//! | [`ClaimedJob`](crate::jobs::claim::ClaimedJob) | `payload backoff checkpoints lease` | claim |
//!
//! There is no `#[serde(flatten)]`: it would read every value through a buffer that loses the exact
//! bytes of `payload`, `result` and checkpoint values.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::Timestamp;
use crate::state::{AttemptState, ErrorKind, RetryReason, State};

/// Defines a struct with the members that every shape of a job has, and its own after them.
macro_rules! job_object {
    ($(#[$meta:meta])* pub struct $name:ident { $($own:tt)* }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, serde::Serialize, serde::Deserialize, utoipa::ToSchema)]
        pub struct $name {
            /// `job_` and 26 characters; opaque to clients.
            pub id: String,
            /// The name of the task, which decides the handler.
            pub task: String,
            /// The queue it waits in.
            pub queue: String,
            /// Where it stands.
            pub state: $crate::state::State,
            /// −100 to 100, higher first.
            pub priority: i64,
            /// The names it was tagged with.
            pub tags: Vec<String>,
            /// W3C trace context of the create, given to the worker.
            #[schema(required)]
            pub traceparent: Option<String>,
            /// The key it was created under; `null` without one, or when it was freed.
            #[schema(required)]
            pub idempotency_key: Option<String>,
            /// When the key expires; `null` while the job is not terminal, or without a key.
            #[schema(required)]
            pub idempotency_expires_at: Option<$crate::Timestamp>,
            /// Creates answered with this job instead of a new one.
            pub replays: u64,
            /// Worker calls rejected because they carried a stale token.
            pub rejected: u64,
            /// The life it is in, from 1; a retry by hand opens the next.
            pub life: u64,
            /// The counted starts of this life, the current one included; 0 before the first.
            pub attempt: u64,
            /// All starts of all lives; it never falls.
            pub starts: u64,
            /// Attempts a life may use, 1 to 100.
            pub max_attempts: u64,
            /// Starts in a row whose lease ran out without a report.
            pub crashes: u64,
            /// Crashes in a row that fail the job, 1 to 100.
            pub max_crashes: u64,
            /// How long one start may take, in milliseconds.
            pub timeout_ms: i64,
            /// The last failed attempt's report of this life; `null` once completed.
            #[schema(required)]
            pub error: Option<$crate::job::ErrorReport>,
            /// Whether a running job was asked to stop.
            pub cancel_requested: bool,
            /// The id of the job that took its key over.
            #[schema(required)]
            pub replaced_by: Option<String>,
            /// The id of the job of which this is a new run.
            #[schema(required)]
            pub rerun_of: Option<String>,
            /// When it was created.
            pub created_at: $crate::Timestamp,
            /// When it is or was due; of a retrying or snoozed job, when it is next due.
            pub run_at: $crate::Timestamp,
            /// When the current or last start began.
            #[schema(required)]
            pub started_at: Option<$crate::Timestamp>,
            /// When this life ended.
            #[schema(required)]
            pub finished_at: Option<$crate::Timestamp>,
            $($own)*
        }
    };
}
pub(crate) use job_object;

/// Defines a shape that has all members of [`Job`], and the two conversions between them.
macro_rules! job_object_more {
    ($(#[$meta:meta])* pub struct $name:ident {
        $($(#[$own_meta:meta])* pub $own:ident: $type:ty,)+
    }) => {
        $crate::job::job_object! {
            $(#[$meta])*
            pub struct $name {
                /// The payload, the sender's bytes; `null` once the job is purged.
                #[schema(value_type = serde_json::Value, required)]
                pub payload: Option<Box<serde_json::value::RawValue>>,
                /// What the handler returned, the worker's bytes; `null` until completed.
                #[schema(value_type = serde_json::Value, required)]
                pub result: Option<Box<serde_json::value::RawValue>>,
                /// How long it waits between attempts.
                pub backoff: $crate::job::Backoff,
                $($(#[$own_meta])* pub $own: $type,)+
            }
        }

        impl $name {
            /// The job with the members that this answer adds.
            pub fn new(job: $crate::job::Job, $($own: $type),+) -> Self {
                $crate::job::job_object_move!(job => [Self] $($own,)+)
            }

            /// The job without the members that this answer adds.
            pub fn into_job(self) -> $crate::job::Job {
                $crate::job::job_object_move!(self => [$crate::job::Job])
            }
        }
    };
}
pub(crate) use job_object_more;

/// Moves the members of [`Job`] from one shape into another.
macro_rules! job_object_move {
    ($from:ident => [$($into:tt)+] $($own:tt)*) => {
        $($into)+ {
            id: $from.id,
            task: $from.task,
            queue: $from.queue,
            state: $from.state,
            priority: $from.priority,
            tags: $from.tags,
            traceparent: $from.traceparent,
            idempotency_key: $from.idempotency_key,
            idempotency_expires_at: $from.idempotency_expires_at,
            replays: $from.replays,
            rejected: $from.rejected,
            life: $from.life,
            attempt: $from.attempt,
            starts: $from.starts,
            max_attempts: $from.max_attempts,
            crashes: $from.crashes,
            max_crashes: $from.max_crashes,
            timeout_ms: $from.timeout_ms,
            error: $from.error,
            cancel_requested: $from.cancel_requested,
            replaced_by: $from.replaced_by,
            rerun_of: $from.rerun_of,
            created_at: $from.created_at,
            run_at: $from.run_at,
            started_at: $from.started_at,
            finished_at: $from.finished_at,
            payload: $from.payload,
            result: $from.result,
            backoff: $from.backoff,
            $($own)*
        }
    };
}
pub(crate) use job_object_move;

job_object! {
    /// A row of a list: a job without its bodies.
    pub struct JobSummary {}
}

job_object! {
    /// A job as most calls answer it: without its attempts and checkpoints.
    pub struct Job {
        /// The payload, the sender's bytes; `null` once the job is purged.
        #[schema(value_type = serde_json::Value, required)]
        pub payload: Option<Box<RawValue>>,
        /// What the handler returned, the worker's bytes; `null` until completed.
        #[schema(value_type = serde_json::Value, required)]
        pub result: Option<Box<RawValue>>,
        /// How long it waits between attempts.
        pub backoff: Backoff,
    }
}

job_object_more! {
    /// Everything about one job.
    pub struct JobDetail {
        /// Every checkpoint, in the order first written.
        pub checkpoints: Vec<Checkpoint>,
        /// The newest 100 starts, newest first, the running one included.
        pub attempts: Vec<Attempt>,
        /// How many starts are on record.
        pub attempts_total: u64,
    }
}

/// How long a job waits before attempt n + 1: `min(initial_ms * factor^(n-1), max_ms)`, spread by
/// `jitter` to both sides.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Backoff {
    /// The wait after the first failure, in milliseconds.
    pub initial_ms: i64,
    /// What each further failure multiplies it by.
    pub factor: f64,
    /// The longest wait, in milliseconds.
    pub max_ms: i64,
    /// The part of the wait, 0 to 1, by which chance moves it.
    pub jitter: f64,
}

/// One start of a job: one claim.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Attempt {
    /// `att_` and 26 characters.
    pub id: String,
    /// The life it belongs to.
    pub life: u64,
    /// Its number among the counted starts of its life.
    pub attempt: u64,
    /// Its number among all starts of the job.
    pub start: u64,
    /// How it stands or ended.
    pub state: AttemptState,
    /// The id of the worker that claimed it.
    pub worker: String,
    /// Since when the job had been waiting to be claimed.
    #[schema(required)]
    pub queued_at: Option<Timestamp>,
    /// When it was claimed.
    pub started_at: Timestamp,
    /// When it ended; of a lapsed start the instant it lapsed.
    #[schema(required)]
    pub finished_at: Option<Timestamp>,
    /// What went wrong.
    #[schema(required)]
    pub error: Option<ErrorReport>,
    /// How long the job was then told to wait, in milliseconds.
    #[schema(required)]
    pub retry_delay_ms: Option<i64>,
    /// Why it was told to wait as long as that.
    #[schema(required)]
    pub retry_reason: Option<RetryReason>,
}

/// What went wrong in an attempt. The texts are cut to 8 KiB (`message`) and 32 KiB (`stack`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ErrorReport {
    /// The class or name of the error.
    pub r#type: String,
    /// What it says.
    pub message: String,
    /// Where it happened, as the worker's language prints it.
    #[schema(required)]
    pub stack: Option<String>,
    /// What kind of failure it is.
    pub kind: ErrorKind,
}

/// A marker that a handler left, with the value it stored under that name.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Checkpoint {
    /// Its name, 1 to 128 code points.
    pub name: String,
    /// The value, the worker's bytes; `null` for a mere marker.
    #[schema(value_type = serde_json::Value, required)]
    pub value: Option<Box<RawValue>>,
    /// The life it was written in.
    pub life: u64,
    /// The attempt it was written in.
    pub attempt: u64,
    /// The start it was written in.
    pub start: u64,
    /// When it was written.
    pub created_at: Timestamp,
}

/// A number of jobs in each state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Counts {
    /// Jobs that wait for their time.
    pub scheduled: u64,
    /// Jobs that wait for a worker.
    pub queued: u64,
    /// Jobs that a worker holds.
    pub running: u64,
    /// Jobs that wait for their next attempt.
    pub retrying: u64,
    /// Jobs that ended well.
    pub completed: u64,
    /// Jobs that ended badly.
    pub failed: u64,
    /// Jobs that were cancelled.
    pub cancelled: u64,
}

impl Counts {
    /// The number of jobs in `state`.
    pub const fn of(&self, state: State) -> u64 {
        match state {
            State::Scheduled => self.scheduled,
            State::Queued => self.queued,
            State::Running => self.running,
            State::Retrying => self.retrying,
            State::Completed => self.completed,
            State::Failed => self.failed,
            State::Cancelled => self.cancelled,
        }
    }
}
