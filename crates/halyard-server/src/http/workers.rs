//! `GET /v1/workers`.

use std::collections::HashMap;

use halyard_api::workers::WorkersAnswer;

use super::App;
use super::answer::Answer;
use super::call::Call;
use super::convert;
use super::refused::Refused;

/// Who is alive, and what they hold.
#[utoipa::path(
    get,
    path = "/v1/workers",
    tag = "operators",
    responses((status = 200, body = WorkersAnswer, description = "The workers, by id."))
)]
pub async fn list(app: &App, call: &Call) -> Result<Answer, Refused> {
    call.no_query()?;
    let running = app.engine.store.running_by_worker().await?;
    let running: HashMap<_, _> = running.into_iter().collect();
    let alive = app.engine.workers.alive(app.now(), |id| running.contains_key(id));
    let holds = |id| running.get(id).copied().unwrap_or(0);
    let data = alive.iter().map(|worker| convert::look::worker(worker, holds(&worker.identity.id)));
    Ok(Answer::ok(&WorkersAnswer { data: data.collect() }))
}
