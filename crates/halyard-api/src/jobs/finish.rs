//! `POST /v1/jobs/finish`: what became of starts, each report judged by itself.
//!
//! A failure report always fits: whatever text an error holds, it is taken. A result that holds
//! refused text or is too deep fails its own job and leaves its neighbours alone.

use std::borrow::Cow;

use halyard_json::{Kind, Value};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::body::Body;
use crate::excerpt::Excerpt;
use crate::faults::Faults;
use crate::fields::{Field, Unknown, array, object};
use crate::place::Place;
use crate::state::{Outcome, State, word_list};

/// The reports.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Finish {
    /// Up to 1,000 reports.
    #[schema(max_items = 1000)]
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
    /// `failed`: the least wait before the next attempt, in milliseconds, cut at 7 days; less than
    /// 0 counts as 0.
    #[serde(skip_serializing_if = "Option::is_none")]
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

/// A [`Finish`] that arrived.
#[derive(Clone, Debug, Default)]
pub struct Received<'v> {
    /// The reports, in the order of the request.
    pub outcomes: Vec<ReceivedReport<'v>>,
}

/// A [`Report`] that arrived.
#[derive(Clone, Debug)]
pub struct ReceivedReport<'v> {
    /// The job.
    pub id: Cow<'v, str>,
    /// The token of its claim.
    pub token: Cow<'v, str>,
    /// What became of it.
    pub outcome: ReceivedOutcome<'v>,
}

/// What became of a start, with what belongs to it.
#[derive(Clone, Debug)]
pub enum ReceivedOutcome<'v> {
    /// The handler returned.
    Completed(ReceivedResult<'v>),
    /// The handler failed.
    Failed {
        /// What went wrong.
        error: ReceivedError<'v>,
        /// Whether another attempt may succeed.
        retryable: bool,
        /// The least wait before the next attempt, in milliseconds; of any size and sign.
        retry_after_ms: Option<i64>,
    },
    /// The worker gives the job back.
    Released,
    /// The worker puts the job off.
    Snoozed {
        /// How long, in milliseconds.
        delay_ms: i64,
    },
    /// The handler stopped because a cancel was requested.
    Cancelled,
}

/// What a handler returned.
#[derive(Clone, Debug)]
pub enum ReceivedResult<'v> {
    /// The value, as bytes of the body; `None` for `null` and for nothing.
    Value(Option<Value<'v>>),
    /// It holds refused text, one member twice, or is too deep; the words say what and where. The
    /// job is to fail as non-retryable.
    Refused(String),
}

/// What went wrong, in whatever form it was sent; NUL and lone surrogates are U+FFFD already.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReceivedError<'v> {
    /// The class or name of the error.
    pub r#type: Option<Cow<'v, str>>,
    /// What it says.
    pub message: Option<Cow<'v, str>>,
    /// Where it happened.
    pub stack: Option<Cow<'v, str>>,
}

/// Reads the body of a finish.
///
/// # Errors
///
/// Everything that is wrong with its shape. A result or an error is never among it, whatever it
/// holds, as long as the body is JSON.
pub fn read<'b>(body: &'b Body<'_>) -> Result<Received<'b>, Faults> {
    let mut faults = Faults::default();
    let (root, place) = (body.root(), Place::Body);
    let mut list = None;
    let mut reports = Vec::new();
    object(root, &place, &mut faults, Unknown::Ignored, |field, faults| {
        let known = field.name == "outcomes";
        if let (true, Some(value)) = (known, field.any()) {
            list = Some(());
            array(value, &field.place(), faults, |report, place, faults| {
                faults.next_item();
                reports.extend(read_report(report, place, faults));
            });
            faults.next_item();
        }
        known
    });
    faults.required(list, root, &place, "outcomes");
    faults.or(Received { outcomes: reports })
}

fn read_report<'v>(
    value: Value<'v>,
    place: &Place<'_>,
    faults: &mut Faults,
) -> Option<ReceivedReport<'v>> {
    let (mut id, mut token, mut outcome) = (None, None, None);
    let (mut result, mut error) = (None, None);
    let (mut retryable, mut retry_after, mut delay) = (None, None, None);
    object(value, place, faults, Unknown::Ignored, |field, faults| {
        match field.name {
            "id" => id = field.text(faults),
            "token" => token = field.text(faults),
            "outcome" => outcome = field.word(faults, Outcome::WORDS, Outcome::from_word),
            "result" => result = Some(field.value),
            "error" => error = Some(field.value),
            // Which of them count is known only when the outcome is.
            "retryable" => retryable = field.any(),
            "retry_after_ms" => retry_after = field.any(),
            "delay_ms" => delay = field.any(),
            _ => return false,
        }
        true
    });
    let id = faults.required(id, value, place, "id");
    let token = faults.required(token, value, place, "token");
    if outcome.is_none() {
        faults.required(None::<()>, value, place, "outcome");
    }
    let field = |name, value| Field::new(place, name, value);
    let outcome = match outcome? {
        Outcome::Completed => ReceivedOutcome::Completed(read_result(result)),
        Outcome::Failed => ReceivedOutcome::Failed {
            error: error.map(read_error).unwrap_or_default(),
            retryable: retryable
                .and_then(|value| field("retryable", value).boolean(faults))
                .unwrap_or(true),
            retry_after_ms: retry_after
                .and_then(|value| field("retry_after_ms", value).integer_of_any_form(faults)),
        },
        Outcome::Released => ReceivedOutcome::Released,
        Outcome::Snoozed => {
            let read = delay.and_then(|value| field("delay_ms", value).integer(faults));
            let delay_ms = faults.required(read, value, place, "delay_ms");
            ReceivedOutcome::Snoozed { delay_ms }
        }
        Outcome::Cancelled => ReceivedOutcome::Cancelled,
    };
    Some(ReceivedReport { id, token, outcome })
}

fn read_result(result: Option<Value<'_>>) -> ReceivedResult<'_> {
    let result = result.filter(|value| !value.is_null());
    match result.and_then(|value| value.refusals().next()) {
        None => ReceivedResult::Value(result),
        Some(refusal) => {
            let fault = refusal.fault();
            let place = Excerpt(&fault.pointer);
            ReceivedResult::Refused(format!("the result's value at \"{place}\": {}", fault.kind))
        }
    }
}

/// Takes an error as it comes: an object with or without its members, or anything else, which then
/// is the message.
fn read_error(error: Value<'_>) -> ReceivedError<'_> {
    let mut got = ReceivedError::default();
    if error.kind() != Kind::Object {
        got.message = any_text(error);
        return got;
    }
    for (name, value) in error.members() {
        match &*name {
            "type" => got.r#type = any_text(value),
            "message" => got.message = any_text(value),
            "stack" => got.stack = any_text(value),
            _ => {}
        }
    }
    got
}

/// The characters of a string; of anything else but `null` its JSON text.
fn any_text(value: Value<'_>) -> Option<Cow<'_, str>> {
    match value.kind() {
        Kind::Null => None,
        Kind::String => value.as_str(),
        Kind::Bool | Kind::Number | Kind::Array | Kind::Object => Some(Cow::Borrowed(value.raw())),
    }
}
