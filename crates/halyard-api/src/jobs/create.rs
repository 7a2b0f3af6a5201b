//! `POST /v1/jobs`: one job, or the one that its key already has.

use std::borrow::Cow;

use halyard_json::{Kind, Value};
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::{IntoParams, ToSchema};

use crate::Timestamp;
use crate::body::Body;
use crate::faults::Faults;
use crate::fields::{Field, Unknown, object};
use crate::job::job_object_more;
use crate::place::Place;
use crate::query::query;
use crate::state::IfFailed;

/// The job to create. Everything but `task` may be left out.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
pub struct CreateJob {
    /// The name of the task, which decides the handler.
    #[schema(min_length = 1, max_length = 128)]
    pub task: String,
    /// The queue; `default` when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 128)]
    pub queue: Option<String>,
    /// Any JSON, up to 1 MiB and 64 levels; `null` when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = serde_json::Value, required = false)]
    pub payload: Option<Box<RawValue>>,
    /// One (task, key) is one job, for as long as the key lives; 1 to 255 code points.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 255)]
    pub idempotency_key: Option<String>,
    /// What a duplicate gets when the key's job has failed; `return` when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub if_failed: Option<IfFailed>,
    /// How long the key lives after the job finished, in milliseconds: 1 minute to 400 days, the
    /// server's setting (30 days) when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 60000, maximum = 34560000000i64)]
    pub idempotency_ttl_ms: Option<i64>,
    /// An id made by the client, `job_` and a UUIDv7 as 26 characters: the same id again with the
    /// same task and payload is a replay. With a free key beside it only if the job was made with
    /// that key; otherwise the answer is `id_taken`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// When it is due, at most 400 days ahead; now when left out or past. Not with `delay_ms`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_at: Option<Timestamp>,
    /// In how many milliseconds it is due. Not with `run_at`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 34560000000i64)]
    pub delay_ms: Option<i64>,
    /// −100 to 100, higher first; 0 when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = -100, maximum = 100)]
    pub priority: Option<i64>,
    /// Attempts a life may use; 20 when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 100)]
    pub max_attempts: Option<i64>,
    /// Crashes in a row that fail the job; 5 when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 100)]
    pub max_crashes: Option<i64>,
    /// How long one start may take, in milliseconds; 900000 when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 100, maximum = 86400000)]
    pub timeout_ms: Option<i64>,
    /// How long it waits between attempts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backoff: Option<CreateBackoff>,
    /// Up to 10 names to find it by.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_items = 10)]
    pub tags: Option<Vec<String>>,
    /// W3C trace context, stored and given to the worker.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traceparent: Option<String>,
}

/// The wait before attempt n + 1 is `min(initial_ms * factor^(n-1), max_ms)`, spread by `jitter`.
/// What is left out has its default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, ToSchema)]
pub struct CreateBackoff {
    /// The wait after the first failure, in milliseconds; 5000 when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 86400000)]
    pub initial_ms: Option<i64>,
    /// What each further failure multiplies it by; 2 when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 10)]
    pub factor: Option<f64>,
    /// The longest wait, in milliseconds; 3600000 when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 604800000)]
    pub max_ms: Option<i64>,
    /// The part of the wait by which chance moves it; 0.2 when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 1)]
    pub jitter: Option<f64>,
}

/// The query of `POST /v1/jobs`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct CreateQuery {
    /// How long to wait for the job to end, in milliseconds; more than 55000 is cut to that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_ms: Option<u64>,
}

job_object_more! {
    /// The job that a create made or found, and which of the two it was.
    pub struct CreatedJob {
        /// Whether the job was there already.
        pub replayed: bool,
        /// `true` when the job had failed and this create opened a new life; otherwise absent.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[schema(required = false)]
        pub revived: bool,
        /// `true` when the job's row is gone and only its key answers: `payload`, `result` and
        /// `error` are `null` then; otherwise absent.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[schema(required = false)]
        pub purged: bool,
    }
}

/// A [`CreateJob`] that arrived: its shape is right, its values are not judged yet. What was left
/// out or `null` is `None`.
#[derive(Clone, Debug, Default)]
pub struct Received<'v> {
    /// False when nothing of it could be read.
    pub is_read: bool,
    /// The task.
    pub task: Cow<'v, str>,
    /// The queue.
    pub queue: Option<Cow<'v, str>>,
    /// The payload, as bytes of the body.
    pub payload: Option<Value<'v>>,
    /// The key.
    pub idempotency_key: Option<Cow<'v, str>>,
    /// What a duplicate gets.
    pub if_failed: Option<IfFailed>,
    /// How long the key lives after the job finished, in milliseconds.
    pub idempotency_ttl_ms: Option<i64>,
    /// The client-made id.
    pub id: Option<Cow<'v, str>>,
    /// When it is due; never beside `delay_ms`.
    pub run_at: Option<Timestamp>,
    /// In how many milliseconds it is due; never beside `run_at`.
    pub delay_ms: Option<i64>,
    /// The priority.
    pub priority: Option<i64>,
    /// Attempts a life may use.
    pub max_attempts: Option<i64>,
    /// Crashes in a row that fail the job.
    pub max_crashes: Option<i64>,
    /// How long one start may take, in milliseconds.
    pub timeout_ms: Option<i64>,
    /// How long it waits between attempts.
    pub backoff: Option<CreateBackoff>,
    /// The tags.
    pub tags: Option<Vec<Cow<'v, str>>>,
    /// The W3C trace context.
    pub traceparent: Option<Cow<'v, str>>,
}

