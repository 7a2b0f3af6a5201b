//! `POST /v1/jobs/batch`.

use halyard_api::jobs::batch::{self, BatchAnswer, CreateBatch};

use crate::http::App;
use crate::http::answer::Answer;
use crate::http::call::Call;
use crate::http::convert;
use crate::http::refused::Refused;

/// Create up to 1,000 jobs in one transaction, judged in order as if sent singly.
#[utoipa::path(
    post,
    path = "/v1/jobs/batch",
    tag = "producers",
    params(("Idempotency-Key" = Option<String>, Header,
            description = "Makes the call repeatable; kept for 24 h.")),
    request_body = CreateBatch,
    responses((status = 200, body = BatchAnswer, description = "A result for each job, in order.",
        headers(("Idempotent-Replayed" = String))))
)]
pub async fn batch(app: &App, call: &Call) -> Result<Answer, Refused> {
    call.no_query()?;
    let (jobs, request) = {
        let body = call.body()?;
        let jobs = convert::create::many(batch::read_all(&body), app.rules.key_ttl_ms, app.now())?;
        (jobs, convert::request_key(call, &body)?)
    };
    let answer = app.engine.store.create(jobs, request).await?;
    let (results, replayed) = convert::create::results(answer, call.id.as_str())?;
    Ok(Answer::ok(&BatchAnswer { results }).replayed(replayed))
}
