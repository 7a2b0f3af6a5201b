//! `POST /v1/jobs/{id}/run-as-new`.

use halyard_api::job::Job;
use halyard_api::jobs::run_as_new::{self, RunAsNew};
use http::StatusCode;

use crate::engine::chance;
use crate::http::App;
use crate::http::answer::Answer;
use crate::http::call::Call;
use crate::http::convert;
use crate::http::refused::Refused;

/// Make a new job like this one, with a new id and no key.
#[utoipa::path(
    post,
    path = "/v1/jobs/{id}/run-as-new",
    tag = "producers",
    params(
        ("id" = String, Path, description = "The job."),
        ("Idempotency-Key" = Option<String>, Header,
            description = "Makes the call repeatable; kept for 24 h.")),
    request_body = RunAsNew,
    responses(
        (status = 201, body = Job, description = "The new job.",
            headers(("Location" = String), ("Idempotent-Replayed" = String))),
        (status = 200, body = Job, description = "The job that this request had made.",
            headers(("Idempotent-Replayed" = String))),
    )
)]
pub async fn run_as_new(app: &App, call: &Call) -> Result<Answer, Refused> {
    call.no_query()?;
    let id = convert::job_id(&call.name)?;
    let (payload, request) = {
        let body = call.optional_body()?;
        let payload = convert::create::own_payload(&run_as_new::read(&body)?)?;
        (payload, convert::request_key(call, &body)?)
    };
    let new_id = chance::job_id(app.now());
    let answer = app.engine.store.run_as_new(id, new_id, payload, request, call.by()).await?;
    let made = convert::create::run_as_new(answer, &call.name)?;
    let replayed = made.job.replayed;
    let job = made.job.into_job();
    let answer = Answer::json(made.status, &job).replayed(replayed);
    Ok(if made.status == StatusCode::CREATED { answer.at_job(&job.id) } else { answer })
}
