//! `POST /v1/jobs/{id}/checkpoints`: a marker, with or without a value, durable before the answer.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::Timestamp;

/// The checkpoint to write.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct WriteCheckpoint {
    /// The token of the start that writes it.
    pub token: String,
    /// Its name, 1 to 128 code points.
    #[schema(min_length = 1, max_length = 128)]
    pub name: String,
    /// Any JSON up to 256 KiB; `null` when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = serde_json::Value, required = false)]
    pub value: Option<Box<RawValue>>,
}

/// The checkpoint as it stands, new (201) or equal to what was sent (200).
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct CheckpointAnswer {
    /// Its name.
    pub name: String,
    /// Its value, the bytes that were written first.
    #[schema(value_type = serde_json::Value, required)]
    pub value: Option<Box<RawValue>>,
    /// The life it was written in.
    pub life: u64,
    /// The attempt it was written in.
    pub attempt: u64,
    /// The start it was written in.
    pub start: u64,
    /// When it was written.
    pub created_at: Timestamp,
    /// Whether the job was asked to stop.
    pub cancel_requested: bool,
}