/// Reads the body of a create.
///
/// # Errors
///
/// Everything that is wrong with its shape.
pub fn read<'b>(body: &'b Body<'_>) -> Result<Received<'b>, Faults> {
    let (received, faults) = read_all(body);
    faults.or(received)
}

/// As [`read`], with what could be read beside its faults, for a server that goes on to judge
/// values and then tells all that is wrong at once.
pub fn read_all<'b>(body: &'b Body<'_>) -> (Received<'b>, Faults) {
    let mut faults = Faults::default();
    let received = read_item(body.root(), &Place::Body, &mut faults);
    (received, faults)
}

const MEMBERS: &[&str] = &[
    "task",
    "queue",
    "payload",
    "idempotency_key",
    "if_failed",
    "idempotency_ttl_ms",
    "id",
    "run_at",
    "delay_ms",
    "priority",
    "max_attempts",
    "max_crashes",
    "timeout_ms",
    "backoff",
    "tags",
    "traceparent",
];

/// Reads the create at `place`, which is the body or an item of a batch.
pub(crate) fn read_item<'v>(
    value: Value<'v>,
    place: &Place<'_>,
    faults: &mut Faults,
) -> Received<'v> {
    let mut got = Received::default();
    if !faults.accepts(place, value) {
        return got;
    }
    got.is_read = value.kind() == Kind::Object;
    let mut task = None;
    object(value, place, faults, Unknown::Refused(MEMBERS), |field, faults| {
        match field.name {
            "task" => task = field.text(faults),
            "queue" => got.queue = field.text(faults),
            "payload" => got.payload = field.any(),
            "idempotency_key" => got.idempotency_key = field.text(faults),
            "if_failed" => {
                got.if_failed = field.word(faults, IfFailed::WORDS, IfFailed::from_word);
            }
            "idempotency_ttl_ms" => got.idempotency_ttl_ms = field.integer(faults),
            "id" => got.id = field.text(faults),
            "run_at" => got.run_at = field.time(faults),
            "delay_ms" => got.delay_ms = field.integer(faults),
            "priority" => got.priority = field.integer(faults),
            "max_attempts" => got.max_attempts = field.integer(faults),
            "max_crashes" => got.max_crashes = field.integer(faults),
            "timeout_ms" => got.timeout_ms = field.integer(faults),
            "backoff" => got.backoff = read_backoff(field, faults),
            "tags" => got.tags = field.texts(faults),
            "traceparent" => got.traceparent = field.text(faults),
            _ => return false,
        }
        true
    });
    got.task = faults.required(task, value, place, "task");
    if let (Some(_), Some(delay)) = (got.run_at, value.member("delay_ms"))
        && !delay.is_null()
    {
        faults.invalid(&Place::Member(place, "delay_ms"), delay, "be left out beside run_at");
    }
    got
}

const BACKOFF_MEMBERS: &[&str] = &["initial_ms", "factor", "max_ms", "jitter"];

fn read_backoff(field: Field<'_, '_>, faults: &mut Faults) -> Option<CreateBackoff> {
    let mut got = CreateBackoff::default();
    let unknown = Unknown::Refused(BACKOFF_MEMBERS);
    object(field.any()?, &field.place(), faults, unknown, |field, faults| {
        match field.name {
            "initial_ms" => got.initial_ms = field.integer(faults),
            "factor" => got.factor = field.number(faults),
            "max_ms" => got.max_ms = field.integer(faults),
            "jitter" => got.jitter = field.number(faults),
            _ => return false,
        }
        true
    });
    Some(got)
}

/// Reads the query of a create, which is what follows the `?`.
///
/// # Errors
///
/// Everything that is wrong with it.
pub fn read_query(raw: Option<&str>) -> Result<CreateQuery, Faults> {
    let mut faults = Faults::default();
    let mut got = CreateQuery::default();
    query(raw, &mut faults, &["wait_ms"], |parameter, faults| {
        let known = parameter.name == "wait_ms";
        if known {
            got.wait_ms = parameter.limit(faults, 0);
        }
        known
    });
    faults.or(got)
}
