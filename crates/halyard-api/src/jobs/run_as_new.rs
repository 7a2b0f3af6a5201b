//! `POST /v1/jobs/{id}/run-as-new`: a new job like this one, with a new id and no key.
//!
//! The answer is the new [`Job`](crate::job::Job), its `rerun_of` names the old one. Outside
//! effects keyed by the old id will happen again.

use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

/// What the new job has of its own. The body may be left out.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
pub struct RunAsNew {
    /// Another payload; that of the old job when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = serde_json::Value, required = false)]
    pub payload: Option<Box<RawValue>>,
}
