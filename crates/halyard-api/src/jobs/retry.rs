//! `POST /v1/jobs/{id}/retry`: a new life for a job that ended, with its id, key and checkpoints.

use serde::Serialize;
use utoipa::ToSchema;

use crate::job::job_object_more;

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
