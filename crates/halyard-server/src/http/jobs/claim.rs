//! `POST /v1/jobs/claim`.

use halyard_api::jobs::claim::{self, Claim, ClaimAnswer};

use crate::http::App;
use crate::http::answer::Answer;
use crate::http::call::Call;
use crate::http::convert;
use crate::http::refused::Refused;

/// Lease jobs to run; waits for one when there is none and `wait_ms` says so.
#[utoipa::path(
    post,
    path = "/v1/jobs/claim",
    tag = "workers",
    request_body = Claim,
    responses((status = 200, body = ClaimAnswer, description = "The jobs, each with its lease."))
)]
pub async fn claim(app: &App, call: &Call) -> Result<Answer, Refused> {
    call.no_query()?;
    let claim = convert::work::claim(claim::read(&call.body()?)?)?;
    let (queues, tasks) = (&claim.claim.queues, claim.claim.tasks.as_deref());
    app.engine.workers.claimed(&claim.worker, queues, tasks, app.now());
    let (claims, leased) =
        call.while_let_in(app, app.engine.claim(claim.claim, claim.wait)).await??;
    let answer = Answer::ok(&convert::work::claimed(&claims));
    Ok(answer.handing_over(leased, &call.link))
}
