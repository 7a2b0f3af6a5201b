//! Errors as they are answered: `application/problem+json` (RFC 9457) with a closed list of codes.
//!
//! [`Code`] knows its status, its title and whether the same request may succeed when it is sent
//! again; a [`Problem`] adds what happened this time. The `type` of a problem is a relative
//! reference to the page that explains its code.

use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

use crate::job::Checkpoint;
use crate::state::word_list;

/// The media type of every answer that is an error.
pub const PROBLEM_MEDIA_TYPE: &str = "application/problem+json";

word_list! {
    /// What is wrong with a call, from a closed list. A code never changes its meaning.
    pub enum Code {
        /// The body is not one JSON text in UTF-8.
        MalformedJson = "malformed_json",
        /// A member or a query parameter that the call does not have.
        UnknownField = "unknown_field",
        /// A member, a query parameter or a header has a wrong type or value.
        InvalidField = "invalid_field",
        /// A member or a query parameter that the call needs is not there.
        MissingField = "missing_field",
        /// The cursor is unreadable, or from a list with other filters.
        CursorMismatch = "cursor_mismatch",
        /// No key, or one that is not valid.
        Unauthenticated = "unauthenticated",
        /// The key's role does not cover the call, or it comes from another origin.
        Forbidden = "forbidden",
        /// The server was started read-only.
        ReadOnly = "read_only",
        /// There is no such job.
        JobNotFound = "job_not_found",
        /// There is no such queue.
        QueueNotFound = "queue_not_found",
        /// There is nothing at this address.
        NotFound = "not_found",
        /// The address exists, with other methods.
        MethodNotAllowed = "method_not_allowed",
        /// The token is not that of a live lease.
        LeaseLost = "lease_lost",
        /// The checkpoint exists with another value; the first write won.
        CheckpointConflict = "checkpoint_conflict",
        /// The job is running.
        JobRunning = "job_running",
        /// The job is in a state from which it cannot be retried.
        JobNotRetryable = "job_not_retryable",
        /// The job has ended.
        JobFinished = "job_finished",
        /// Another job holds the idempotency key by now.
        IdempotencyKeyTaken = "idempotency_key_taken",
        /// The id belongs to a job with another task or payload.
        IdTaken = "id_taken",
        /// The body, or a part of it, is larger than its limit.
        PayloadTooLarge = "payload_too_large",
        /// The body is not declared as JSON.
        UnsupportedMediaType = "unsupported_media_type",
        /// The `Host` is none that this server answers to.
        UnknownHost = "unknown_host",
        /// The idempotency key was used with another payload or body.
        IdempotencyKeyReused = "idempotency_key_reused",
        /// More requests are waiting than the server takes.
        Overloaded = "overloaded",
        /// The server is shutting down.
        Draining = "draining",
        /// The store cannot be reached or written.
        StorageUnavailable = "storage_unavailable",
    }
}

impl Code {
    /// The HTTP status that goes with the code.
    pub const fn status(self) -> u16 {
        match self {
            Self::MalformedJson
            | Self::UnknownField
            | Self::InvalidField
            | Self::MissingField
            | Self::CursorMismatch => 400,
            Self::Unauthenticated => 401,
            Self::Forbidden | Self::ReadOnly => 403,
            Self::JobNotFound | Self::QueueNotFound | Self::NotFound => 404,
            Self::MethodNotAllowed => 405,
            Self::LeaseLost
            | Self::CheckpointConflict
            | Self::JobRunning
            | Self::JobNotRetryable
            | Self::JobFinished
            | Self::IdempotencyKeyTaken
            | Self::IdTaken => 409,
            Self::PayloadTooLarge => 413,
            Self::UnsupportedMediaType => 415,
            Self::UnknownHost => 421,
            Self::IdempotencyKeyReused => 422,
            Self::Overloaded | Self::Draining | Self::StorageUnavailable => 503,
        }
    }

