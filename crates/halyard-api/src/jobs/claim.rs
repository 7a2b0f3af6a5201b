//! `POST /v1/jobs/claim`: jobs to run, each under a lease.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::Timestamp;
use crate::body::Body;
use crate::faults::Faults;
use crate::fields::{Unknown, object};
use crate::job::{Backoff, Checkpoint, job_object};
use crate::place::Place;
use crate::workers::{self, WorkerIdentity};

/// Who claims, and what.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Claim {
    /// Who claims.
    pub worker: WorkerIdentity,
    /// The queues to claim from, as one list; at least one.
    #[schema(min_items = 1, max_items = 1000)]
    pub queues: Vec<String>,
    /// The tasks to claim, at least one; all when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(min_items = 1, max_items = 1000)]
    pub tasks: Option<Vec<String>>,
    /// How many jobs at most, 1 to 1,000; 1 when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 1000)]
    pub max: Option<i64>,
    /// How long to wait for a job, in milliseconds; 0 when left out, more than 55000 is cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0)]
    pub wait_ms: Option<i64>,
    /// How long a lease lasts without a heartbeat, in milliseconds; 60000 when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 5000, maximum = 3600000)]
    pub lease_ms: Option<i64>,
    /// A name for this claim, so that it can be repeated; up to 128 code points.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 128)]
    pub claim_id: Option<String>,
    /// Whether this is a claim sent again because its answer was lost; needs `claim_id`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeat: Option<bool>,
}

/// The jobs that were claimed; none when the wait was over first.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ClaimAnswer {
    /// The jobs, in the order to run them.
    pub jobs: Vec<ClaimedJob>,
}

job_object! {
    /// A job that the worker holds now: without `result`, `attempts` and `attempts_total`.
    pub struct ClaimedJob {
        /// The payload, the sender's bytes.
        #[schema(value_type = serde_json::Value, required)]
        pub payload: Option<Box<RawValue>>,
        /// How long it waits between attempts.
        pub backoff: Backoff,
        /// Every checkpoint so far, in the order first written.
        pub checkpoints: Vec<Checkpoint>,
        /// What the worker holds it by.
        pub lease: Lease,
    }
}

/// What a start holds. The token is live until `expires_at` or `deadline`, whichever is first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Lease {
    /// What every further call about this start carries.
    pub token: String,
    /// When it ends without a heartbeat, by the store's clock.
    pub expires_at: Timestamp,
    /// The same in milliseconds, counted from the moment the call was sent.
    pub expires_in_ms: i64,
    /// When it ends whatever heartbeats come, by the store's clock.
    pub deadline: Timestamp,
    /// The same in milliseconds, counted from the moment the call was sent.
    pub deadline_in_ms: i64,
}

/// A [`Claim`] that arrived.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Received<'v> {
    /// Who claims.
    pub worker: workers::Received<'v>,
    /// The queues to claim from; at least one.
    pub queues: Vec<Cow<'v, str>>,
    /// The tasks to claim, at least one; `None` for all.
    pub tasks: Option<Vec<Cow<'v, str>>>,
    /// How many jobs at most.
    pub max: Option<i64>,
    /// How long to wait for a job, in milliseconds.
    pub wait_ms: Option<i64>,
    /// How long a lease lasts without a heartbeat, in milliseconds.
    pub lease_ms: Option<i64>,
    /// The name of this claim.
    pub claim_id: Option<Cow<'v, str>>,
    /// Whether it is sent again.
    pub repeat: bool,
}

/// Reads the body of a claim.
///
/// # Errors
///
/// Everything that is wrong with its shape.
pub fn read<'b>(body: &'b Body<'_>) -> Result<Received<'b>, Faults> {
    let mut faults = Faults::default();
    let (root, place) = (body.root(), Place::Body);
    let mut got = Received::default();
    let (mut worker, mut queues) = (None, None);
    object(root, &place, &mut faults, Unknown::Ignored, |field, faults| {
        match field.name {
            "worker" => worker = workers::read(field, faults),
            "queues" => queues = field.texts_some(faults),
            "tasks" => got.tasks = field.texts_some(faults),
            "max" => got.max = field.integer(faults),
            "wait_ms" => got.wait_ms = field.integer_cut(faults),
            "lease_ms" => got.lease_ms = field.integer(faults),
            "claim_id" => got.claim_id = field.text(faults),
            "repeat" => got.repeat = field.boolean(faults).unwrap_or_default(),
            _ => return false,
        }
        true
    });
    if let (true, None, Some(repeat)) = (got.repeat, &got.claim_id, root.member("repeat"))
        && root.member("claim_id").is_none_or(|claim_id| claim_id.is_null())
    {
        faults.invalid(&Place::Member(&place, "repeat"), repeat, "be left out without claim_id");
    }
    got.worker = faults.required(worker, root, &place, "worker");
    got.queues = faults.required(queues, root, &place, "queues");
    faults.or(got)
}
