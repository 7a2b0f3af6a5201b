//! `POST /v1/jobs/{id}/cancel`: end a job that waits, ask one that runs to stop.
//!
//! The body is left out or `{}`; the answer is the [`Job`](crate::job::Job).

use crate::body::Body;
use crate::faults::Faults;
use crate::fields::{Unknown, object};
use crate::place::Place;

/// Reads the body of a cancel, which has no members; see [`Body::parse_optional`].
///
/// # Errors
///
/// Everything that is wrong with its shape.
pub fn read(body: &Body<'_>) -> Result<(), Faults> {
    let mut faults = Faults::default();
    object(body.root(), &Place::Body, &mut faults, Unknown::Refused(&[]), |_, _| false);
    faults.or(())
}
