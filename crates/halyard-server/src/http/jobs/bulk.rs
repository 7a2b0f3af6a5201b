//! `POST /v1/jobs/bulk`.

use halyard_api::jobs::bulk::{self, Bulk, BulkAnswer};

use crate::engine::chance;
use crate::http::App;
use crate::http::answer::Answer;
use crate::http::call::Call;
use crate::http::convert;
use crate::http::refused::Refused;

/// Do one action to up to 1,000 jobs, each judged by itself.
#[utoipa::path(
    post,
    path = "/v1/jobs/bulk",
    tag = "operators",
    params(("Idempotency-Key" = Option<String>, Header,
            description = "Makes the call repeatable; kept for 24 h.")),
    request_body = Bulk,
    responses((status = 200, body = BulkAnswer, description = "A result for each id, in order.",
        headers(("Idempotent-Replayed" = String))))
)]
pub async fn bulk(app: &App, call: &Call) -> Result<Answer, Refused> {
    call.no_query()?;
    let (ids, bulk, request) = {
        let body = call.body()?;
        let sent = bulk::read(&body)?;
        let bulk = convert::operate::bulk(&sent)?;
        let ids: Vec<String> = sent.ids.iter().map(ToString::to_string).collect();
        (ids, bulk, convert::request_key(call, &body)?)
    };
    let answer = app.engine.store.bulk(bulk, request, chance::seed(), call.by()).await?;
    let (results, replayed) = convert::operate::bulk_results(answer, &ids, call.id.as_str())?;
    Ok(Answer::ok(&BulkAnswer { results }).replayed(replayed))
}
