//! `GET /v1/workers`: who is alive and what they handle.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Timestamp;
use crate::faults::Faults;
use crate::fields::{Field, Unknown, object};

/// How a worker names itself in its calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct WorkerIdentity {
    /// An id that is its own for as long as its process lives, `wrk_` and 26 characters.
    pub id: String,
    /// A name for people, such as host and process; up to 128 code points.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 128)]
    pub name: Option<String>,
    /// The client library and its version; up to 128 code points.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 128)]
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

/// A [`WorkerIdentity`] that arrived.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Received<'v> {
    /// Its id.
    pub id: Cow<'v, str>,
    /// Its name for people.
    pub name: Option<Cow<'v, str>>,
    /// Its client library.
    pub sdk: Option<Cow<'v, str>>,
}

/// Reads the member `worker` of a claim or a heartbeat.
pub(crate) fn read<'v>(field: Field<'_, 'v>, faults: &mut Faults) -> Option<Received<'v>> {
    let worker = field.any()?;
    let mut got = Received::default();
    let mut id = None;
    object(worker, &field.place(), faults, Unknown::Ignored, |field, faults| {
        match field.name {
            "id" => id = field.text(faults),
            "name" => got.name = field.text(faults),
            "sdk" => got.sdk = field.text(faults),
            _ => return false,
        }
        true
    });
    got.id = faults.required(id, worker, &field.place(), "id");
    Some(got)
}
