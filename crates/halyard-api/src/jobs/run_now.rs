//! `POST /v1/jobs/{id}/run-now`: make a job that waits for its time due at once.
//!
//! The body is left out or `{}`; the answer is the [`Job`](crate::job::Job).

use crate::body::Body;
use crate::faults::Faults;
use crate::jobs::cancel;

/// Reads the body of a run-now, which has no members; see [`Body::parse_optional`].
///
/// # Errors
///
/// Everything that is wrong with its shape.
pub fn read(body: &Body<'_>) -> Result<(), Faults> {
    cancel::read(body)
}
