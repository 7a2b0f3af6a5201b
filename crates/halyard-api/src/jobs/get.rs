//! `GET /v1/jobs/{id}`: everything about one job, a [`JobDetail`](crate::job::JobDetail).

use serde::Serialize;
use utoipa::IntoParams;

use crate::faults::Faults;
use crate::query::query;

/// The query of `GET /v1/jobs/{id}`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct GetQuery {
    /// How long to wait for the life seen at the start to end, in milliseconds; more than 55000 is
    /// cut to that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_ms: Option<u64>,
}

/// Reads the query of a get, which is what follows the `?`.
///
/// # Errors
///
/// Everything that is wrong with it.
pub fn read_query(raw: Option<&str>) -> Result<GetQuery, Faults> {
    let mut faults = Faults::default();
    let mut got = GetQuery::default();
    query(raw, &mut faults, &["wait_ms"], |parameter, faults| {
        let known = parameter.name == "wait_ms";
        if known {
            got.wait_ms = parameter.limit(faults, 0);
        }
        known
    });
    faults.or(got)
}
