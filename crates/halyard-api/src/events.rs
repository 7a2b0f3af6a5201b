//! `GET /v1/events`: server-sent events of job changes.
//!
//! An event is a hint from a ring of the last 10,000 on the node that answers; nobody should rely
//! on seeing all of them.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::state::State;

/// The name of the event that tells of a changed job.
pub const EVENT_JOB: &str = "job";

/// The name of the event that says: the `Last-Event-ID` is unknown here, read anew what you show.
pub const EVENT_RESET: &str = "reset";

/// The data of an event named `job`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct JobEvent {
    /// The job that changed.
    pub id: String,
    /// Its task.
    pub task: String,
    /// Its queue.
    pub queue: String,
    /// The state it is in now; `null` when it was deleted.
    #[schema(required)]
    pub state: Option<State>,
    /// The life it is in.
    pub life: u64,
    /// Its attempt.
    pub attempt: u64,
}
