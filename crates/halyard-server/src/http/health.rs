//! `GET /healthz` and `GET /readyz`. Any query is ignored: probes append what they like.

use std::time::Duration;

use halyard_api::health::Health;
use halyard_api::problem::Code;
use halyard_store::StoreError;

use super::App;
use super::answer::Answer;
use super::call::Call;
use super::refused::Refused;

/// How long the store may take to answer a probe: a balancer is to hear it before it gives up.
pub const READY_MAX: Duration = Duration::from_secs(5);

/// The process is there.
#[utoipa::path(
    get,
    path = "/healthz",
    tag = "server",
    responses((status = 200, body = Health, description = "The process answers."))
)]
pub async fn alive(_app: &App, _call: &Call) -> Result<Answer, Refused> {
    Ok(ok())
}

/// The server takes work.
#[utoipa::path(
    get,
    path = "/readyz",
    tag = "server",
    responses((status = 200, body = Health, description = "The server takes work."))
)]
pub async fn ready(app: &App, _call: &Call) -> Result<Answer, Refused> {
    if app.engine.is_draining() {
        return Err(Refused::new(Code::Draining, "this server is shutting down"));
    }
    let answer = tokio::time::timeout(READY_MAX, app.engine.store.ready_queues()).await;
    let silent = |_| StoreError::Unavailable("it does not answer a probe".to_owned());
    answer.map_err(silent)??;
    Ok(ok())
}

fn ok() -> Answer {
    Answer::ok(&Health { status: "ok".to_owned() })
}
