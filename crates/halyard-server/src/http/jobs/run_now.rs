//! `POST /v1/jobs/{id}/run-now`.

use halyard_api::job::Job;
use halyard_api::jobs::run_now;

use crate::engine::chance;
use crate::http::App;
use crate::http::answer::Answer;
use crate::http::call::Call;
use crate::http::convert;
use crate::http::refused::Refused;

/// Make a job that waits claimable at once.
#[utoipa::path(
    post,
    path = "/v1/jobs/{id}/run-now",
    tag = "producers",
    params(("id" = String, Path, description = "The job.")),
    responses((status = 200, body = Job, description = "The job."))
)]
pub async fn run_now(app: &App, call: &Call) -> Result<Answer, Refused> {
    call.no_query()?;
    let id = convert::job_id(&call.name)?;
    run_now::read(&call.optional_body()?)?;
    let acted = app.engine.store.run_now(id, chance::seed(), call.by()).await?;
    let (job, _) = convert::operate::acted(acted, &call.name)?;
    let job = job.ok_or_else(|| Refused::no_such_job(&call.name))?;
    Ok(Answer::ok(&job))
}
