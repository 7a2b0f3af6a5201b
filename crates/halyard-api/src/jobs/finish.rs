//! `POST /v1/jobs/finish`: what became of starts, each report judged by itself.
//!
//! A failure report always fits: whatever text an error holds, it is taken. A result that holds
//! refused text or is too deep fails its own job and leaves its neighbours alone.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::state::{Outcome, State, word_list};

/// The reports.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Finish {
    /// One to 1,000 reports.
    #[schema(min_items = 1, max_items = 1000)]
    pub outcomes: Vec<Report>,
}

/// What became of one start. Members that belong to another outcome are ignored.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Report {
    /// The job.
    pub id: String,
    /// The token of its claim.
    pub token: String,
    /// What became of it.
    pub outcome: Outcome,
    /// `completed`: what the handler returned, any JSON up to 1 MiB; `null` when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = serde_json::Value, required = false)]
    pub result: Option<Box<RawValue>>,
    /// `failed`: what went wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<FailureText>,
    /// `failed`: whether another attempt may succeed; `true` when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retryable: Option<bool>,
    /// `failed`: the least wait before the next attempt, in milliseconds, cut at 7 days.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0)]
    pub retry_after_ms: Option<i64>,
    /// `snoozed`, required there: how long to put it off, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1000, maximum = 2592000000i64)]
    pub delay_ms: Option<i64>,
}

impl Report {
    /// The handler returned `result`.
    pub fn completed(id: String, token: String, result: Option<Box<RawValue>>) -> Self {
        Self { result, ..Self::bare(id, token, Outcome::Completed) }
    }

    /// The handler failed; `retry_after_ms` is the least wait before the next attempt.
    pub fn failed(
        id: String,
        token: String,
        error: FailureText,
        retryable: bool,
        retry_after_ms: Option<i64>,
    ) -> Self {
        Self {
            error: Some(error),
            retryable: Some(retryable),
            retry_after_ms,
            ..Self::bare(id, token, Outcome::Failed)
        }
    }

    /// The worker gives the job back.
    pub fn released(id: String, token: String) -> Self {
        Self::bare(id, token, Outcome::Released)
    }

    /// The worker puts the job off for `delay_ms` milliseconds.
    pub fn snoozed(id: String, token: String, delay_ms: i64) -> Self {
        Self { delay_ms: Some(delay_ms), ..Self::bare(id, token, Outcome::Snoozed) }
    }

    /// The handler stopped because a cancel was requested.
    pub fn cancelled(id: String, token: String) -> Self {
        Self::bare(id, token, Outcome::Cancelled)
    }

    fn bare(id: String, token: String, outcome: Outcome) -> Self {
        Self {
            id,
            token,
            outcome,
            result: None,
            error: None,
            retryable: None,
            retry_after_ms: None,
            delay_ms: None,
        }
    }
}

/// What went wrong, in the words of the worker's language. The server cuts and cleans it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct FailureText {
    /// The class or name of the error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#type: Option<String>,
    /// What it says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Where it happened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stack: Option<String>,
}

/// A result for each report, in the order of the request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FinishAnswer {
    /// The results.
    pub results: Vec<FinishResult>,
}

word_list! {
    /// How a report was taken.
    pub enum FinishStatus {
        /// It stands, now or from an earlier time.
        Ok = "ok",
        /// Its token is not that of a live lease; nothing was changed.
        LeaseLost = "lease_lost",
        /// Another outcome stands for this start, or a cancel was reported that nobody asked for.
        Conflict = "conflict",
        /// There is no such job.
        NotFound = "not_found",
    }
}

/// How one report was taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FinishResult {
    /// The job, as it was given.
    pub id: String,
    /// How it was taken.
    pub status: FinishStatus,
    /// The job's state now; `null` when there is no such job.
    #[schema(required)]
    pub state: Option<State>,
    /// Whether the same report stood already.
    pub repeated: bool,
    /// For `conflict`: the outcome that stands for this start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub recorded_outcome: Option<Outcome>,
}
