//! `GET /v1/queues`, `GET /v1/queues/{name}`, `POST …/pause`, `POST …/resume`.

use halyard_api::jobs::cancel;
use halyard_api::problem::Code;
use halyard_api::queues::{Queue, QueuesAnswer};
use halyard_store::verbs::QueueStatus;

use super::App;
use super::answer::Answer;
use super::call::Call;
use super::convert;
use super::refused::{Refused, shown};

/// Every queue that has jobs or was paused once.
#[utoipa::path(
    get,
    path = "/v1/queues",
    tag = "operators",
    responses((status = 200, body = QueuesAnswer, description = "The queues, by name."))
)]
pub async fn list(app: &App, call: &Call) -> Result<Answer, Refused> {
    call.no_query()?;
    let alive = app.alive();
    let queues = app.engine.store.queues().await?;
    let data = queues.iter().map(|queue| convert::look::queue(queue, &alive)).collect();
    Ok(Answer::ok(&QueuesAnswer { data }))
}

/// One queue.
#[utoipa::path(
    get,
    path = "/v1/queues/{name}",
    tag = "operators",
    params(("name" = String, Path, description = "The queue.")),
    responses((status = 200, body = Queue, description = "The queue."))
)]
pub async fn get(app: &App, call: &Call) -> Result<Answer, Refused> {
    call.no_query()?;
    if !convert::is_name(&call.name) {
        return Err(no_such_queue(&call.name));
    }
    answer(app, call, app.engine.store.queue(&call.name).await?)
}

/// Let claims pass a queue by. An unknown one is made.
#[utoipa::path(
    post,
    path = "/v1/queues/{name}/pause",
    tag = "operators",
    params(("name" = String, Path, description = "The queue.")),
    responses((status = 200, body = Queue, description = "The queue."))
)]
pub async fn pause(app: &App, call: &Call) -> Result<Answer, Refused> {
    set_paused(app, call, true).await
}

/// Let claims see a queue again. It stays known, so that the call can be sent again.
#[utoipa::path(
    post,
    path = "/v1/queues/{name}/resume",
    tag = "operators",
    params(("name" = String, Path, description = "The queue.")),
    responses((status = 200, body = Queue, description = "The queue."))
)]
pub async fn resume(app: &App, call: &Call) -> Result<Answer, Refused> {
    set_paused(app, call, false).await
}

async fn set_paused(app: &App, call: &Call, paused: bool) -> Result<Answer, Refused> {
    call.no_query()?;
    // No members, like a cancel.
    cancel::read(&call.optional_body()?)?;
    if !convert::is_name(&call.name) {
        return Err(no_such_queue(&call.name));
    }
    let queue = app.engine.store.set_paused(&call.name, paused, call.by()).await?;
    if queue.is_some() && !paused {
        app.engine.hints.claims.poke(&[call.name.as_str().into()]);
    }
    answer(app, call, queue)
}

fn answer(app: &App, call: &Call, queue: Option<QueueStatus>) -> Result<Answer, Refused> {
    let queue = queue.ok_or_else(|| no_such_queue(&call.name))?;
    Ok(Answer::ok(&convert::look::queue(&queue, &app.alive())))
}

fn no_such_queue(name: &str) -> Refused {
    Refused::new(Code::QueueNotFound, format!("there is no queue {}", shown(name)))
}
