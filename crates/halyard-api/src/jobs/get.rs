//! `GET /v1/jobs/{id}`: everything about one job, a [`JobDetail`](crate::job::JobDetail).

use serde::Serialize;
use utoipa::IntoParams;

/// The query of `GET /v1/jobs/{id}`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct GetQuery {
    /// How long to wait for the life seen at the start to end, in milliseconds; more than 55000 is
    /// cut to that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_ms: Option<u64>,
}
