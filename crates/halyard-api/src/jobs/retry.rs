//! `POST /v1/jobs/{id}/retry`: a new life for a job that ended, with its id, key and checkpoints.

use std::borrow::Cow;

use serde::Serialize;
use utoipa::ToSchema;

use crate::body::Body;
use crate::faults::Faults;
use crate::fields::{Unknown, object};
use crate::job::job_object_more;
use crate::place::Place;

/// How to retry. Everything may be left out, the body too.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct Retry {
    /// The life that the caller saw: when a later one exists already, nothing is changed, so that
    /// the same call twice opens one new life.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1)]
    pub life: Option<i64>,
    /// The name of the checkpoint to start again from: it and the later ones are dropped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Whether to drop all checkpoints. Not with `from`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fresh: Option<bool>,
    /// Whether a completed job may be retried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_completed: Option<bool>,
}

job_object_more! {
    /// The job after a retry.
    pub struct RetriedJob {
        /// Whether a later life existed already and nothing was changed.
        pub repeated: bool,
    }
}

/// A [`Retry`] that arrived.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Received<'v> {
    /// The life that the caller saw.
    pub life: Option<i64>,
    /// The checkpoint to start again from; never beside `fresh`.
    pub from: Option<Cow<'v, str>>,
    /// Whether to drop all checkpoints.
    pub fresh: bool,
    /// Whether a completed job may be retried.
    pub allow_completed: bool,
}

/// Reads the body of a retry; see [`Body::parse_optional`].
///
/// # Errors
///
/// Everything that is wrong with its shape.
pub fn read<'b>(body: &'b Body<'_>) -> Result<Received<'b>, Faults> {
    const MEMBERS: &[&str] = &["life", "from", "fresh", "allow_completed"];
    let mut faults = Faults::default();
    let (root, place) = (body.root(), Place::Body);
    let mut got = Received::default();
    if !faults.accepts(&place, root) {
        return Err(faults);
    }
    object(root, &place, &mut faults, Unknown::Refused(MEMBERS), |field, faults| {
        match field.name {
            "life" => got.life = field.integer(faults),
            "from" => got.from = field.text(faults),
            "fresh" => got.fresh = field.boolean(faults).unwrap_or_default(),
            "allow_completed" => {
                got.allow_completed = field.boolean(faults).unwrap_or_default();
            }
            _ => return false,
        }
        true
    });
    if let (Some(_), true, Some(from)) = (&got.from, got.fresh, root.member("from")) {
        faults.invalid(&Place::Member(&place, "from"), from, "be left out beside fresh");
    }
    faults.or(got)
}
