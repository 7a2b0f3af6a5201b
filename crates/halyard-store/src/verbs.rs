//! What each verb takes and answers.

use halyard_core::chance::Seed;
use halyard_core::checkpoint::Checkpoint;
use halyard_core::error::ErrorReport;
use halyard_core::fingerprint::Fingerprint;
use halyard_core::id::{JobId, Token};
use halyard_core::job::{Attempt, ClaimMark, Job, JobSummary, JobView, Name, State};
use halyard_core::key::{IdClash, Tombstone};
use halyard_core::operate::{Refusal, Retry};
use halyard_core::outcome::Report;
use halyard_core::{DurationMs, TimeMs};
use halyard_json::Text;

/// What makes one request repeatable: the `Idempotency-Key` header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestKey {
    /// Method and path.
    pub scope: String,
    /// The header's value.
    pub value: String,
    /// Fingerprint of the body; of `null` without one.
    pub body: Fingerprint,
}

/// An answer to a request that may carry a [`RequestKey`].
#[derive(Clone, Debug, PartialEq)]
pub enum Keyed<T> {
    /// Done now.
    Fresh(T),
    /// Done by an earlier request of that key: the same jobs as they are now.
    Replayed(T),
    /// The key was used with another body; nothing changed. The first job of that request.
    Reused(Option<JobId>),
}

impl<T> Keyed<T> {
    /// The same with another answer.
    pub(crate) fn map<U>(self, with: impl FnOnce(T) -> U) -> Keyed<U> {
        match self {
            Self::Fresh(answer) => Keyed::Fresh(with(answer)),
            Self::Replayed(answer) => Keyed::Replayed(with(answer)),
            Self::Reused(first) => Keyed::Reused(first),
        }
    }
}

/// What became of one create.
#[derive(Clone, Debug, PartialEq)]
pub enum Created {
    /// A new job.
    New(Box<JobView>),
    /// The job that an equal create made before.
    Replayed {
        /// As it is now.
        view: Box<JobView>,
        /// It had failed and got a new life.
        revived: bool,
    },
    /// The job that an equal create made before; its row is gone.
    Purged(Tombstone),
    /// The key stands for another payload.
    KeyReused {
        /// The key's job.
        job_id: JobId,
        /// JSON pointers that differ; `None` when the job's row is gone.
        changed: Option<Vec<String>>,
    },
    /// The client-made id stands for another create.
    IdTaken {
        /// The id.
        id: JobId,
        /// How the two differ.
        clash: IdClash,
    },
    /// A repeated request made this job, and it was deleted since.
    Gone(JobId),
}

/// To a transaction that is open for the claims that it has woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Invitation(pub u64);

/// A request for jobs.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Who claims.
    pub worker: Name,
    /// From these queues, as one list.
    pub queues: Vec<Name>,
    /// Of these tasks; `None` is all.
    pub tasks: Option<Vec<Name>>,
    /// At most this many.
    pub max: usize,
    /// Length of each lease.
    pub lease_ms: DurationMs,
    /// Hash of the claim's `claim_id`.
    pub mark: Option<ClaimMark>,
    /// Sent again: answer the live leases of `mark` before claiming new ones.
    pub repeat: bool,
    /// Of a claim that has found nothing before it was woken: where it may be given what it was
    /// woken for. That transaction knows of no other claimable job.
    pub invitation: Option<Invitation>,
    /// Chance for tokens.
    pub seed: Seed,
}

/// The answer to a claim.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Claims {
    /// The store's clock at the claim.
    pub now: TimeMs,
    /// Exactly the jobs that were leased, in claim order.
    pub jobs: Vec<Claimed>,
}

/// One leased job. Its lease stands in `view.job.start`.
#[derive(Clone, Debug, PartialEq)]
pub struct Claimed {
    /// The job, without result.
    pub view: JobView,
    /// Everything that earlier attempts saved, in order.
    pub checkpoints: Vec<Checkpoint>,
}

/// Bytes that a job takes of a claim's answer, beside what every job takes: payload, checkpoints,
/// and what went wrong last. Text is counted as JSON writes it.
pub(crate) fn answer_bytes(job: &Job, payload: &Text, error: Option<&ErrorReport>) -> u64 {
    /// A checkpoint without its value: its name, when and by whom it was written.
    const CHECKPOINT_BYTES: u64 = 300;
    let written = |text: &str| -> u64 {
        let escaped = |byte: u8| match byte {
            b'"' | b'\\' => 2,
            0..0x20 => 6,
            _ => 1,
        };
        text.bytes().map(escaped).sum()
    };
    let error = error.map_or(0, |error| {
        let stack = error.stack.as_deref().unwrap_or_default();
        written(&error.error_type) + written(&error.message) + written(stack)
    });
    let checkpoints = job.checkpoints_bytes + u64::from(job.checkpoints) * CHECKPOINT_BYTES;
    payload.len() as u64 + checkpoints + error
}

/// A lease to renew. An id or a token that cannot exist is `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beat {
    /// The job.
    pub id: Option<JobId>,
    /// The secret of its claim.
    pub token: Option<Token>,
}

/// The answer to a heartbeat.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Beats {
    /// The store's clock.
    pub now: TimeMs,
    /// One for each lease: `None` is lost.
    pub leases: Vec<Option<Renewed>>,
}

/// A lease that was renewed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Renewed {
    /// When it lapses now.
    pub expires_at: TimeMs,
    /// A cancel was requested.
    pub cancel_requested: bool,
}

