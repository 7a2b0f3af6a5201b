//! `DELETE /v1/jobs/{id}`: the job goes, its key stays unless the query says otherwise. Answered
//! 204 without a body.

use serde::Serialize;
use utoipa::IntoParams;

use crate::faults::Faults;
use crate::query::query;

/// The query of `DELETE /v1/jobs/{id}`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct DeleteQuery {
    /// Whether to free its idempotency key too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forget_key: Option<bool>,
}

/// Reads the query of a delete, which is what follows the `?`.
///
/// # Errors
///
/// Everything that is wrong with it.
pub fn read_query(raw: Option<&str>) -> Result<DeleteQuery, Faults> {
    let mut faults = Faults::default();
    let mut got = DeleteQuery::default();
    query(raw, &mut faults, &["forget_key"], |parameter, faults| {
        let known = parameter.name == "forget_key";
        if known {
            got.forget_key = parameter.boolean(faults);
        }
        known
    });
    faults.or(got)
}
