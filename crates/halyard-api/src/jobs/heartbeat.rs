//! `POST /v1/jobs/heartbeat`: the leases that a worker still holds, all in one call.

use std::borrow::Cow;

use halyard_json::Value;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Timestamp;
use crate::body::Body;
use crate::faults::Faults;
use crate::fields::{Unknown, array, object};
use crate::place::Place;
use crate::state::word_list;
use crate::workers::{self, WorkerIdentity};

/// Who is alive, and what it holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Heartbeat {
    /// Who is alive.
    pub worker: WorkerIdentity,
    /// What it holds, up to 1,000; none when left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false, max_items = 1000)]
    pub leases: Vec<HeldLease>,
    /// How long each lease shall last from now, in milliseconds; 60000 when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 5000, maximum = 3600000)]
    pub lease_ms: Option<i64>,
    /// Whether the worker is shutting down and claims no more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draining: Option<bool>,
}

/// A lease that the worker believes to hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct HeldLease {
    /// The job.
    pub id: String,
    /// The token of its claim.
    pub token: String,
}

/// A result for each lease, in the order of the request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct HeartbeatAnswer {
    /// The results.
    pub results: Vec<HeartbeatResult>,
}

word_list! {
    /// Whether a lease was renewed.
    pub enum HeartbeatStatus {
        /// It is live.
        Ok = "ok",
        /// It is not live any more, or never was.
        LeaseLost = "lease_lost",
    }
}

/// What became of one lease.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct HeartbeatResult {
    /// The job, as it was given.
    pub id: String,
    /// Whether the lease is live.
    pub status: HeartbeatStatus,
    /// When it ends now, by the store's clock; `null` when it is lost.
    #[schema(required)]
    pub expires_at: Option<Timestamp>,
    /// The same in milliseconds, counted from the moment the call was sent.
    #[schema(required)]
    pub expires_in_ms: Option<i64>,
    /// Whether the job was asked to stop.
    pub cancel_requested: bool,
}

/// A [`Heartbeat`] that arrived.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Received<'v> {
    /// Who is alive.
    pub worker: workers::Received<'v>,
    /// What it holds, in the order of the request.
    pub leases: Vec<ReceivedLease<'v>>,
    /// How long each lease shall last from now, in milliseconds.
    pub lease_ms: Option<i64>,
    /// Whether the worker is shutting down.
    pub draining: bool,
}

/// A [`HeldLease`] that arrived.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReceivedLease<'v> {
    /// The job.
    pub id: Cow<'v, str>,
    /// The token of its claim.
    pub token: Cow<'v, str>,
}

/// Reads the body of a heartbeat.
///
/// # Errors
///
/// Everything that is wrong with its shape.
pub fn read<'b>(body: &'b Body<'_>) -> Result<Received<'b>, Faults> {
    let mut faults = Faults::default();
    let (root, place) = (body.root(), Place::Body);
    let mut got = Received::default();
    let mut worker = None;
    object(root, &place, &mut faults, Unknown::Ignored, |field, faults| {
        match field.name {
            "worker" => worker = workers::read(field, faults),
            "leases" => {
                if let Some(leases) = field.any() {
                    array(leases, &field.place(), faults, |lease, place, faults| {
                        faults.next_item();
                        got.leases.push(read_lease(lease, place, faults));
                    });
                    faults.next_item();
                }
            }
            "lease_ms" => got.lease_ms = field.integer(faults),
            "draining" => got.draining = field.boolean(faults).unwrap_or_default(),
            _ => return false,
        }
        true
    });
    got.worker = faults.required(worker, root, &place, "worker");
    faults.or(got)
}

fn read_lease<'v>(value: Value<'v>, place: &Place<'_>, faults: &mut Faults) -> ReceivedLease<'v> {
    let (mut id, mut token) = (None, None);
    object(value, place, faults, Unknown::Ignored, |field, faults| {
        match field.name {
            "id" => id = field.text(faults),
            "token" => token = field.text(faults),
            _ => return false,
        }
        true
    });
    ReceivedLease {
        id: faults.required(id, value, place, "id"),
        token: faults.required(token, value, place, "token"),
    }
}
