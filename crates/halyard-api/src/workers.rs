//! `GET /v1/workers`: who is alive and what they handle.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Timestamp;

/// How a worker names itself in its calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct WorkerIdentity {
    /// An id that is its own for as long as its process lives, `wrk_` and 26 characters.
    pub id: String,
    /// A name for people, such as host and process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The client library and its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sdk: Option<String>,
}

/// A worker that was heard of lately.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Worker {
    /// Its id.
    pub id: String,
    /// Its name for people.
    #[schema(required)]
    pub name: Option<String>,
    /// Its client library.
    #[schema(required)]
    pub sdk: Option<String>,
    /// The queues it claims from.
    pub queues: Vec<String>,
    /// The tasks it handles; `null` for all.
    #[schema(required)]
    pub tasks: Option<Vec<String>>,
    /// How many jobs it holds.
    pub running: u64,
    /// Whether it is shutting down.
    pub draining: bool,
    /// When it was first heard of.
    pub first_seen_at: Timestamp,
    /// When it was last heard of.
    pub last_seen_at: Timestamp,
}

/// Every live worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WorkersAnswer {
    /// The workers.
    pub data: Vec<Worker>,
}
