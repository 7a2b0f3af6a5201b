//! `POST /v1/jobs/{id}/cancel`.

use halyard_api::job::Job;
use halyard_api::jobs::cancel;

use crate::engine::chance;
use crate::http::App;
use crate::http::answer::Answer;
use crate::http::call::Call;
use crate::http::convert;
use crate::http::refused::Refused;

/// Call a job off; a running one is asked to stop.
#[utoipa::path(
    post,
    path = "/v1/jobs/{id}/cancel",
    tag = "producers",
    params(("id" = String, Path, description = "The job.")),
    responses((status = 200, body = Job, description = "The job, cancelled or asked to stop."))
)]
pub async fn cancel(app: &App, call: &Call) -> Result<Answer, Refused> {
    call.no_query()?;
    let id = convert::job_id(&call.name)?;
    cancel::read(&call.optional_body()?)?;
    let acted = app.engine.store.cancel(id, chance::seed(), call.by()).await?;
    let (job, _) = convert::operate::acted(acted, &call.name)?;
    let job = job.ok_or_else(|| Refused::no_such_job(&call.name))?;
    Ok(Answer::ok(&job))
}
