//! `GET /v1/tasks`: the tasks that have jobs, and whether anybody handles them.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::job::Counts;

/// A task that has jobs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Task {
    /// Its name.
    pub name: String,
    /// The queues its jobs are in.
    pub queues: Vec<String>,
    /// Its jobs by state.
    pub counts: Counts,
    /// How many live workers handle it; 0 means that nobody does.
    pub workers: u64,
}

/// Every task, by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TasksAnswer {
    /// The tasks.
    pub data: Vec<Task>,
}
