//! `POST /v1/jobs/{id}/run-as-new`: a new job like this one, with a new id and no key.
//!
//! The answer is the new [`Job`](crate::job::Job), its `rerun_of` names the old one. Outside
//! effects keyed by the old id will happen again.

use halyard_json::Value;
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::body::Body;
use crate::faults::Faults;
use crate::fields::{Unknown, object};
use crate::place::Place;

/// What the new job has of its own. The body may be left out.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
pub struct RunAsNew {
    /// Another payload; that of the old job when left out or `null`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = serde_json::Value, required = false)]
    pub payload: Option<Box<RawValue>>,
}

/// A [`RunAsNew`] that arrived.
#[derive(Clone, Copy, Debug, Default)]
pub struct Received<'v> {
    /// Another payload, as bytes of the body; `None` also for `null`.
    pub payload: Option<Value<'v>>,
}

/// Reads the body of a run as new; see [`Body::parse_optional`].
///
/// # Errors
///
/// Everything that is wrong with its shape.
pub fn read<'b>(body: &'b Body<'_>) -> Result<Received<'b>, Faults> {
    let mut faults = Faults::default();
    let (root, place) = (body.root(), Place::Body);
    let mut got = Received::default();
    if !faults.accepts(&place, root) {
        return Err(faults);
    }
    object(root, &place, &mut faults, Unknown::Refused(&["payload"]), |field, _| {
        let known = field.name == "payload";
        if known {
            got.payload = field.any();
        }
        known
    });
    faults.or(got)
}
