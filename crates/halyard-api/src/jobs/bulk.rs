//! `POST /v1/jobs/bulk`: one action on up to 1,000 jobs, each judged by itself.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::body::{Body, ELEMENTS_MAX};
use crate::faults::Faults;
use crate::fields::{Field, Unknown, object};
use crate::job::Job;
use crate::place::Place;
use crate::problem::Problem;
use crate::state::BulkAction;

/// What to do, and to which jobs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Bulk {
    /// What to do.
    pub action: BulkAction,
    /// The jobs, up to 1,000.
    #[schema(max_items = 1000)]
    pub ids: Vec<String>,
    /// For a retry: the life of each job that the caller saw, by id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lives: Option<BTreeMap<String, i64>>,
    /// By which filter the jobs were chosen, in words of your own: for the audit log, which shows
    /// it as `target`. Nothing is chosen by it here.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 8192)]
    pub filter: Option<String>,
}

/// A result for each id, in the order of the request.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct BulkAnswer {
    /// The results.
    pub results: Vec<BulkResult>,
}

/// What the action came to for one job: `job` (200), `error` (404, 409) or neither (204).
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct BulkResult {
    /// The id as it was given.
    pub id: String,
    /// 200 done, 204 deleted; 404 or 409 refused.
    pub status: u16,
    /// The job after the action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<Job>)]
    pub job: Option<Box<Job>>,
    /// Why it was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<Problem>)]
    pub error: Option<Box<Problem>>,
}

/// A [`Bulk`] that arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received<'v> {
    /// What to do.
    pub action: BulkAction,
    /// The jobs, in the order of the request.
    pub ids: Vec<Cow<'v, str>>,
    /// The life of each job that the caller saw; it may name jobs that `ids` does not.
    pub lives: BTreeMap<Cow<'v, str>, i64>,
    /// By which filter the jobs were chosen.
    pub filter: Option<Cow<'v, str>>,
}

/// Reads the body of a bulk call.
///
/// # Errors
///
/// Everything that is wrong with its shape.
pub fn read<'b>(body: &'b Body<'_>) -> Result<Received<'b>, Faults> {
    const MEMBERS: &[&str] = &["action", "ids", "lives", "filter"];
    let mut faults = Faults::default();
    let (root, place) = (body.root(), Place::Body);
    let (mut action, mut ids, mut lives, mut filter) = (None, None, None, None);
    if !faults.accepts(&place, root) {
        return Err(faults);
    }
    object(root, &place, &mut faults, Unknown::Refused(MEMBERS), |field, faults| {
        match field.name {
            "action" => action = field.word(faults, BulkAction::WORDS, BulkAction::from_word),
            "ids" => ids = field.texts(faults),
            "lives" => lives = read_lives(field, faults),
            "filter" => filter = field.text(faults),
            _ => return false,
        }
        true
    });
    if action.is_none() {
        faults.required(None::<()>, root, &place, "action");
    }
    let ids = faults.required(ids, root, &place, "ids");
    match action {
        Some(action) => {
            faults.or(Received { action, ids, lives: lives.unwrap_or_default(), filter })
        }
        None => Err(faults),
    }
}

fn read_lives<'v>(
    field: Field<'_, 'v>,
    faults: &mut Faults,
) -> Option<BTreeMap<Cow<'v, str>, i64>> {
    let lives = field.any()?;
    if lives.members().nth(ELEMENTS_MAX).is_some() {
        let rule = format!("have at most {ELEMENTS_MAX} members");
        faults.invalid(&field.place(), lives, &rule);
        return None;
    }
    let mut got = BTreeMap::new();
    object(lives, &field.place(), faults, Unknown::Refused(&[]), |life, faults| {
        if let Some(number) = life.integer(faults) {
            got.insert(Cow::Owned(life.name.to_owned()), number);
        }
        true
    });
    Some(got)
}
