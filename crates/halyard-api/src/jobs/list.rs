//! `GET /v1/jobs`: pages of jobs, newest first.

use serde::{Deserialize, Serialize, Serializer};
use utoipa::{IntoParams, ToSchema};

use crate::Timestamp;
use crate::faults::Faults;
use crate::job::JobSummary;
use crate::query::{Parameter, query, required};
use crate::state::{Order, State};

/// The query of `GET /v1/jobs`. Filters are joined with *and*.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListJobs {
    /// States, joined by commas; all when left out.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "joined")]
    #[param(required = false, style = Form, explode = false, min_items = 1)]
    pub state: Vec<State>,
    /// The jobs of this queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(min_length = 1)]
    pub queue: Option<String>,
    /// The jobs of this task.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(min_length = 1)]
    pub task: Option<String>,
    /// The jobs with this tag.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(min_length = 1)]
    pub tag: Option<String>,
    /// The jobs created under this key; needs `task`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(min_length = 1)]
    pub idempotency_key: Option<String>,
    /// The jobs created later than this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_after: Option<Timestamp>,
    /// The jobs created earlier than this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_before: Option<Timestamp>,
    /// By time of creation; newest first when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<Order>,
    /// Rows a page; 50 when left out, more than 200 is cut to that.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(minimum = 1)]
    pub limit: Option<u64>,
    /// `next_cursor` of the page before, with the same filters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(min_length = 1)]
    pub cursor: Option<String>,
}

/// A page of jobs.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ListAnswer {
    /// The jobs of this page.
    pub data: Vec<JobSummary>,
    /// The cursor of the next page; `null` on the last.
    #[schema(required)]
    pub next_cursor: Option<String>,
    /// Whether the bound of 10,000 examined rows ended this page before it was full.
    pub partial: bool,
}

fn joined<S: Serializer>(states: &[State], serializer: S) -> Result<S::Ok, S::Error> {
    let words: Vec<&str> = states.iter().map(|state| state.as_str()).collect();
    serializer.serialize_str(&words.join(","))
}

/// Reads the query of a list, which is what follows the `?`.
///
/// # Errors
///
/// Everything that is wrong with it.
pub fn read_query(raw: Option<&str>) -> Result<ListJobs, Faults> {
    const KNOWN: &[&str] = &[
        "state",
        "queue",
        "task",
        "tag",
        "idempotency_key",
        "created_after",
        "created_before",
        "order",
        "limit",
        "cursor",
    ];
    let text = |parameter: &Parameter<'_>, faults: &mut Faults| {
        parameter.text(faults).map(std::borrow::Cow::into_owned)
    };
    let mut faults = Faults::default();
    let mut got = ListJobs::default();
    query(raw, &mut faults, KNOWN, |parameter, faults| {
        match &*parameter.name {
            "state" => got.state = parameter.words(faults, State::WORDS, State::from_word),
            "queue" => got.queue = text(parameter, faults),
            "task" => got.task = text(parameter, faults),
            "tag" => got.tag = text(parameter, faults),
            "idempotency_key" => got.idempotency_key = text(parameter, faults),
            "created_after" => got.created_after = parameter.time(faults),
            "created_before" => got.created_before = parameter.time(faults),
            "order" => got.order = parameter.word(faults, Order::WORDS, Order::from_word),
            "limit" => got.limit = parameter.limit(faults, 1),
            "cursor" => got.cursor = parameter.cursor(faults),
            _ => return false,
        }
        true
    });
    if got.idempotency_key.is_some() {
        required(got.task.as_deref(), "task", " beside idempotency_key", &mut faults);
    }
    faults.or(got)
}
