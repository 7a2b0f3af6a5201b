//! `POST /v1/jobs/{id}/checkpoints`: a marker, with or without a value, durable before the answer.

use std::borrow::Cow;

use halyard_json::Value;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::Timestamp;
use crate::body::Body;
use crate::faults::Faults;
use crate::fields::{Unknown, object};
use crate::place::Place;

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

/// A [`WriteCheckpoint`] that arrived.
#[derive(Clone, Debug, Default)]
pub struct Received<'v> {
    /// The token of the start that writes it.
    pub token: Cow<'v, str>,
    /// Its name.
    pub name: Cow<'v, str>,
    /// Its value, as bytes of the body.
    pub value: Option<Value<'v>>,
}

/// Reads the body of a checkpoint.
///
/// # Errors
///
/// Everything that is wrong with its shape.
pub fn read<'b>(body: &'b Body<'_>) -> Result<Received<'b>, Faults> {
    let mut faults = Faults::default();
    let (root, place) = (body.root(), Place::Body);
    let (mut token, mut name, mut value) = (None, None, None);
    object(root, &place, &mut faults, Unknown::Ignored, |field, faults| {
        match field.name {
            "token" => token = field.text(faults),
            "name" => name = field.text(faults),
            "value" => {
                value = field.any().filter(|value| faults.accepts(&field.place(), *value));
            }
            _ => return false,
        }
        true
    });
    let token = faults.required(token, root, &place, "token");
    let name = faults.required(name, root, &place, "name");
    faults.or(Received { token, name, value })
}