/// What a worker reports of one start.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The job.
    pub id: Option<JobId>,
    /// The secret of its claim.
    pub token: Option<Token>,
    /// What it says.
    pub report: Report,
}

/// A checkpoint to save.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckpointWrite {
    /// The job.
    pub id: JobId,
    /// The secret of its claim.
    pub token: Option<Token>,
    /// The checkpoint's name.
    pub name: Name,
    /// Its value; `null` when none was given.
    pub value: Text,
}

/// What an action by hand did.
#[derive(Clone, Debug, PartialEq)]
pub enum Acted {
    /// Done, or already so.
    Done {
        /// The job as it is now; `None` when it was deleted.
        view: Option<Box<JobView>>,
        /// An earlier call did it.
        repeated: bool,
        /// This call changed something: it was not so already.
        changed: bool,
    },
    /// Nothing changed.
    Refused(Refusal),
    /// No such job.
    NotFound,
}

/// One action to many jobs.
#[derive(Clone, Debug, PartialEq)]
pub struct Bulk {
    /// What to do.
    pub action: BulkAction,
    /// To which jobs, with the life that the caller saw. An id that cannot exist is `None`.
    pub targets: Vec<(Option<JobId>, Option<u32>)>,
    /// By which filter they were chosen, for the audit log.
    pub filter: Option<String>,
}

/// What a bulk action does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BulkAction {
    /// As [`Retry`] with a life only.
    Retry,
    /// As cancel.
    Cancel,
    /// As delete, keeping tombstones.
    Delete,
    /// As run now.
    RunNow,
}

impl BulkAction {
    /// The retry that a bulk retry does.
    #[must_use]
    pub fn retry(life: Option<u32>) -> Retry {
        Retry { life, ..Retry::default() }
    }
}

/// A job with everything that is known of it.
#[derive(Clone, Debug, PartialEq)]
pub struct JobDetail {
    /// The job.
    pub view: JobView,
    /// In the order first written.
    pub checkpoints: Vec<Checkpoint>,
    /// The newest ones, newest first, the running start included.
    pub attempts: Vec<Attempt>,
    /// How many there are.
    pub attempts_total: u64,
}

/// Which jobs, and which page of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// In any of these states; empty is all.
    pub states: Vec<State>,
    /// In this queue.
    pub queue: Option<Name>,
    /// Of this task.
    pub task: Option<Name>,
    /// With this tag.
    pub tag: Option<Name>,
    /// That holds this key; needs `task`.
    pub key: Option<Name>,
    /// Created at or after.
    pub created_from: Option<TimeMs>,
    /// Created before.
    pub created_before: Option<TimeMs>,
    /// Oldest first.
    pub ascending: bool,
    /// Rows at most.
    pub limit: usize,
    /// Continue after this place in the order of creation.
    pub after: Option<i64>,
}

/// One page of jobs, in the order of creation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// The rows.
    pub jobs: Vec<JobSummary>,
    /// Where the next page goes on; `None` at the end.
    pub next: Option<i64>,
    /// The bound of examined rows was reached before the page was full.
    pub partial: bool,
}

/// Jobs by state, in the order of [`State::ALL`].
pub type Counts = [u64; 7];

/// One queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueStatus {
    /// Its name.
    pub name: Name,
    /// Claims pass it by.
    pub paused: bool,
    /// Its jobs by state.
    pub counts: Counts,
    /// Since when its longest waiting claimable job is due.
    pub oldest_queued_at: Option<TimeMs>,
}

impl QueueStatus {
    /// That of a queue without jobs.
    pub(crate) fn without_jobs(name: Name, paused: bool) -> Self {
        Self { name, paused, counts: Counts::default(), oldest_queued_at: None }
    }
}

/// One task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskStatus {
    /// Its name.
    pub name: Name,
    /// Queues that hold jobs of it, by name.
    pub queues: Vec<Name>,
    /// Its jobs by state.
    pub counts: Counts,
}

/// What was counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Jobs by state, now.
    pub counts: Counts,
    /// Since the store was made.
    pub totals: Totals,
    /// The last 24 h, oldest first; minutes without events are left out.
    pub minutes: Vec<Minute>,
}

/// Events since the store was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Jobs created.
    pub created: u64,
    /// Creates answered with an existing job.
    pub replayed: u64,
    /// Creates refused because their key stands for another payload.
    pub keys_refused: u64,
    /// Lives completed.
    pub completed: u64,
    /// Lives failed.
    pub failed: u64,
    /// Lives cancelled.
    pub cancelled: u64,
    /// New lives opened.
    pub retried: u64,
    /// Starts lost.
    pub leases_lost: u64,
    /// Starts that reached their deadline.
    pub timed_out: u64,
    /// Calls with a dead token turned away.
    pub reports_rejected: u64,
}

/// Events of one minute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Minute {
    /// When it began.
    pub at: TimeMs,
    /// Jobs created.
    pub created: u64,
    /// Lives completed.
    pub completed: u64,
    /// Lives failed.
    pub failed: u64,
}

/// A job changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The job.
    pub id: JobId,
    /// Its task.
    pub task: Name,
    /// Its queue.
    pub queue: Name,
    /// Its state now; `None` when it was deleted.
    pub state: Option<State>,
    /// Its life.
    pub life: u32,
    /// Its attempt.
    pub attempt: u32,
}
