//! `DELETE /v1/jobs/{id}`: the job goes, its key stays unless the query says otherwise. Answered
//! 204 without a body.

use serde::Serialize;
use utoipa::IntoParams;

/// The query of `DELETE /v1/jobs/{id}`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct DeleteQuery {
    /// Whether to free its idempotency key too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forget_key: Option<bool>,
}
