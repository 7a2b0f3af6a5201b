//! `POST /v1/jobs`.

use halyard_api::jobs::create::{self, CreateJob, CreateQuery, CreatedJob};
use http::StatusCode;
use tokio::time::Instant;

use crate::http::App;
use crate::http::answer::Answer;
use crate::http::call::Call;
use crate::http::convert;
use crate::http::refused::Refused;

/// Create a job, or find the one that its key already has.
#[utoipa::path(
    post,
    path = "/v1/jobs",
    tag = "producers",
    params(CreateQuery, ("Idempotency-Key" = Option<String>, Header,
            description = "Makes the call repeatable; kept for 24 h.")),
    request_body = CreateJob,
    responses(
        (status = 201, body = CreatedJob, description = "A new job.",
            headers(("Location" = String), ("Idempotent-Replayed" = String))),
        (status = 200, body = CreatedJob, description = "The job that an equal create had made.",
            headers(("Idempotent-Replayed" = String))),
    )
)]
pub async fn create(app: &App, call: &Call) -> Result<Answer, Refused> {
    let started = Instant::now();
    let query = create::read_query(call.query())?;
    let (job, request) = {
        let body = call.body()?;
        let job = convert::create::one(create::read_all(&body), app.rules.key_ttl_ms, app.now())?;
        (job, convert::request_key(call, &body)?)
    };
    let answer = app.engine.store.create(vec![job], request).await?;
    let mut made = convert::create::made(answer)?;
    let wait = convert::wait(query.wait_ms);
    if let (Some((id, life)), false) = (made.lives, wait.is_zero()) {
        // Boxed, as few creates wait and a wait's timer is large.
        let later = app.engine.read_after(id, life, started + wait);
        let later = Box::pin(call.while_let_in(app, later)).await;
        // Deleted meanwhile, or the caller's key was revoked, or the store gave no answer: it was
        // made all the same, and this is what it was. A refusal would have it sent again, and made
        // twice where it has neither id nor key.
        if let Ok(Ok(Some(later))) = later {
            made.becomes(&later);
        }
    }
    let answer = Answer::json(made.status, &made.job).replayed(made.job.replayed);
    Ok(if made.status == StatusCode::CREATED { answer.at_job(&made.job.id) } else { answer })
}
