//! `DELETE /v1/jobs/{id}`.

use halyard_api::jobs::delete::{self, DeleteQuery};

use crate::engine::chance;
use crate::http::App;
use crate::http::answer::Answer;
use crate::http::call::Call;
use crate::http::convert;
use crate::http::refused::Refused;

/// Remove a job; its key stays known unless `forget_key` says otherwise.
#[utoipa::path(
    delete,
    path = "/v1/jobs/{id}",
    tag = "operators",
    params(("id" = String, Path, description = "The job."), DeleteQuery),
    responses((status = 204, description = "It is gone."))
)]
pub async fn delete(app: &App, call: &Call) -> Result<Answer, Refused> {
    let query = delete::read_query(call.query())?;
    let id = convert::job_id(&call.name)?;
    let forget_key = query.forget_key.unwrap_or(false);
    let acted = app.engine.store.delete(id, forget_key, chance::seed(), call.by()).await?;
    convert::operate::acted(acted, &call.name)?;
    Ok(Answer::nothing())
}