    /// A short sentence for people, always the same for one code.
    pub const fn title(self) -> &'static str {
        match self {
            Self::MalformedJson => "The body is not valid JSON",
            Self::UnknownField => "The request has a field that this call does not know",
            Self::InvalidField => "A field has a wrong type or value",
            Self::MissingField => "A required field is missing",
            Self::CursorMismatch => "The cursor does not belong to this list",
            Self::Unauthenticated => "A valid API key is required",
            Self::Forbidden => "This caller may not make this call",
            Self::ReadOnly => "The server is read-only",
            Self::JobNotFound => "There is no such job",
            Self::QueueNotFound => "There is no such queue",
            Self::NotFound => "There is nothing here",
            Self::MethodNotAllowed => "This address does not take this method",
            Self::LeaseLost => "The lease is not live any more",
            Self::CheckpointConflict => "The checkpoint exists with another value",
            Self::JobRunning => "The job is running",
            Self::JobNotRetryable => "The job cannot be retried in its state",
            Self::JobFinished => "The job has ended",
            Self::IdempotencyKeyTaken => "Another job holds the idempotency key",
            Self::IdTaken => "The id belongs to another job",
            Self::PayloadTooLarge => "Something is larger than its limit",
            Self::UnsupportedMediaType => "The body must be declared as JSON",
            Self::UnknownHost => "The server does not answer to this host name",
            Self::IdempotencyKeyReused => "The idempotency key was used for something else",
            Self::Overloaded => "The server is overloaded",
            Self::Draining => "The server is shutting down",
            Self::StorageUnavailable => "The store is unavailable",
        }
    }

    /// Whether the same request, sent again later, may succeed although nobody changed anything.
    pub const fn retryable(self) -> bool {
        self.status() == 503
    }

    /// The reference to the code's page, relative to the server's own address.
    pub fn documentation(self) -> String {
        format!("/docs/errors#{}", self.as_str())
    }
}

/// The body of every answer that is an error.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Problem {
    /// A reference to the documentation of the code.
    pub r#type: String,
    /// A short sentence for people, always the same for one code.
    pub title: String,
    /// The HTTP status; of an item in a batch, the status it would have had alone.
    pub status: u16,
    /// What is wrong, for programs.
    pub code: Code,
    /// What is wrong this time, for people, with the values that matter.
    pub detail: String,
    /// The id of the request, as in the header `X-Request-Id`.
    pub request_id: String,
    /// Whether the same request, sent again later, may succeed.
    pub retryable: bool,
    /// Everything that is wrong with the request, each with its place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<FieldError>,
    /// The job in whose way the call stood.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub job_id: Option<String>,
    /// Where the payload differs from that of the key's job, as JSON pointers, at most 20; `null`
    /// when that job was purged and there is nothing left to compare with.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    #[schema(value_type = Option<Vec<String>>)]
    pub changed: Option<Option<Vec<String>>>,
    /// The checkpoint that was written first, for `checkpoint_conflict`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<Checkpoint>)]
    pub checkpoint: Option<Box<Checkpoint>>,
}

impl Problem {
    /// A problem of this code with nothing but its detail.
    pub fn new(code: Code, detail: impl Into<String>, request_id: impl Into<String>) -> Self {
        Self {
            r#type: code.documentation(),
            title: code.title().to_owned(),
            status: code.status(),
            code,
            detail: detail.into(),
            request_id: request_id.into(),
            retryable: code.retryable(),
            errors: Vec::new(),
            job_id: None,
            changed: None,
            checkpoint: None,
        }
    }
}

/// One thing that is wrong with a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FieldError {
    /// Which of the codes of status 400, or `payload_too_large`.
    pub code: Code,
    /// Where: a JSON pointer into the body (`/jobs/50/task`, empty for the body as a whole), `?`
    /// and the name of a query parameter (`?limit`), or the name of a header.
    pub pointer: String,
    /// The field, its value (cut to about 80 characters) and the rule that it breaks.
    pub message: String,
}

/// Reads a member that is there, so that `null` is `Some(None)` and not the same as absent.
fn present<'de, D, T>(deserializer: D) -> Result<Option<Option<T>>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Option::<T>::deserialize(deserializer).map(Some)
}
