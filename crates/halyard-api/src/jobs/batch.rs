//! `POST /v1/jobs/batch`: up to 1,000 creates in one transaction, judged in order as if sent
//! singly.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::jobs::create::{CreateJob, CreatedJob};
use crate::problem::Problem;

/// The jobs to create.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
pub struct CreateBatch {
    /// One to 1,000 jobs.
    #[schema(min_items = 1, max_items = 1000)]
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
