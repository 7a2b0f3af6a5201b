//! What became of the members of a request that carried an `Idempotency-Key`, as databases keep it.

use halyard_core::id::JobId;
use halyard_core::key::IdClash;
use halyard_core::operate::Refusal;
use serde::{Deserialize, Serialize};

use crate::verbs::{Acted, Created};

/// What became of one member of a request. An id is its text.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Item {
    Job(String),
    Purged(String),
    Deleted(String),
    KeyReused {
        job: String,
        changed: Option<Vec<String>>,
    },
    /// By a job with another task or payload.
    IdTaken(String),
    IdTakenNoKey(String),
    IdTakenOtherKey(String),
    Gone(String),
    NotFound,
    Running,
    NotRetryable(u8),
    Finished(u8),
    KeyTaken(String),
    LifeAhead(u32),
    NoSuchCheckpoint(String),
}

impl Item {
    /// The members of a remembered request, in order.
    pub(crate) fn read_all(text: &str) -> serde_json::Result<Vec<Self>> {
        serde_json::from_str(text)
    }

    /// The text of which [`Item::read_all`] makes the same again.
    pub(crate) fn write_all(items: &[Self]) -> serde_json::Result<String> {
        serde_json::to_string(items)
    }

    pub(crate) fn of_created(created: &Created) -> Self {
        match created {
            Created::New(view) | Created::Replayed { view, .. } => {
                Self::Job(view.job.id.to_string())
            }
            Created::Purged(grave) => Self::Purged(grave.job_id.to_string()),
            Created::KeyReused { job_id, changed } => {
                Self::KeyReused { job: job_id.to_string(), changed: changed.clone() }
            }
            Created::IdTaken { id, clash } => match clash {
                IdClash::Work => Self::IdTaken(id.to_string()),
                IdClash::NoKey => Self::IdTakenNoKey(id.to_string()),
                IdClash::OtherKey => Self::IdTakenOtherKey(id.to_string()),
            },
            Created::Gone(id) => Self::Gone(id.to_string()),
        }
    }

    /// `id` is the job that was asked for.
    pub(crate) fn of_acted(id: JobId, acted: &Acted) -> Self {
        match acted {
            Acted::Done { view: Some(_), .. } => Self::Job(id.to_string()),
            Acted::Done { view: None, .. } => Self::Deleted(id.to_string()),
            Acted::NotFound => Self::NotFound,
            Acted::Refused(refusal) => match refusal {
                Refusal::Running => Self::Running,
                Refusal::NotRetryable(state) => Self::NotRetryable(state.number()),
                Refusal::Finished(state) => Self::Finished(state.number()),
                Refusal::KeyTaken(id) => Self::KeyTaken(id.to_string()),
                Refusal::LifeAhead(life) => Self::LifeAhead(*life),
                Refusal::NoSuchCheckpoint(name) => Self::NoSuchCheckpoint(name.clone()),
            },
        }
    }
}

/// Only ids that were written here are read here.
pub(crate) fn job_id(text: &str) -> JobId {
    JobId::parse(text).unwrap_or(JobId(0))
}
