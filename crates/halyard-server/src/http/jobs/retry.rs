//! `POST /v1/jobs/{id}/retry`.

use halyard_api::jobs::retry::{self, RetriedJob, Retry};

use crate::engine::chance;
use crate::http::App;
use crate::http::answer::Answer;
use crate::http::call::Call;
use crate::http::convert;
use crate::http::refused::Refused;

/// Open a new life of a job that ended: same id, same key, checkpoints kept.
#[utoipa::path(
    post,
    path = "/v1/jobs/{id}/retry",
    tag = "producers",
    params(
        ("id" = String, Path, description = "The job."),
        ("Idempotency-Key" = Option<String>, Header,
            description = "Makes the call repeatable; kept for 24 h.")),
    request_body = Retry,
    responses((status = 200, body = RetriedJob, description = "The job in its new life.",
        headers(("Idempotent-Replayed" = String))))
)]
pub async fn retry(app: &App, call: &Call) -> Result<Answer, Refused> {
    call.no_query()?;
    let id = convert::job_id(&call.name)?;
    let (how, request) = {
        let body = call.optional_body()?;
        let how = convert::operate::how(retry::read(&body)?)?;
        (how, convert::request_key(call, &body)?)
    };
    let answer = app.engine.store.retry(id, how, request, chance::seed(), call.by()).await?;
    let ((job, repeated), replayed) = convert::operate::acted_once(answer, &call.name)?;
    let job = job.ok_or_else(|| Refused::no_such_job(&call.name))?;
    Ok(Answer::ok(&RetriedJob::new(job, repeated)).replayed(repeated || replayed))
}
