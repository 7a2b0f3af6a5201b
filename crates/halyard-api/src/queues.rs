//! `GET /v1/queues`, `GET /v1/queues/{name}`, `POST …/pause`, `POST …/resume`.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Timestamp;
use crate::job::Counts;

/// A queue, the answer of every call but the list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Queue {
    /// Its name.
    pub name: String,
    /// Whether claims pass it by.
    pub paused: bool,
    /// Its jobs by state.
    pub counts: Counts,
    /// When the job that has waited longest became due; `null` when none waits.
    #[schema(required)]
    pub oldest_queued_at: Option<Timestamp>,
    /// How many live workers name it.
    pub workers: u64,
}

/// Every queue, by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct QueuesAnswer {
    /// The queues.
    pub data: Vec<Queue>,
}
