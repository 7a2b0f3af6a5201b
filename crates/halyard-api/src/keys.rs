//! `GET /v1/keys`: who holds an idempotency key, and until when. To free a key is
//! `DELETE /v1/jobs/{id}/idempotency-key`, which is answered 204 without a body.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::Timestamp;
use crate::faults::Faults;
use crate::query::{query, required};
use crate::state::State;

/// The query of `GET /v1/keys`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct FindKey {
    /// The task in whose scope the key is.
    #[param(min_length = 1)]
    pub task: String,
    /// The key.
    #[param(min_length = 1)]
    pub key: String,
}

/// Who holds a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct KeyHolder {
    /// The task in whose scope the key is.
    pub task: String,
    /// The key.
    pub key: String,
    /// The job that holds it.
    pub job_id: String,
    /// That job's state, the last one when it was purged.
    pub state: State,
    /// Whether that job's row is gone and only the key is left.
    pub purged: bool,
    /// When the key expires; `null` while the job is not terminal.
    #[schema(required)]
    pub expires_at: Option<Timestamp>,
}

/// Reads the query of `GET /v1/keys`, which is what follows the `?`.
///
/// # Errors
///
/// Everything that is wrong with it.
pub fn read_query(raw: Option<&str>) -> Result<FindKey, Faults> {
    let mut faults = Faults::default();
    let (mut task, mut key) = (None, None);
    query(raw, &mut faults, &["task", "key"], |parameter, faults| {
        match &*parameter.name {
            "task" => task = parameter.text(faults),
            "key" => key = parameter.text(faults),
            _ => return false,
        }
        true
    });
    let task = required(task, "task", "", &mut faults).into_owned();
    let key = required(key, "key", "", &mut faults).into_owned();
    faults.or(FindKey { task, key })
}
