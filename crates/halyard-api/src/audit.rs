//! `GET /v1/audit`: what operators did, newest first.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::Timestamp;
use crate::faults::Faults;
use crate::query::query;
use crate::state::AuditAction;

/// The query of `GET /v1/audit`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListAudit {
    /// Lines a page; 50 when left out, more than 200 is cut to that.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(minimum = 1)]
    pub limit: Option<u64>,
    /// `next_cursor` of the page before.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(min_length = 1)]
    pub cursor: Option<String>,
}

/// One line: who did what, when, to how many.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AuditEntry {
    /// When.
    pub at: Timestamp,
    /// Who: the name of the key.
    pub actor: String,
    /// The id of the key; `null` for the configured one, and where none was asked for.
    #[schema(required)]
    pub key_id: Option<String>,
    /// What.
    pub action: AuditAction,
    /// To what, if not to jobs: a queue, a key; for `run_as_new` the job that was the pattern, for
    /// a bulk action the filter by which its jobs were chosen.
    #[schema(required)]
    pub target: Option<String>,
    /// To which jobs.
    pub job_ids: Vec<String>,
    /// To how many.
    pub count: u64,
    /// The id of the request.
    pub request_id: String,
}

/// A page of the audit log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AuditAnswer {
    /// The lines of this page.
    pub data: Vec<AuditEntry>,
    /// The cursor of the next page; `null` on the last.
    #[schema(required)]
    pub next_cursor: Option<String>,
}

/// Reads the query of `GET /v1/audit`, which is what follows the `?`.
///
/// # Errors
///
/// Everything that is wrong with it.
pub fn read_query(raw: Option<&str>) -> Result<ListAudit, Faults> {
    let mut faults = Faults::default();
    let mut got = ListAudit::default();
    query(raw, &mut faults, &["limit", "cursor"], |parameter, faults| {
        match &*parameter.name {
            "limit" => got.limit = parameter.limit(faults, 1),
            "cursor" => got.cursor = parameter.cursor(faults),
            _ => return false,
        }
        true
    });
    faults.or(got)
}
