//! `POST /v1/jobs/heartbeat`.

use halyard_api::jobs::heartbeat::{self, Heartbeat, HeartbeatAnswer};

use crate::http::App;
use crate::http::answer::Answer;
use crate::http::call::Call;
use crate::http::convert;
use crate::http::refused::Refused;

/// Renew all leases of a worker.
#[utoipa::path(
    post,
    path = "/v1/jobs/heartbeat",
    tag = "workers",
    request_body = Heartbeat,
    responses((status = 200, body = HeartbeatAnswer, description = "A result for each lease."))
)]
pub async fn heartbeat(app: &App, call: &Call) -> Result<Answer, Refused> {
    call.no_query()?;
    let sent = convert::work::heartbeat(heartbeat::read(&call.body()?)?)?;
    app.engine.workers.beat(&sent.worker, sent.draining, app.now());
    let beats = app.engine.store.heartbeat(sent.beats, sent.lease_ms).await?;
    Ok(Answer::ok(&convert::work::renewed(&beats, sent.ids)))
}
