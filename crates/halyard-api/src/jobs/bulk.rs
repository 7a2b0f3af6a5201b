//! `POST /v1/jobs/bulk`: one action on up to 1,000 jobs, each judged by itself.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::job::Job;
use crate::problem::Problem;
use crate::state::BulkAction;

/// What to do, and to which jobs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Bulk {
    /// What to do.
    pub action: BulkAction,
    /// The jobs, one to 1,000.
    #[schema(min_items = 1, max_items = 1000)]
    pub ids: Vec<String>,
    /// For a retry: the life of each job that the caller saw, by id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lives: Option<BTreeMap<String, i64>>,
}

/// A result for each id, in the order of the request.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct BulkAnswer {
    /// The results.
    pub results: Vec<BulkResult>,
}

/// What the action came to for one job: `job` (200), `error` (404, 409) or neither (204).
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct BulkResult {
    /// The id as it was given.
    pub id: String,
    /// 200 done, 204 deleted; 404 or 409 refused.
    pub status: u16,
    /// The job after the action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<Job>)]
    pub job: Option<Box<Job>>,
    /// Why it was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<Problem>)]
    pub error: Option<Box<Problem>>,
}
