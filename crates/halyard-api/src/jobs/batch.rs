//! `POST /v1/jobs/batch`: up to 1,000 creates in one transaction, judged in order as if sent
//! singly.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::body::{Body, ELEMENTS_MAX};
use crate::faults::Faults;
use crate::fields::{Unknown, array, object};
use crate::jobs::create::{self, CreateJob, CreatedJob};
use crate::place::Place;
use crate::problem::Problem;

/// The jobs to create.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
pub struct CreateBatch {
    /// Up to 1,000 jobs.
    #[schema(max_items = 1000)]
    pub jobs: Vec<CreateJob>,
}

/// A result for each job of the batch, in the order of the request.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct BatchAnswer {
    /// The results.
    pub results: Vec<BatchResult>,
}

/// What one create of a batch came to: `job` or `error`, the other is absent.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct BatchResult {
    /// 201 made, 200 found; 404, 409 or 422 refused.
    pub status: u16,
    /// The job that was made or found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<CreatedJob>)]
    pub job: Option<Box<CreatedJob>>,
    /// Why it was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<Problem>)]
    pub error: Option<Box<Problem>>,
}

/// A [`CreateBatch`] that arrived.
#[derive(Clone, Debug, Default)]
pub struct Received<'v> {
    /// The jobs, in the order of the request.
    pub jobs: Vec<create::Received<'v>>,
}

/// Reads the body of a batch.
///
/// # Errors
///
/// Everything that is wrong with its shape, with a pointer to every bad item.
pub fn read<'b>(body: &'b Body<'_>) -> Result<Received<'b>, Faults> {
    let (received, faults) = read_all(body);
    faults.or(received)
}

/// As [`read`], with what could be read beside its faults, for a server that goes on to judge
/// values and then tells all that is wrong at once.
pub fn read_all<'b>(body: &'b Body<'_>) -> (Received<'b>, Faults) {
    let mut faults = Faults::default();
    let (root, place) = (body.root(), Place::Body);
    let mut jobs = None;
    object(root, &place, &mut faults, Unknown::Refused(&["jobs"]), |field, faults| {
        let known = field.name == "jobs";
        if let (true, Some(value)) = (known, field.any()) {
            let mut items = Vec::with_capacity(value.len().min(ELEMENTS_MAX));
            array(value, &field.place(), faults, |item, place, faults| {
                faults.next_item();
                items.push(create::read_item(item, place, faults));
            });
            faults.next_item();
            jobs = Some(items);
        }
        known
    });
    let jobs = faults.required(jobs, root, &place, "jobs");
    if faults.is_empty() {
        faults.accepts(&place, root);
    }
    (Received { jobs }, faults)
}
